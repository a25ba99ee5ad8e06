"""Who is truly alike, and which document stays?

| room | answers |
|---|---|
| `flow` | all of it, on one page: `decide` |
| `parcels` | how texts and pairs travel to the task that compares them |
| `streams` | how documents without texts, and pairs, come to the tasks |
| `workers` | what one task does |
| `gathering` | which rows of a sorted stream stand together |
| `members` | what is known of the documents that are decided together |
| `judging` | what is said of them |
| `rounds` | how components are decided that are too large for one task |
| `copied` | what becomes of documents of equal content |
"""

from __future__ import annotations

from benzer.spark.deciding.flow import Decided, decide

__all__ = ["Decided", "decide"]
