"""How do documents that a client sent come to be held?

| room | holds |
|---|---|
| `taking` | pictures are described and copied, then all is written |
| `upload` | JSON lines of any number, read as they come and written batch by batch |
| `loading`, `loader` | the process of its own that does so, and how it is talked to |
| `written` | what came of a block |
"""
