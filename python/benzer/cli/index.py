"""`benzer index`: create an index or add documents to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.cli.location import Location, index_exists, printable_location
from benzer.cli.making import made
from benzer.cli.reading import DocumentReader
from benzer.errors import SettingsMismatchError
from benzer.views import upkeep as views

if TYPE_CHECKING:
    from benzer.document import Document
    from benzer.index import Index, IndexSettings

EXAMPLES = """\
# Create an index of a JSONL file
benzer index docs.benzer docs.jsonl --id url

# Add documents; a document replaces an existing one with the same id
benzer index docs.benzer more.jsonl --id url

# Index short texts by shingles of 5 characters
benzer index names.benzer names.csv --text name --shingle char:5 --threshold 0.5

# Index images, or documents with several fields
benzer index photos.benzer photos --images grid
benzer index books.benzer books.jsonl --text title --values tags --weight title=2

# Also store passages, for benzer search --passages, --containing and --contained
benzer index docs.benzer docs.jsonl --passages

# Store the index in Redis; several indexes can share a server
benzer index 'redis://localhost:6379/0?prefix=docs' docs.jsonl

# Search the index
benzer search docs.benzer --file letter.txt --limit 5
"""
COMMON = "--threshold --recall --passages --text --values --images --id --format --shingle --json"


@click.command(
    "index",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Create an index, or add documents to it.",
)
@click.argument("index", type=Location())
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@shared.promise_options(threshold=None)
@shared.seed_option
@shared.option(
    shared.OUTPUT, "--passages", is_flag=True,
    help="Also store passages, required by search --passages; about 5 bytes per word.",
)  # fmt: skip
@shared.json_option
@fields.column_options
@shared.on_error_option
@shared.id_options
@fields.weight_option
@fields.text_options
def command(
    index: str, inputs: tuple[str, ...], on_error: Literal["stop", "skip"], as_json: bool, **settings: Any
) -> int:
    """Add the documents of INPUT to INDEX: a file, or redis://HOST:PORT/DB?prefix=NAME.

    The first call creates the index and stores the settings in it. Later calls need no settings and reject different
    ones. A document replaces an existing document with the same id. The exit status is 1 if malformed rows
    were skipped.
    """
    started = perf_counter()
    with opened(index, settings) as (target, columns), console.progress("index") as progress:
        before, schema = len(target), target.settings.schema
        format = fields.format_of(settings, inputs)
        reading = DocumentReader(
            inputs, columns, settings["id_column"], format, schema, on_error, fields.layout_of(settings),
            settings["on_duplicate_id"], settings["id_scope"],
        )  # fmt: skip
        read = add(target, reading, progress)
        report = {
            "index": printable_location(index),
            "read": read,
            "new": len(target) - before,
            "documents": len(target),
        }
    repeated = {"repeated_ids": reading.repeated} if reading.repeated else {}
    report |= {"malformed": len(reading.malformed), **repeated, "seconds": round(perf_counter() - started, 3)}
    if as_json:
        console.print_json(report)
    else:
        console.display(views.indexed_table(report))
    console.tell_malformed(reading.malformed)
    return 1 if reading.malformed else 0


@contextmanager
def opened(location: str, settings: dict[str, Any]) -> Iterator[tuple[Index, dict[str, str]]]:
    """Open or create an index to add documents in one transaction; yields it with the columns of its fields."""
    from benzer.index import Index

    if index_exists(location):
        with Index.open(location) as index:
            refuse_other_settings(printable_location(location), index.settings, settings)
            yield index, fields.columns_of(printable_location(location), index.settings.schema, settings)
        return
    wanted, columns = described(settings)
    with made(location, wanted) as index:
        yield index, columns


def described(settings: dict[str, Any]) -> tuple[IndexSettings, dict[str, str]]:
    """Convert the options to index settings and columns."""
    from benzer.index import IndexSettings

    schema, columns = fields.described(settings, settings["weight"])
    threshold = settings["threshold"]
    described_settings = IndexSettings(
        schema,
        threshold=threshold,
        recall=settings["recall"],
        seed=settings["seed"],
        passages=settings["passages"],
    )
    return described_settings, columns


def refuse_other_settings(location: str, stored: IndexSettings, settings: dict[str, Any]) -> None:
    """Raise an error if a given option differs from the settings of the index."""
    kept = {"threshold": stored.threshold, "recall": stored.recall, "seed": stored.minhash.seed}
    for name in shared.given(*kept):
        if settings[name] != kept[name]:
            raise fields.other_setting(location, name, kept[name], settings[name])
    if settings["passages"] and stored.passages is None:
        raise SettingsMismatchError(
            f"{location} was created without --passages: create another index with --passages"
        )
    fields.refuse_other_rules(location, stored.schema, settings)


def add(index: Index, reading: DocumentReader, progress: console.Progress | None) -> int:
    """Add the documents, report progress, and return the number of documents read."""
    read = 0

    def take(documents: list[Document]) -> None:
        nonlocal read
        index.add(documents, batch_size=len(documents) or 1)
        read += len(documents)
        if progress:
            progress("index", read, None)

    reading.each(take)
    return read
