"""Results of a batch run.

A module imports only from those above it.

| module | contents |
|---|---|
| `rows`, `known`, `settings` | rows of a result; matches with older collections; the settings it depends on |
| `base` | `DecidedDocuments`: documents with their pairs and decisions, and all counts |
| `columns` | the tables of a result as columns |
| `evidence` | the common passages of two documents |
| `safety` | similarities inside clusters, and chains between clusters |
| `alarms` | findings that should be checked before a result is used |
| `writing` | the output folder |
| `duplicates` | `Duplicates`, the result of `find_duplicates`, with its methods |
"""

from __future__ import annotations

from benzer.results.alarms import Alarm, AlarmLimits
from benzer.results.base import Reading
from benzer.results.duplicates import Duplicates
from benzer.results.rows import Cluster, Pair, Pairs, Removal, SourceCounts
from benzer.results.safety import Bridge, ClusterReport
from benzer.results.settings import Settings

__all__ = [
    "Alarm",
    "AlarmLimits",
    "Bridge",
    "Cluster",
    "ClusterReport",
    "Duplicates",
    "Pair",
    "Pairs",
    "Reading",
    "Removal",
    "Settings",
    "SourceCounts",
]
