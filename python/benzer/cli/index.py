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

# Then ask it
benzer search docs.benzer --file letter.txt --limit 5
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
    columns = shared.text_columns(text) if text else None
    asked = {name: settings[name] for name in shared.given(ctx, *SETTINGS)}
    started = perf_counter()
    with opened(index, columns, settings, asked) as target, console.progress("index") as progress:
        before, schema = len(target), target.settings.schema
        reading = DocumentReader(inputs, columns, id_column, format, schema, on_error)
        read = add(target, reading.documents(), progress)
        report = {"index": str(index), "read": read, "new": len(target) - before, "documents": len(target)}
    report |= {"malformed": len(reading.malformed), "seconds": round(perf_counter() - started, 3)}
    (console.print_json if as_json else show)(report)
    console.tell_malformed(reading.malformed)
    return 1 if reading.malformed else 0


@contextmanager
def opened(
    index: Path, columns: str | dict[str, str] | None, settings: dict[str, Any], asked: dict[str, Any]
) -> Iterator[Index]:
    """Open an index to add to it, all or nothing; a new one gets its name when it is complete."""
    from benzer.index import Index, IndexSettings
    from benzer.tables import atomic_write

    if index.exists():
        with Index.open(index) as found:
            refuse_other_settings(index, found.settings, asked)
            yield found
        return
    rules = {name: settings.pop(name) for name in ("shingle", "normalize", "case")}
    wanted = IndexSettings(schema=shared.schema_of(columns or "text", **rules), **settings)
    with atomic_write(index) as partial, Index.open(partial, wanted) as made:
        yield made


def refuse_other_settings(index: Path, settings: IndexSettings, asked: dict[str, Any]) -> None:
    """Refuse an option that says something else than the index was made with."""
    stored = as_options(settings)
    for name, value in asked.items():
        if value != stored[name]:
            raise SettingsMismatchError(
                f"{index} was made with --{name} {option_text(stored[name])}, got {option_text(value)}: "
                "leave the option out, or make another index"
            )


def as_options(settings: IndexSettings) -> dict[str, Any]:
    """Tell with which options an index was made; fields that Python made may each have their own."""
    rules = dict(next(iter(settings.schema.fields.values())).to_dict())
    return {
        "threshold": settings.threshold,
        "recall": settings.recall,
        "seed": settings.minhash.seed,
        "shingle": (rules.get("unit"), rules.get("shingle_size")),
        "normalize": rules.get("normalize"),
        "case": rules.get("case"),
    }


def option_text(value: Any) -> str:
    """Write a setting as its option is written.

    >>> option_text(("char", 5)), option_text(0.8)
    ('char:5', '0.8')
    """
    return ":".join(map(str, value)) if isinstance(value, tuple) else str(value)


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
