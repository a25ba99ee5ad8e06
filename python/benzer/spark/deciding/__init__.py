"""Verification of candidates, and the choice of kept documents.

| module | contents |
|---|---|
| `flow` | `decide` |
| `parcels` | transfer of texts and pairs to the task that compares them |
| `streams` | transfer of pairs and of documents without texts |
| `workers` | the tasks |
| `gathering` | groups of rows in a sorted stream |
| `members` | the columns of documents that are decided together |
| `judging` | decisions as rows of outcomes |
| `rounds` | components that are too large for one task |
| `copied` | documents with equal content |
"""

from __future__ import annotations

from benzer.spark.deciding.flow import DecidedTables, decide

__all__ = ["DecidedTables", "decide"]
