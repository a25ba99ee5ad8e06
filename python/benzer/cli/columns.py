"""Names of the columns of a file, read from its first rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benzer.sources.rows import BadRow
    from benzer.sources.streams import FileInput

ROWS_LOOKED_AT = 1_000


def column_names(path: Path, format: str | None = None) -> list[str]:
    """List the columns of a file in order; text and image files and folders have the column "text" or "image".

    For JSONL, collects the columns of the first 1,000 rows.
    """
    from benzer.sources import open_sources
    from benzer.sources.compression import compression_ending
    from benzer.sources.opening import FORMATS, ending_format, recognized
    from benzer.sources.streams import FileInput

    source = open_sources(str(path), format)[0]
    if format == "text" or source.path is None or source.path.is_dir():
        return ["image" if format == "images" else "text"]
    named = format or ending_format(str(path))
    given = FileInput(str(path), path, compression_ending(str(path)))
    kind, file = recognized(given, named, fixed=format is not None)
    if kind == "parquet":
        return parquet_columns(source.path)
    if kind == "warc":
        return ["id", "text", "url", "date"]
    if kind in ("text", "html", "images"):
        return ["image" if kind == "images" else "text"]
    if kind in ("ipc", "excel"):
        names: list[str] = FORMATS.load(kind)(file).column_names()
        return names
    if kind == "json":
        from benzer.sources.json_array import elements

        with file.open() as stream:
            first = islice(elements(stream, file.name), ROWS_LOOKED_AT)
            return jsonl_columns(element.decode("utf-8", "replace") for element in first)
    if kind in ("csv", "tsv"):
        with FORMATS.load(kind)(file).cells() as cells:
            header: list[str] | BadRow = next(cells, [])
            return header if isinstance(header, list) else []
    return jsonl_columns(head(file))


def head(file: FileInput) -> Iterator[str]:
    """Read the first lines, decompressed; invalid UTF-8 is replaced."""
    with file.open() as stream:
        for place, line in enumerate(islice(stream, ROWS_LOOKED_AT)):
            yield line.decode("utf-8" if place else "utf-8-sig", errors="replace")


def jsonl_columns(lines: Iterable[str]) -> list[str]:
    """Collect the keys of JSON objects; other lines are ignored.

    >>> jsonl_columns(['{"id": 1, "text": ""}', "oops", '{"id": 2, "year": 3}'])
    ['id', 'text', 'year']
    """
    names: dict[str, None] = {}
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # not JSON, or nested too deeply
            continue
        names.update(dict.fromkeys(row if isinstance(row, dict) else ()))
    return list(names)


def parquet_columns(path: Path) -> list[str]:
    from benzer.registry import require

    parquet = require("pyarrow.parquet", extra="parquet", purpose="Parquet files")
    return list(parquet.read_schema(path).names)
