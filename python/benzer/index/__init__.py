"""An index: a searchable collection of documents that can be changed.

| module | content |
|---|---|
| `collection` | `Index`: add, search, remove, commit |
| `upkeep` | last seen, evict, merge, export and import |
| `exchange` | the format of an export |
| `copying` | `restore`, and backups of an index file |
| `nearest`, `bounds` | search for the nearest documents, and its recall |
| `sampling` | seeded samples of documents |
| `answers` | `Match`, `Candidate` |
| `settings` | `IndexSettings` and their fingerprint |
| `fingerprints` | `Passages`: settings and keys of stored passages |
| `quoting` | searches that need stored passages |
| `containment` | `ContainmentMatch`: containing and contained documents |
| `passages` | `PassageMatch`: shared passages |
| `given` | conversion of user input to documents |
"""

from __future__ import annotations

from benzer.index.answers import Candidate, Match
from benzer.index.collection import Index
from benzer.index.containment import ContainmentMatch, ContainmentMatches
from benzer.index.copying import restore
from benzer.index.exchange import exported_settings
from benzer.index.fingerprints import Passages
from benzer.index.nearest import NearestMatches
from benzer.index.settings import HASHING, IndexSettings
from benzer.index.upkeep import Taken

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
