"""One room at a time: behaviour and errors."""
