"""Columns that the native core writes without a Python object for each cell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import Corpus, write_json_lines
from benzer.corpora import DocumentCorpus

Positions = NDArray[np.uint32]


class IdColumn:
    """The ids of the documents at some positions (uint32) of a corpus."""

    def __init__(self, corpus: DocumentCorpus, positions: Positions) -> None:
        self.corpus, self.positions = corpus, positions

    def __len__(self) -> int:
        return len(self.positions)

    def tolist(self) -> list[str | int]:
        """Return the ids as Python values."""
        ids: list[str | int] = self.corpus.ids(self.positions)
        return ids

    def native(self) -> Any:
        """Return the argument for the core; None for a corpus of another type."""
        if not isinstance(self.corpus, Corpus):
            return None
        return self.corpus, np.ascontiguousarray(self.positions, dtype=np.uint32)


class NameColumn:
    """Names that many rows share, by their positions in a list of names (uint32).

    >>> NameColumn(["a", "b"], np.array([1, 0, 1], dtype=np.uint32)).tolist()
    ['b', 'a', 'b']
    """

    def __init__(self, names: Sequence[str], places: Positions) -> None:
        self.names, self.places = names, places

    def __len__(self) -> int:
        return len(self.places)

    def tolist(self) -> list[str]:
        """Return a name for each row."""
        return [self.names[place] for place in self.places.tolist()]

    def native(self) -> Any:
        """Return the names as JSON for the core; None if one has half of a surrogate pair, which is not UTF-8."""
        try:
            quoted = [json.dumps(name, ensure_ascii=False) for name in self.names]
            "".join(quoted).encode()
        except UnicodeEncodeError:
            return None
        return quoted, np.ascontiguousarray(self.places, dtype=np.uint32)


HeldColumn = IdColumn | NameColumn
LARGE = 2.0**32
"""From 2^49 on, two shortest forms of a number may be equally near; Python takes the even one, Rust the other."""
NATIVE_TYPES = (np.float64, np.uint64, np.bool_)


def plain(column: Any) -> Any:
    """Return a column as a list or an array."""
    return column.tolist() if isinstance(column, (IdColumn, NameColumn)) else column


def native(column: Any) -> Any:
    """Return the argument of a column for the core; None if the core does not support it."""
    if isinstance(column, (IdColumn, NameColumn)):
        return column.native()
    if not isinstance(column, np.ndarray) or column.ndim != 1 or column.dtype not in NATIVE_TYPES:
        return None
    if column.dtype == np.float64 and bool((np.abs(column) >= LARGE).any()):
        return None
    return np.ascontiguousarray(column)


def wrote(path: Path, columns: Mapping[str, Any]) -> bool:
    """Write columns of equal length as JSON lines if the core supports all of them; otherwise do nothing."""
    cells = [(json.dumps(name), native(column)) for name, column in columns.items()]
    if not cells or any(column is None for _, column in cells):
        return False
    path.open("wb").close()
    write_json_lines(path, cells, 1)
    return True
