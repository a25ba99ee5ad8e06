"""Queries and the explanation of their results.

| module | contents |
|---|---|
| `asked` | the query: a stored document, a text, or fields |
| `explaining` | matches in responses |
| `evidence` | evidence as JSON |
| `tuning` | the effect of a threshold on a collection |
| `borders` | pairs just above and just below a threshold |
"""
