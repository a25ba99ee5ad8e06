"""The JSON of requests and responses, and the limits of their contents.

| module | contents |
|---|---|
| `documents` | a document: its id and the contents of its fields |
| `bodies` | bodies that may be JSON or a form |
| `recipes` | the fields of a schema |
| `bounds` | limits |
"""
