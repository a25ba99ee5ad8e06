"""How are files documents of a run on Spark? Read natively where the work is done.

Of the texts only those of candidates go through the JVM.

| room | answers |
|---|---|
| `parts` | which parts of which files a task reads |
| `counting` | how many lines stand before each part of a file that is cut |
| `reading` | how a part becomes Arrow batches, the same documents as in a local run |
| `documents` | what a run sees of it all: `read_files` |
| `writing` | how the result becomes the folder that a local run writes |
"""

from __future__ import annotations

from benzer.spark.files.documents import FileDocuments, opened, read_files

__all__ = ["FileDocuments", "opened", "read_files"]
