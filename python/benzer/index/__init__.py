"""How is a living collection kept and asked?

| room | holds |
|---|---|
| `collection` | `Index`: add, find similar, remove, commit |
| `upkeep` | last seen, evict, merge, export and import |
| `exchange` | the format of an export |
| `copying` | `restore`; how an index file is backed up |
| `nearest`, `bounds` | the nearest documents without a threshold, and what is promised of them |
| `sampling` | documents drawn by a seed |
| `answers` | `Match`, `Candidate` |
| `settings` | `IndexSettings`: what is compared and promised, and its fingerprint |
| `fingerprints` | `Passages`: how finely passages are filed; under which keys |
| `quoting` | what an index that files passages can be asked |
| `containment` | `ContainmentMatch`: which documents contain a given one, or stand in it |
| `passages` | `PassageMatch`: which passages of a text stand anywhere |
| `given` | how what the user gives becomes a document |
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
