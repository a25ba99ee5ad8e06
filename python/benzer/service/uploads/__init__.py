"""How documents that a client sends are stored.

| module | contents |
|---|---|
| `taking` | describes and copies images, then writes all documents |
| `upload` | reads JSON lines as they arrive and writes them in batches |
| `loader` | the process that reads and writes large uploads (`indexes.loading` talks to it) |
"""
