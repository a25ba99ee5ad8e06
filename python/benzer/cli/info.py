"""`benzer info`: what is in an index, or in a file of documents?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.columns import column_names
from benzer.cli.reading import Reading
from benzer.errors import InputError

if TYPE_CHECKING:
    from benzer._native import Corpus

EXAMPLES = """\
# Settings and counts of an index
benzer info docs.benzer

# Before a run: columns, documents, short and empty ones
benzer info docs.jsonl --text body
"""
SQLITE_HEADER = b"SQLite format 3\x00"
MALFORMED_SHOWN = 5


@click.command(
    "info",
    cls=shared.TaughtCommand,
    examples=EXAMPLES,
    short_help="Describe an index or a file of documents.",
)
@click.argument("path", type=click.Path(path_type=Path), metavar="INDEX|FILE")
@shared.column_options
@shared.text_options
@shared.json_option
def command(path: Path, as_json: bool, **reading: Any) -> int:
    """Describe an index (its settings and counts) or a file of documents (rows, columns, short, empty).

    Malformed rows of a file are counted, and make it end with 1.
    """
    report = index_report(path) if is_index(path) else file_report(path, **reading)
    if as_json:
        console.print_json(report)
    else:
        console.show(console.rows_table(list(rows(report))))
    return 1 if report.get("malformed") else 0


def is_index(path: Path) -> bool:
    """Tell an index by its first bytes; a missing file is an error here already."""
    if not path.exists():
        raise InputError(f"{path}: no such file or index")
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


def index_report(path: Path) -> dict[str, Any]:
    """Ask an index for its settings and counts."""
    from benzer.index import Index

    with Index.open(path, mode="read") as index:
        return {"index": str(path), **index.info()}


def file_report(
    path: Path, text: tuple[str, ...], id_column: str | None, format: str | None,
    shingle: tuple[str, int], normalize: str, case: str,
) -> dict[str, Any]:  # fmt: skip
    """Read a file (or folder) and count what a run over it would meet."""
    columns = shared.text_columns(text)
    schema = shared.schema_of(columns, shingle, normalize, case)
    reading = Reading((str(path),), columns, id_column, format, schema, on_error="skip")
    counts = {"documents": 0, "short": 0, "empty": 0}
    for corpus in reading.corpora():
        for name, number in counts_of(corpus, shingle[1]).items():
            counts[name] += number
    malformed = [str(row) for row in reading.malformed]
    return {
        "file": str(path), "columns": column_names(path, format), "rows": reading.rows,
        "malformed": len(malformed), **counts, "malformed_rows": malformed[:MALFORMED_SHOWN],
    }  # fmt: skip


def counts_of(corpus: Corpus, shingle_size: int) -> dict[str, int]:
    """Count documents, and those that are shorter than a shingle or have none; the longest field decides."""
    units = corpus.sketch("fast", num_hashes=1, seed=0, bands=1, rows=1, threads=0)[3]
    longest = units.max(axis=1, initial=0)
    return {
        "documents": len(corpus),
        "short": int(((longest > 0) & (longest < shingle_size)).sum()),
        "empty": int((longest == 0).sum()),
    }


def rows(report: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Lay out a report: numbers with separators, lists in one line, settings below one another."""
    for name, value in report.items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            yield from ((f"{label}: {inner}".replace("_", " "), *cell(held)) for inner, held in value.items())
        elif name != "malformed_rows":
            yield (label, *cell(value))
    for row in report.get("malformed_rows", []):
        yield "", "", console.printable(row)


def cell(value: Any) -> tuple[str, str]:
    """Put a number on the right, and any other value beside it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return console.count(value), ""
    if isinstance(value, (list, tuple)):
        return str(len(value)), console.printable(", ".join(map(str, value)))
    return "", console.printable(str(value))
