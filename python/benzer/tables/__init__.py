"""Writes results to disk.

| module | contents |
|---|---|
| `output` | atomic outputs: `OutputFolder`, `atomic_write`, `check_destination` |
| `partial` | unfinished outputs, and leftovers of killed processes: `Partial`, `sweep` |
| `durable` | files, folders and names that survive a power failure |
| `native` | columns that the core writes: `IdColumn`, `NameColumn` |
| `writing` | formats of tables: `write_table`, `write_summary`, `to_arrow` |
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
