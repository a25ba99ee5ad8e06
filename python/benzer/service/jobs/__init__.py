"""How does a search for duplicates go on when nobody waits for it? As a job, in a thread of its own.

| room | answers |
|---|---|
| `job` | what a job is, and which states it goes through |
| `runner` | where jobs wait, run and end: `Jobs`, and how many are kept |
| `running` | what a job does: from what was asked to a result |
| `reading` | what it reads: an index, or an upload |
| `results` | what is kept of it, and at which thresholds it is seen |
| `tables` | the tables of a result, part by part |
| `files` | a table as a file: JSON lines, CSV, Parquet |
| `clusters` | one cluster |
| `sides` | two documents side by side |
| `wire` | how all of this looks in JSON |
| `decisions` | what stays when a person has decided about clusters |
"""

from __future__ import annotations

from benzer.service.jobs.job import Job
from benzer.service.jobs.runner import Jobs, unknown

__all__ = ["Job", "Jobs", "unknown"]
