"""Writes results to disk.

| room | answers |
|---|---|
| `output` | where results go, whole or not at all: `OutputFolder`, `atomic_write`, `check_destination` |
| `partial` | unfinished outputs beside their place, and what killed processes left: `Partial`, `sweep` |
| `durable` | files, folders and names that survive a power cut |
| `native` | which columns the core writes itself: `IdColumn`, `NameColumn` |
| `writing` | how a table is written: `write_table`, `write_summary`, `to_arrow` |
"""

from __future__ import annotations

from benzer.tables.native import IdColumn, NameColumn
from benzer.tables.output import OutputFolder, atomic_write, check_destination
from benzer.tables.writing import Column, TableFormat, to_arrow, write_summary, write_table

__all__ = [
    "Column",
    "IdColumn",
    "NameColumn",
    "OutputFolder",
    "TableFormat",
    "atomic_write",
    "check_destination",
    "to_arrow",
    "write_summary",
    "write_table",
]
