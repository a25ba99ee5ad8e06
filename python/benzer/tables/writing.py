"""Writes tables of results as JSON lines or Parquet, and the summary as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring, encode_basestring_ascii
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from benzer.errors import OutputError, SettingsError
from benzer.registry import require
from benzer.tables.native import HeldColumn, plain, wrote

PlainColumn = Sequence[str | int | float | bool | None] | npt.NDArray[Any]
Column = PlainColumn | HeldColumn
TableFormat = Literal["jsonl", "parquet"]

BATCH_ROWS = 50_000
INT64 = range(-(2**63), 2**63)


def write_table(path: str | Path, columns: Mapping[str, Column], format: TableFormat = "jsonl") -> int:
    """Write columns of equal length and return the number of rows.

    JSONL: about a million rows per second and column, and tens of millions if all columns are arrays and those of
    `benzer.tables.native`, which the core writes; floats in the shortest form that reads back equal, not-a-number as
    null. Parquet: types as in `to_arrow`, Zstandard compression.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pairs.jsonl"
    >>> write_table(path, {"left_id": ["a", 2], "similarity": np.array([0.1, 1.0])})
    2
    >>> print(path.read_text(), end="")
    {"left_id": "a", "similarity": 0.1}
    {"left_id": 2, "similarity": 1.0}
    """
    rows = row_count(columns)
    if format == "jsonl" and wrote(Path(path), columns):
        return rows
    cells: dict[str, PlainColumn] = {name: plain(column) for name, column in columns.items()}
    if format == "parquet":
        parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
        parquet.write_table(to_arrow(cells), path, compression="zstd")
    elif format == "jsonl":
        with Path(path).open("wb") as stream:
            stream.writelines(json_lines(cells, rows))
    else:
        raise unknown_format(format)
    return rows


def row_count(columns: Mapping[str, Column]) -> int:
    """Return the common length of all columns.

    >>> row_count({"id": [1, 2], "mean": [0.5]})
    Traceback (most recent call last):
    benzer.errors.OutputError: columns differ in length (id 2, mean 1): give each the same number of rows
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise OutputError(f"columns differ in length ({listed}): give each the same number of rows")
    return next(iter(lengths.values()), 0)


def json_lines(columns: Mapping[str, PlainColumn], rows: int) -> Iterator[bytes]:
    """Yield the lines of a table, tens of thousands at a time."""
    names = (json.dumps(name).replace("%", "%%") for name in columns)
    line = "{" + ", ".join(f"{name}: %s" for name in names) + "}\n"
    for start in range(0, rows, BATCH_ROWS):
        parts = [_plain(column[start : start + BATCH_ROWS]) for column in columns.values()]
        try:
            yield _lines(line, parts, encode_basestring).encode()
        except UnicodeEncodeError:  # an id with half of a surrogate pair: written as an escape
            yield _lines(line, parts, encode_basestring_ascii).encode()


def _plain(column: PlainColumn) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _lines(line: str, parts: Sequence[Sequence[Any]], quote: Callable[[str], str]) -> str:
    formatted = [_formatted(part, quote) for part in parts]
    return "".join(map(line.__mod__, zip(*formatted, strict=True)))


def _formatted(part: Sequence[Any], quote: Callable[[str], str]) -> Iterator[str]:
    kinds = set(map(type, part))
    if kinds == {str}:
        return map(quote, part)
    if kinds == {int}:
        return map(int.__repr__, part)
    if kinds == {float} and all(map(math.isfinite, part)):
        return map(float.__repr__, part)
    return (_cell_text(value, quote) for value in part)


def _cell_text(value: Any, quote: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return quote(value)
    return json.dumps(_json_value(value))


def _json_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_arrow(columns: Mapping[str, PlainColumn]) -> Any:
    """Return the columns as a `pyarrow.Table`.

    Arrays keep their type. A list is int64 if it has only integers (of 64 bits), otherwise bool or float64 if it has
    only those, otherwise string, with integers converted. None is null.

    >>> to_arrow({"id": [1, "b"], "similarity": np.array([0.5, 1.0])}).to_pylist()
    [{'id': '1', 'similarity': 0.5}, {'id': 'b', 'similarity': 1.0}]
    """
    pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")
    row_count(columns)
    return pyarrow.table({name: _arrow_column(pyarrow, column) for name, column in columns.items()})


def _arrow_column(pyarrow: Any, column: PlainColumn) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iufb":
        return pyarrow.array(column)
    values = _plain(column)
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and all(value is None or value in INT64 for value in values):
        return pyarrow.array(values, pyarrow.int64())
    if kinds == {bool}:
        return pyarrow.array(values, pyarrow.bool_())
    if float in kinds and kinds <= {int, float}:
        return pyarrow.array([value if value is None else float(value) for value in values])
    return _strings(pyarrow, [value if value is None else str(value) for value in values])


def _strings(pyarrow: Any, values: Sequence[str | None]) -> Any:
    try:
        return pyarrow.array(values, pyarrow.large_string())
    except UnicodeEncodeError:  # half of a surrogate pair has no UTF-8 form
        return _strings(pyarrow, [_without_surrogates(value) for value in values])


def _without_surrogates(value: str | None) -> str | None:
    if value is None:
        return None
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def write_summary(path: str | Path, summary: Mapping[str, Any]) -> None:
    """Write one JSON object, keys sorted, indented by two; arrays become lists, paths strings.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "summary.json"
    >>> write_summary(path, {"pairs": np.int64(3), "kept": 0.5})
    >>> print(path.read_text(), end="")
    {
      "kept": 0.5,
      "pairs": 3
    }
    """
    text = json.dumps(_finite(summary), indent=2, sort_keys=True, ensure_ascii=False, default=_described)
    Path(path).write_bytes(text.encode("utf-8", "replace") + b"\n")


def _finite(value: Any) -> Any:
    """Return `value` with not-a-number and infinities as null, because JSON cannot represent them."""
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return _finite(value.tolist())
    return _json_value(value)


def _described(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


def unknown_format(format: str) -> SettingsError:
    """Return the error for an unknown format of tables."""
    return SettingsError(f'tables must be "jsonl" or "parquet", got "{format}"')
