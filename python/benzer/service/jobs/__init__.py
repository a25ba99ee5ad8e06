"""Background searches for duplicates: jobs, each in its own thread.

| module | contents |
|---|---|
| `job` | the states of a job |
| `runner` | `Jobs`: the queue, the threads and the kept results |
| `running` | the task of a job, from request to result |
| `reading` | its input: an index or an upload |
| `results` | its result at one or more thresholds |
| `tables` | the tables of a result, in parts |
| `files` | a table as a file: JSON lines, CSV, Parquet |
| `clusters` | one cluster |
| `sides` | two documents side by side |
| `wire` | jobs and results as JSON |
| `decisions` | the kept documents after decisions about clusters |
"""

from __future__ import annotations

from benzer.service.jobs.job import Job
from benzer.service.jobs.runner import Jobs, unknown

__all__ = ["Job", "Jobs", "unknown"]
