"""Files as documents of a run on Spark, read by the native core in workers.

Only the texts of candidates pass through the JVM.

| module | contents |
|---|---|
| `parts` | the parts of files that a task reads |
| `counting` | the number of lines before each part of a divided file |
| `reading` | parts as Arrow batches, with the same documents as in a local run |
| `documents` | `read_files` |
| `writing` | the result as the output folder of a local run |
"""

from __future__ import annotations

from benzer.spark.files.documents import FileDocuments, opened, read_files

__all__ = ["FileDocuments", "opened", "read_files"]
