"""How does what comes and goes look as JSON, and is it within the limits?

| room | holds |
|---|---|
| `documents` | a document: its id, and the contents of its fields |
| `bodies` | bodies that may come as JSON or as a form |
| `recipes` | the fields of a schema |
| `bounds` | whether it is within the limits |
"""
