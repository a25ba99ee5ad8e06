"""`benzer index`: how does an index come about and grow?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.cli.location import Location, found, shown
from benzer.cli.making import made
from benzer.cli.reading import DocumentReader
from benzer.errors import SettingsMismatchError

if TYPE_CHECKING:
    from benzer.document import Document
    from benzer.index import Index, IndexSettings

EXAMPLES = """\
# Make an index of a JSONL file
benzer index docs.benzer docs.jsonl --id url

# Add to it; a document whose id is there replaces the old one
benzer index docs.benzer more.jsonl --id url

# Index short texts by runs of 5 characters
benzer index names.benzer names.csv --text name --shingle char:5 --threshold 0.5

# Images; or documents of several fields, of which the title counts twice
benzer index photos.benzer photos --images grid
benzer index books.benzer books.jsonl --text title --values tags --weight title=2

# Passages too, to find quotations and what contains a text (search --passages, --containing, --contained)
benzer index docs.benzer docs.jsonl --passages

# In Redis, where several indexes may share a server
benzer index 'redis://localhost:6379/0?prefix=docs' docs.jsonl

# Then ask it
benzer search docs.benzer --file letter.txt --limit 5
"""


@click.command(
    "index", cls=shared.TaughtCommand, examples=EXAMPLES, short_help="Make an index, or add documents to it."
)
@click.argument("index", type=Location())
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@shared.promise_options(threshold=None)
@shared.seed_option
@click.option(
    "--passages", is_flag=True, help="File passages too, about 5 bytes a word: what search --passages needs.",
)  # fmt: skip
@shared.on_error_option
@shared.json_option
@fields.column_options
@fields.weight_option
@fields.text_options
def command(
    index: str, inputs: tuple[str, ...], on_error: Literal["stop", "skip"], as_json: bool, **settings: Any
) -> int:
    """Put the documents of INPUT into INDEX: one file, or redis://HOST:PORT/DB?prefix=NAME.

    The index is made on the first call. The settings are kept in it: later calls need none, and other ones are
    refused. A document whose id is already there replaces the old one. Ends with 1 if malformed rows were
    set aside.
    """
    started = perf_counter()
    with opened(index, settings) as (target, columns), console.progress("index") as progress:
        before, schema = len(target), target.settings.schema
        format = fields.format_of(settings, inputs)
        reading = DocumentReader(inputs, columns, settings["id_column"], format, schema, on_error)
        read = add(target, reading, progress)
        report = {"index": shown(index), "read": read, "new": len(target) - before, "documents": len(target)}
    report |= {"malformed": len(reading.malformed), "seconds": round(perf_counter() - started, 3)}
    (console.print_json if as_json else show)(report)
    console.tell_malformed(reading.malformed)
    return 1 if reading.malformed else 0


@contextmanager
def opened(location: str, settings: dict[str, Any]) -> Iterator[tuple[Index, dict[str, str]]]:
    """Open an index to add to it, all or nothing, with the columns of its fields; a new file appears complete."""
    from benzer.index import Index

    if found(location):
        with Index.open(location) as index:
            refuse_other_settings(shown(location), index.settings, settings)
            yield index, fields.columns_of(shown(location), index.settings.schema, settings)
        return
    wanted, columns = described(settings)
    with made(location, wanted) as index:
        yield index, columns


def described(settings: dict[str, Any]) -> tuple[IndexSettings, dict[str, str]]:
    """Say as settings of an index what the options say."""
    from benzer.index import IndexSettings

    schema, columns = fields.described(settings, settings["weight"])
    threshold = fields.threshold_of(schema, settings["threshold"])
    asked = IndexSettings(
        schema,
        threshold=threshold,
        recall=settings["recall"],
        seed=settings["seed"],
        passages=settings["passages"],
    )
    return asked, columns


def refuse_other_settings(location: str, stored: IndexSettings, settings: dict[str, Any]) -> None:
    """Refuse an option that says something else than the index was made with."""
    kept = {"threshold": stored.threshold, "recall": stored.recall, "seed": stored.minhash.seed}
    for name in shared.given(*kept):
        if settings[name] != kept[name]:
            raise fields.other_setting(location, name, kept[name], settings[name])
    if settings["passages"] and stored.passages is None:
        raise SettingsMismatchError(f"{location} was made without --passages: make another index with them")
    fields.refuse_other_rules(location, stored.schema, settings)


def add(index: Index, reading: DocumentReader, progress: console.Progress | None) -> int:
    """Add the documents, counting them as they pass; returns how many were read."""
    read = 0

    def take(documents: list[Document]) -> None:
        nonlocal read
        index.add(documents, batch_size=len(documents) or 1)
        read += len(documents)
        if progress:
            progress("index", read, None)

    reading.each(take)
    return read


def show(report: dict[str, Any]) -> None:
    """Print what was added."""
    seconds, replaced = report["seconds"], report["read"] - report["new"]
    rows = [
        ("read", console.count(report["read"]), "documents"),
        ("new", console.count(report["new"]), ""),
        ("replaced", console.count(replaced), "their id was there already" if replaced else ""),
        ("in the index", console.count(report["documents"]), ""),
        (
            "time",
            console.duration(seconds),
            f"{console.count(round(report['read'] / max(seconds, 1e-3)))} documents/s",
        ),
    ]
    console.show(console.rows_table(rows))
