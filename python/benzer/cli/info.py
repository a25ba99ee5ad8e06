"""`benzer info`: what is in an index, or in a file of documents?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.columns import column_names
from benzer.cli.reading import DocumentReader
from benzer.errors import InputError

if TYPE_CHECKING:
    from benzer._native import Corpus

EXAMPLES = """\
# Settings and counts of an index
benzer info docs.benzer

# Before a run: columns, documents, short and empty ones
benzer info docs.jsonl --text body
"""
RULES_SHOWN = ("normalize", "case", "punctuation", "tokenizer", "weight")
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
        facts = index_facts if "index" in report else file_facts
        console.show(console.facts_table(list(facts(report))))
        console.tell_malformed(report.get("malformed_rows", []), report.get("malformed", 0))
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
    reading = DocumentReader((str(path),), columns, id_column, format, schema, on_error="skip")
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


def index_facts(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Say of an index what people ask for; --json has the rest."""
    from benzer.bands import Bands

    settings, documents = report["settings"], report["documents"]
    yield "index", report["index"]
    yield "documents", console.count(documents)
    if report.get("bytes"):
        each = f", {report['bytes'] / documents:,.0f} bytes a document" if documents else ""
        yield "size", f"{report['bytes'] / 1e6:,.1f} MB{each}"
    for name, rules in settings["schema"].items():
        yield "field", f"{name}: {field_words(rules)}"
    bands = Bands(settings["bands"], settings["rows"])
    yield "signature", f"{settings['num_hashes']} values, {settings['minhash']}, seed {settings['seed']}"
    yield "search", console.promise(bands, settings["threshold"])
    yield "fingerprint", report["fingerprint"]


def field_words(rules: dict[str, Any]) -> str:
    """Describe how a field is read.

    >>> field_words({"type": "text", "unit": "word", "shingle_size": 3, "case": "fold", "stop_words": []})
    'word:3, case fold'
    """
    if rules["type"] != "text":
        return str(rules["type"])
    others = [f"{name.replace('_', ' ')} {rules[name]}" for name in RULES_SHOWN if rules.get(name)]
    return ", ".join([f"{rules['unit']}:{rules['shingle_size']}", *others])


def file_facts(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Say of a file what it holds."""
    yield "file", report["file"]
    yield "columns", console.printable(", ".join(report["columns"]))
    yield from (
        (name, console.count(report[name])) for name in ("rows", "malformed", "documents", "short", "empty")
    )
