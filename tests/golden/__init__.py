"""Values that never change: worked examples of the literature and pinned vectors."""
