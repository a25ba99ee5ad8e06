"""Results of a batch run.

| room | answers |
|---|---|
| `duplicates` | what came of a batch: `Duplicates`, with its pairs, clusters and counts |
| `settings` | what it depends on, beside the input |
| `rows` | as what one row of it reads: a pair, a removal, a cluster |
| `by_source` | what became of the documents of each source |
| `spread` | how the similarities and the sizes of clusters are spread |
| `safety` | how alike the members of a cluster are, and what would have chained it to another |
| `alarms` | what a person should look at |
| `writing` | how a result becomes a folder of files |
"""

from __future__ import annotations

from benzer.results.alarms import Alarm, Limits
from benzer.results.by_source import SourceCounts
from benzer.results.duplicates import Duplicates, Reading
from benzer.results.rows import Cluster, Pair, Pairs, Removal
from benzer.results.safety import Bridge, ClusterReport
from benzer.results.settings import Settings

__all__ = [
    "Alarm",
    "Bridge",
    "Cluster",
    "ClusterReport",
    "Duplicates",
    "Limits",
    "Pair",
    "Pairs",
    "Reading",
    "Removal",
    "Settings",
    "SourceCounts",
]
