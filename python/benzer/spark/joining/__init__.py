"""Which documents share a band key? The same candidates as here, from keys that are shuffled packed.

| room | answers |
|---|---|
| `flow` | the join itself: `join` |
| `packing` | how keys and pairs travel, many in a row |
| `workers` | what tasks do: deal out, meet, keep each pair once |
| `large` | buckets above the limit: their documents, and what ties them |
"""

from __future__ import annotations

from benzer.spark.joining.flow import Joined, join

__all__ = ["Joined", "join"]
