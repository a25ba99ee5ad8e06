"""`benzer info`: describe an index or a file of documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.cli.columns import column_names
from benzer.cli.location import Location, existing, is_index, shown
from benzer.cli.reading import DocumentReader

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
RULES_SHOWN = (
    "method",
    "normalize",
    "case",
    "punctuation",
    "tokenizer",
    "shingle_hash",
    "hash_bytes",
    "weight",
)
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
        facts = index_facts if "index" in report else file_facts
        console.show(console.facts_table(list(facts(report))))
        console.tell_malformed(report.get("malformed_rows", []), report.get("malformed", 0))
    return 1 if report.get("malformed") else 0


def index_report(path: str, buckets: bool = False) -> dict[str, Any]:
    """Return the settings and counts of an index; with `buckets`, also the number of buckets of each size."""
    from benzer.index import Index

    with Index.open(existing(path), mode="read") as index:
        report = {"index": shown(path), **index.info()}
        return {**report, "buckets": list(index.bucket_sizes().items())} if buckets else report


def file_report(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Read a file or folder and count its documents."""
    schema, columns = fields.described(asked, weights={})
    format = fields.format_of(asked, [path])
    layout = fields.layout_of(asked)
    reading = DocumentReader((path,), columns, asked["id_column"], format, schema, "skip", layout)
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


def index_facts(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the most important facts of an index; --json has all of them."""
    from benzer.bands import Bands
    from benzer.fields import Schema
    from benzer.views.recall import promise

    settings, documents = report["settings"], report["documents"]
    yield "index", report["index"]
    yield "documents", console.count(documents)
    if report.get("bytes"):
        each = f", {console.amount(round(report['bytes'] / documents))} per document" if documents else ""
        yield "size", f"{console.amount(report['bytes'])}{each}"
    for name, rules in settings["schema"].items():
        yield "field", f"{name}: {field_words(rules)}"
    bands = Bands(settings["bands"], settings["rows"])
    yield "signature", f"{settings['num_hashes']} values, {settings['minhash']}, seed {settings['seed']}"
    if passages := settings.get("passages"):
        certain = passages["size"] + passages["window"] - 1
        yield (
            "passages",
            f"runs of {passages['size']} words, at least 1 of {passages['window']} stored; found from {certain} words",
        )
    schema = Schema.from_dict(settings["schema"])
    yield "search", promise(bands, settings["threshold"], schema)
    if "buckets" in report:
        sizes = dict(report["buckets"])
        total, largest = console.count(sum(sizes.values())), console.count(max(sizes, default=0))
        yield "buckets", f"{total}; the largest has {largest} documents"
    if "sqlite" in report:
        yield "format", f"{report['format']}, SQLite {report['sqlite']}"
    yield "fingerprint", report["fingerprint"]


def field_words(rules: dict[str, Any]) -> str:
    """Describe the settings of a field.

    >>> field_words({"type": "text", "unit": "word", "shingle_size": 3, "case": "fold", "stop_words": []})
    'word:3, case fold'
    """
    others = [f"{name.replace('_', ' ')} {rules[name]}" for name in RULES_SHOWN if rules.get(name)]
    others += [f"without {len(rules['stop_words'])} stop words"] if rules.get("stop_words") else []
    others += ["frequencies"] if rules.get("frequencies") else []
    kind = f"{rules['unit']}:{rules['shingle_size']}" if rules["type"] == "text" else rules["type"]
    return ", ".join([kind, *others])


def file_facts(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facts of a file."""
    yield "file", report["file"]
    yield "columns", console.printable(", ".join(report["columns"]))
    yield from (
        (name, console.count(report[name])) for name in ("rows", "malformed", "documents", "short", "empty")
    )
