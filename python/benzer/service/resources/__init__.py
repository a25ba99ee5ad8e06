"""Which resources are there? One file each: its routes, and how their bodies and answers look."""
