"""`benzer dedupe`: which documents stay, which go, and why?"""

from __future__ import annotations

from glob import glob
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.errors import OutputError

if TYPE_CHECKING:
    from benzer.results import Duplicates

EXAMPLES = """\
# Remove near-duplicates; clean/ will hold the kept, the removed and the evidence
benzer dedupe docs.jsonl --output clean

# Many files, other columns, a lower threshold
benzer dedupe 'crawl/*.jsonl.zst' --text body --id url --threshold 0.7 --output clean

# Keep the longest of each cluster, or the one from the better source
benzer dedupe docs.parquet --keep longest --output clean
benzer dedupe docs.csv --keep priority:source=books,web --output clean

# Short texts: compare runs of 5 characters
benzer dedupe names.csv --text name --shingle char:5 --output clean

# Images: copies that were resized, recompressed or retouched
benzer dedupe photos --images grid --output clean

# Several fields, of which the title counts twice
benzer dedupe books.jsonl --text title --values tags --weight title=2 --output clean

# In a script
zcat docs.jsonl.gz | benzer dedupe - --format jsonl --output clean --json > summary.json
"""
STAGES = ("read", "sketch", "candidates", "verify", "clusters", "write")
FILES = {
    "kept": "the documents that stay, as they were",
    "removed_documents": "the documents that go, as they were",
    "removed": "why each went: the kept one, and their similarity",
    "pairs": "all verified pairs",
    "clusters": "who stays, and for whom",
    "malformed": "rows set aside, with file, row and reason",
    "summary": "counts, settings, times",
}


@click.command(
    "dedupe", cls=shared.TaughtCommand, examples=EXAMPLES, short_help="Remove near-duplicate documents."
)
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), metavar="DIR",
    help="Folder to write; must not exist yet.",
)  # fmt: skip
@shared.promise_options(threshold=None)
@click.option(
    "--keep", default="first", show_default=True, metavar="RULE",
    help="Which one stays: first, last, longest, largest:COL, smallest:COL, or priority:COL=a,b.",
)  # fmt: skip
@shared.on_error_option
@click.option(
    "--tables", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True,
    help="Format of pairs, clusters and removed.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="Replace the output folder if it exists.")
@shared.threads_option
@shared.seed_option
@shared.json_option
@fields.column_options
@fields.weight_option
@fields.text_options
def command(
    inputs: tuple[str, ...],
    output: Path,
    tables: Literal["jsonl", "parquet"],
    replace: bool,
    as_json: bool,
    **settings: Any,
) -> int:
    """Write the documents of INPUT without their near-duplicates to a new folder.

    INPUT is JSONL, CSV, TSV, Parquet (.gz and .zst too), a folder of texts or images, a pattern, or - for
    stdin. Inputs are only read. Every removed document is listed with the kept one that it resembles and their
    exact similarity. Ends with 1 if malformed rows were set aside.
    """
    refuse_output(inputs, output, replace)
    started = perf_counter()
    with console.progress(*STAGES) as progress:
        found = find(inputs, settings, progress)
        paths = found.write(output, tables=tables, replace=replace)
    seconds = perf_counter() - started
    if as_json:
        files = {name: str(path) for name, path in paths.items()}
        console.print_json({**found.summary(), "seconds": round(seconds, 3), "files": files})
    else:
        show(found, output, paths, seconds, size_of(inputs))
    console.tell_malformed(found.malformed)
    return 1 if found.malformed else 0


def refuse_output(inputs: tuple[str, ...], output: Path, replace: bool) -> None:
    """Refuse before the work, not after it, an output that is there or that holds an input."""
    if output.exists() and not replace:
        raise OutputError(f"{output} exists: choose another --output, or add --replace to replace it")
    for source in (Path(name) for pattern in inputs for name in glob(pattern, recursive=True) or [pattern]):
        if output.resolve() in (source.resolve(), *source.resolve().parents):
            raise OutputError(
                f"{output} holds the input {source}, which is never overwritten: choose another --output"
            )


def find(inputs: tuple[str, ...], settings: dict[str, Any], progress: console.Progress | None) -> Duplicates:
    """Call the library with what the options say."""
    from benzer.pipeline import find_duplicates

    asked = {name: settings.pop(name) for name in fields.OPTIONS}
    schema, columns = fields.described(asked, settings.pop("weight"))
    threshold = fields.threshold_of(schema, settings.pop("threshold"))
    return find_duplicates(
        list(inputs), threshold=threshold, text=columns, id=settings.pop("id_column"), schema=schema,
        format=fields.format_of(asked, inputs), progress=progress, **settings,
    )  # fmt: skip


def show(found: Duplicates, output: Path, paths: dict[str, Path], seconds: float, size: int | None) -> None:
    """Print the summary, the promise, and where the output lies."""
    console.show(console.rows_table(summary_rows(found, seconds, size)))
    console.show()
    console.show(console.promise(found.bands, found.threshold, found.settings.schema))
    console.show(f"\nwritten to {output}/")
    console.show(
        console.rows_table(
            [(f"  {path.relative_to(output)}", "", FILES[name]) for name, path in paths.items()]
        )
    )


def summary_rows(found: Duplicates, seconds: float, size: int | None) -> list[tuple[str, str, str]]:
    """Say each count with what it means."""
    counts = found.counts
    threshold = console.setting(found.threshold)
    texts = {field.kind for field in found.settings.schema.fields.values()} == {"text"}
    remarks = {
        "read": "rows",
        "malformed": "rows set aside",
        "kept": console.share(counts["kept"], counts["documents"]),
        "removed": console.share(counts["removed"], counts["documents"]),
        "identical": "the same as a kept one" + ", after normalization" * texts,
        "near": f"at least {threshold} similar to a kept one",
        "short": "shorter than one shingle; compared as a whole",
        "empty": f"without any {'shingle' if texts else 'element'}; kept, and nobody's duplicate",
        "pairs": f"of similarity {threshold} or more; {console.count(counts['candidates'])} candidates compared",
        "clusters": "kept documents that others went for",
        "oversized_buckets": "joined through a few of their documents",
    }
    optional = {"malformed", "oversized_buckets"}
    indented = {"identical", "near"}
    rows = [
        (
            "  " * (name in indented) + name.replace("_", " "),
            console.count(counts[name]),
            remark * bool(counts[name]),
        )
        for name, remark in remarks.items()
        if name not in optional or counts.get(name)
    ]
    return [*rows, ("time", console.duration(seconds), speed(counts["documents"], seconds, size))]


def speed(documents: int, seconds: float, size: int | None) -> str:
    """Write the speed in documents, and in bytes where the size of the input is known."""
    per_second = f"{console.count(round(documents / seconds))} documents/s"
    return f"{size / seconds / 1e6:,.1f} MB/s, {per_second}" if size and size > 1e6 else per_second


def size_of(inputs: tuple[str, ...]) -> int | None:
    """Add up the bytes of the input on disk; None if a part of it is not a plain file."""
    paths = [Path(source) for source in inputs]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
