"""`benzer index`: how does an index come about and grow?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.reading import Reading

if TYPE_CHECKING:
    from benzer.document import Document

EXAMPLES = """\
# Make an index of a JSONL file
benzer index docs.benzer docs.jsonl --id url

# Add to it; a document whose id is there replaces the old one
benzer index docs.benzer more.jsonl --id url

# Index short texts by runs of 5 characters
benzer index names.benzer names.csv --text name --shingle char:5 --threshold 0.5

# Then ask it
benzer search docs.benzer "some text" --limit 5
"""
SETTINGS = ["threshold", "recall", "shingle", "normalize", "case", "seed"]
BATCH_SIZE = 5_000


@click.command(
    "index", cls=shared.TaughtCommand, examples=EXAMPLES, short_help="Make an index, or add documents to it."
)
@click.argument("index", type=click.Path(path_type=Path))
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@shared.column_options
@shared.promise_options()
@shared.text_options
@shared.seed_option
@shared.on_error_option
@shared.json_option
@click.pass_context
def command(
    ctx: click.Context, /, index: Path, inputs: tuple[str, ...], text: tuple[str, ...], id_column: str | None,
    format: str | None, on_error: Literal["stop", "skip"], as_json: bool, **settings: Any,
) -> int:  # fmt: skip
    """Put the documents of INPUT into INDEX, one file that `benzer search` reads.

    The file is made on the first call. The settings are kept in it: later calls need none, and other ones are
    refused. A document whose id is already there replaces the old one. Ends with 1 if malformed rows were
    set aside.
    """
    from benzer.index import Index, IndexSettings

    columns = shared.text_columns(text)
    schema = shared.schema_of(
        columns, settings.pop("shingle"), settings.pop("normalize"), settings.pop("case")
    )
    reading = Reading(inputs, columns, id_column, format, schema, on_error)
    fresh = not index.exists()
    wanted = IndexSettings(schema=schema, **settings) if fresh or shared.given(ctx, *SETTINGS) else None
    started = perf_counter()
    with (
        removed_on_failure(index, fresh),
        Index.open(index, wanted) as opened,
        console.progress() as progress,
    ):
        before = len(opened)
        read = add(opened, reading.documents(), progress)
        opened.commit()
        report = {"index": str(index), "read": read, "new": len(opened) - before, "documents": len(opened)}
    report |= {"malformed": len(reading.malformed), "seconds": round(perf_counter() - started, 3)}
    (console.print_json if as_json else show)(report)
    console.tell_malformed(reading.malformed)
    return 1 if reading.malformed else 0


@contextmanager
def removed_on_failure(index: Path, fresh: bool) -> Iterator[None]:
    """Leave no half-made index behind where there was none before."""
    try:
        yield
    except BaseException:
        if fresh:
            for path in (index, *(index.with_name(index.name + ending) for ending in ("-wal", "-shm"))):
                path.unlink(missing_ok=True)
        raise


def add(index: Any, found: Iterator[Document], progress: console.Progress | None) -> int:
    """Add the documents, counting them as they pass; returns how many were read."""
    read = 0

    def counted() -> Iterator[Document]:
        nonlocal read
        for document in found:
            read += 1
            if progress and read % 500 == 0:
                progress("index", read, None)
            yield document

    index.add(counted(), batch_size=BATCH_SIZE)
    return read


def show(report: dict[str, Any]) -> None:
    """Print what was added."""
    seconds = report["seconds"]
    rows = [
        ("read", console.count(report["read"]), "documents"),
        ("new", console.count(report["new"]), ""),
        ("replaced", console.count(report["read"] - report["new"]), "their id was there already"),
        ("in the index", console.count(report["documents"]), ""),
        (
            "time",
            console.duration(seconds),
            f"{console.count(round(report['read'] / max(seconds, 1e-3)))} documents/s",
        ),
    ]
    console.show(console.rows_table(rows))
