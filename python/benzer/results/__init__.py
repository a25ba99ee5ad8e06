"""What was found, and how is it handed on?

| room | answers |
|---|---|
| `duplicates` | what came of a batch: `Duplicates`, with its pairs, clusters and counts |
| `by_source` | what became of the documents of each source |
| `spread` | how the similarities and the sizes of clusters are spread |
| `safety` | how alike the members of a cluster are, and what would have chained it to another |
| `alarms` | what a person should look at |
| `writing` | how a result becomes a folder of files |
"""

from __future__ import annotations

from benzer.results.alarms import Alarm, Limits
from benzer.results.by_source import SourceCounts
from benzer.results.duplicates import Cluster, Duplicates, Pair, Pairs, Reading, Removal, Settings
from benzer.results.safety import Bridge, ClusterReport

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
