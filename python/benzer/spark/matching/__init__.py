"""Matches with documents of another table: a stored collection or any DataFrame.

| module | contents |
|---|---|
| `pairing` | pairs of documents of both sides that share a band key |
| `comparing` | exact similarities of documents of two tables |
| `verifying` | the matches of the queries of one block |
| `asking` | the search of a run in a collection: keys, blocks, verification |
| `similar` | the best matches of each of many queries: `find_similar` |
| `older` | matches of new documents with older ones: `against` |
"""

from __future__ import annotations

from benzer.spark.matching.older import KnownDocuments, check, known, names_of, opened, schema_of
from benzer.spark.matching.similar import find_similar

__all__ = ["KnownDocuments", "check", "find_similar", "known", "names_of", "opened", "schema_of"]
