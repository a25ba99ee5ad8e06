"""An index: a searchable collection of documents that can be changed.

| module | content |
|---|---|
| `collection` | `Index`: add, search, remove, commit, merge, export |
| `upkeep` | moments, the counts of a merge, `restore` and backups of an index file |
| `exchange` | the format of an export |
| `nearest` | search for the nearest documents, and its recall |
| `containment` | `ContainmentMatch`: containing and contained documents |
| `passages` | `PassageMatch`: shared passages |
| `settings` | `IndexSettings` and their fingerprint |
| `fingerprints` | `Passages`: settings and keys of stored passages |
| `documents` | documents and queries as a user gives them, matches, and samples |
"""

from __future__ import annotations

from benzer.index.collection import Index
from benzer.index.containment import ContainmentMatch, ContainmentMatches
from benzer.index.documents import Candidate, Match
from benzer.index.exchange import exported_settings
from benzer.index.fingerprints import Passages
from benzer.index.nearest import NearestMatches
from benzer.index.settings import HASHING, IndexSettings
from benzer.index.upkeep import Taken, restore

__all__ = [
    "HASHING",
    "Candidate",
    "ContainmentMatch",
    "ContainmentMatches",
    "Index",
    "IndexSettings",
    "Match",
    "NearestMatches",
    "Passages",
    "Taken",
    "exported_settings",
    "restore",
]
