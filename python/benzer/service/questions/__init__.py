"""How is an index asked, and its answer explained?

| room | holds |
|---|---|
| `asked` | what is asked for: a document that is held, a text, or fields |
| `explaining` | how a match is shown |
| `evidence` | what two documents share, in JSON |
| `tuning` | what a threshold would find in a collection |
| `borders` | pairs just above a threshold, and just below |
"""
