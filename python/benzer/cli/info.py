"""`benzer info`: describe an index or a file of documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.cli.columns import column_names
from benzer.cli.location import Location, existing, is_index, printable_location
from benzer.cli.reading import DocumentReader
from benzer.views.inputs import file_facts

if TYPE_CHECKING:
    from benzer.corpora import DocumentCorpus
    from benzer.fields import Schema

EXAMPLES = """\
# Show settings and counts of an index
benzer info docs.benzer

# Also show the largest bucket; large buckets slow down searches
benzer info docs.benzer --buckets

# Show columns and count documents, short and empty ones
benzer info docs.jsonl --text body
"""
MALFORMED_SHOWN = 5
COMMON = "--buckets --text --id --format --images --shingle --json"


@click.command(
    "info",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Describe an index or a file of documents.",
)
@click.argument("path", type=Location(), metavar="INDEX|FILE")
@shared.option(
    shared.OUTPUT, "--buckets", is_flag=True, help="Count the buckets of an index by size; reads all of them."
)
@shared.json_option
@fields.column_options
@fields.text_options
def command(path: str, buckets: bool, as_json: bool, **reading: Any) -> int:
    """Describe an index (its settings and counts) or a file of documents (rows, columns, short, empty).

    INDEX is a file or a redis:// URL. Malformed rows of a file and unreadable images are counted; the exit status is
    then 1.
    """
    report = index_report(path, buckets) if is_index(path) else file_report(path, reading)
    if as_json:
        console.print_json(report)
    else:
        from benzer.views.indexes import facts_of

        console.display(facts_of(report) if "index" in report else file_facts(report))
        console.tell_malformed(report.get("malformed_rows", []), report.get("malformed", 0))
    return 1 if report.get("malformed") else 0


def index_report(path: str, buckets: bool = False) -> dict[str, Any]:
    """Return the settings and counts of an index; with `buckets`, also the number of buckets of each size."""
    from benzer.index import Index

    with Index.open(existing(path), mode="read") as index:
        report = {"index": printable_location(path), **index.info()}
        return {**report, "buckets": list(index.bucket_sizes().items())} if buckets else report


def file_report(path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read a file or folder and count its documents."""
    schema, columns = fields.described(options, weights={})
    format = fields.format_of(options, [path])
    layout = fields.layout_of(options)
    reading = DocumentReader((path,), columns, options["id_column"], format, schema, "skip", layout)
    counts = {"documents": 0, "short": 0, "empty": 0}
    for corpus in reading.corpora():
        for name, number in counts_of(schema, corpus).items():
            counts[name] += number
    malformed = [str(row) for row in reading.malformed]
    return {
        "file": path, "columns": column_names(Path(path), format),
        "rows": reading.rows, "malformed": len(malformed), **counts,
        "malformed_rows": malformed[:MALFORMED_SHOWN],
    }  # fmt: skip


def counts_of(schema: Schema, corpus: DocumentCorpus) -> dict[str, int]:
    """Count documents, short ones (less than one shingle) and empty ones."""
    from benzer.bands import Bands
    from benzer.minhash import MinHash
    from benzer.sketcher import Sketcher

    sketcher = Sketcher(schema, MinHash(num_hashes=1), Bands(1, 1))
    sketches = sketcher.sketch(corpus)
    return {
        "documents": len(corpus),
        "short": int(sketcher.short(sketches).sum()),
        "empty": int(sketches.empty.sum()),
    }
