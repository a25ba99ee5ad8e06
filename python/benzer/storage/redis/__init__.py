"""Storage in Redis: one writer at a time, any number of readers, one round trip per search.

`address.py` reads the URL, `server.py` runs scripts there and repeats what a broken connection cut off,
`session.py` holds the writer's lease and the reader's snapshot, `records.py` has the bytes, `check.py` reads
everything, and `lua/` is what happens inside the server: `lua/shared.lua` lists the keys.
"""
