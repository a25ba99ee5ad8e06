"""Which documents of another table are alike? Those of a collection that was kept, or of any DataFrame.

| room | answers |
|---|---|
| `pairing` | which document of one side shares a band key with which of the other |
| `comparing` | how alike documents of two tables are |
| `verifying` | what the matches of those are that ask in one block |
| `asking` | how the documents of a run meet those of a collection: keys, blocks, verification |
| `similar` | the best matches of each of many queries: `find_similar` |
| `older` | what a run over new documents knows of older ones: `against` |
"""

from __future__ import annotations

from benzer.spark.matching.older import Known, check, known, names_of, opened, schema_of
from benzer.spark.matching.similar import find_similar

__all__ = ["Known", "check", "find_similar", "known", "names_of", "opened", "schema_of"]
