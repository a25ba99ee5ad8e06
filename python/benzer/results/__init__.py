"""What was found, and how is it handed on?

| room | answers |
|---|---|
| `duplicates` | what came of a batch: `Duplicates`, with its pairs, clusters and counts |
| `writing` | how a result becomes a folder of files |
"""

from __future__ import annotations

from benzer.results.duplicates import Cluster, Duplicates, Pair, Pairs, Reading, Removal, Settings

__all__ = ["Cluster", "Duplicates", "Pair", "Pairs", "Reading", "Removal", "Settings"]
