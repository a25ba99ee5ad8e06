"""Sources of documents.

| room | reads |
|---|---|
| `base` | what a source is: `Source`, `ReadOptions`, `ReadReport`, `MalformedRow` |
| `opening` | which source reads what the user gave: `open_sources`, and `FORMATS`, the registry of formats |
| `rows` | how a row becomes a document |
| `formats` | what a file holds, by its content |
| `frames` | tables and columns in memory, of any library |
| `records` | the rows of a file with all their columns |
| `streams` | the bytes of files: compression, pipes, blocks of lines |
| `jsonl` `delimited` `parquet` `folder` `arrow` `iterable` | one format each |
"""

from __future__ import annotations

from benzer.sources.base import MalformedRow, ReadOptions, ReadReport, Source
from benzer.sources.opening import ENDINGS, FORMATS, Files, open_sources

__all__ = [
    "ENDINGS",
    "FORMATS",
    "Files",
    "MalformedRow",
    "ReadOptions",
    "ReadReport",
    "Source",
    "open_sources",
]
