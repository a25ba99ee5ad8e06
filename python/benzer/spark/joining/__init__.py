"""Candidates: documents that share a band key, as in a local run, from packed shuffled keys.

| module | contents |
|---|---|
| `flow` | the join itself: `join` |
| `packing` | keys and pairs packed into rows |
| `workers` | the tasks: distribute keys, pair them, remove repeated pairs |
| `large` | buckets above the limit: their documents and links |
"""

from __future__ import annotations

from benzer.spark.joining.flow import Joined, join

__all__ = ["Joined", "join"]
