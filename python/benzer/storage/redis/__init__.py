"""Storage in Redis: one writer at a time, any number of readers, one round trip per search.

`address.py` reads the URL, `server.py` runs scripts and repeats them after connection errors, `session.py` has the
writer's lease and the reader's snapshot, `records.py` the format of the stored bytes, `check.py` reads everything,
and `lua/` runs inside the server: `lua/shared.lua` lists the keys.
"""
