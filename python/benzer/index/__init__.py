"""How is a living collection kept and asked?

| room | holds |
|---|---|
| `collection` | `Index`: add, find similar, remove, commit |
| `settings` | `IndexSettings`: what is compared and promised, and its fingerprint |
| `given` | how what the user gives becomes a document |
"""

from __future__ import annotations

from benzer.index.collection import Candidate, Index, Match
from benzer.index.settings import HASHING, IndexSettings

__all__ = ["HASHING", "Candidate", "Index", "IndexSettings", "Match"]
