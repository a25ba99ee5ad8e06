"""`benzer contained`: find documents that are contained in other documents."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console, fields
from benzer.cli import options as shared
from benzer.cli.output import prepare
from benzer.views import inputs as views
from benzer.views.outputs import written

if TYPE_CHECKING:
    from benzer.contained import Containments

EXAMPLES = """\
# Write all pairs where at least 80 % of one document appears in the other
benzer contained docs.jsonl --output pairs.jsonl

# Find columns of values that can be joined (lists of strings or integers)
benzer contained columns.jsonl --values cells --threshold 0.9 --output joins.parquet

# Show the ten pairs with the highest containment without writing a file
benzer contained docs.jsonl --limit 10
"""
STAGES = ("read", "sketch", "join", "write")
COMMON = "--output --replace --limit --threshold --text --values --id --shingle --json"


@click.command(
    "contained",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Find documents that are contained in other documents.",
)
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@shared.option(
    shared.OUTPUT, "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="Output file, .jsonl or .parquet. Must not exist unless --replace is given.",
)  # fmt: skip
@shared.option(
    shared.MATCHING, "--threshold", metavar="NUMBER", type=click.FloatRange(0, 1, min_open=True), default=0.8,
    show_default=True, help="Minimum share of a document that appears in the other one.",
)  # fmt: skip
@shared.option(
    shared.OUTPUT, "--limit", metavar="NUMBER", type=click.IntRange(min=0), default=10, show_default=True,
    help="Maximum number of pairs to show.",
)  # fmt: skip
@shared.option(
    shared.OUTPUT,
    "--copies",
    is_flag=True,
    help="Also write the pairs of identical documents, not only of the first.",
)
@shared.option(shared.OUTPUT, "--replace", is_flag=True, help="Replace the output file if it exists.")
@shared.threads_option
@shared.json_option
@fields.column_options
@shared.on_error_option
@shared.id_options
@fields.text_options
def command(
    inputs: tuple[str, ...],
    output: Path | None,
    limit: int,
    copies: bool,
    replace: bool,
    as_json: bool,
    **settings: Any,
) -> int:
    """List the documents of INPUT that are contained in others: quotations, nested pages, joinable columns.

    All pairs are found. Containment is exact: the share of a document's shingles (or values) that the other document
    has. Identical documents are compared once, as the first of them; --copies also writes the pairs of the others. To
    search for single documents, see benzer index --passages and benzer search --containing. The exit status is 1 if
    malformed rows were skipped.
    """
    tables = table_format(inputs, output, replace)
    started = perf_counter()
    with console.progress(*STAGES) as progress:
        result = find(inputs, settings, progress)
        if output is not None:
            result.write(output, tables=tables, replace=replace, copies=copies)
    seconds = perf_counter() - started
    if as_json:
        answer = {"pairs": [pair._asdict() for pair in best(result, limit)], "seconds": round(seconds, 3)}
        console.print_json({**result.summary(), **answer, "file": None if output is None else str(output)})
    else:
        display(result, output, seconds, limit)
    console.tell_malformed(result.malformed)
    return 1 if result.malformed else 0


def table_format(inputs: tuple[str, ...], output: Path | None, replace: bool) -> Any:
    """Return the format of the output file by its name; raise an error before the run if the file exists."""
    from benzer.tables import check_destination

    if output is None:
        return "jsonl"
    prepare(output, replace)
    if output.suffix not in (".jsonl", ".parquet"):
        raise click.UsageError(f"--output {output}: use a file name that ends in .jsonl or .parquet.")
    check_destination(inputs, output)
    return output.suffix[1:]


def find(
    inputs: tuple[str, ...], settings: dict[str, Any], progress: console.Progress | None
) -> Containments:
    """Call the library with the options."""
    from benzer.contained import find_contained
    from benzer.pipeline import Options
    from benzer.sources import Files

    requested = {name: settings.pop(name) for name in fields.OPTIONS}
    schema, columns = fields.described(requested, weights={})
    layout = fields.layout_of(requested)
    rare = {name: settings.pop(name) for name in ("on_error", "on_duplicate_id", "id_scope")}
    options = Options(format=fields.format_of(requested, inputs), **rare, **layout)
    return find_contained(
        Files(inputs), schema=schema, text=columns, id=settings.pop("id_column"),
        progress=progress, options=options, **settings,
    )  # fmt: skip


def best(result: Containments, limit: int) -> list[Any]:
    """Return the pairs with the highest containment, in their order if equal."""
    import numpy as np

    from benzer.contained import Contained

    places = np.argsort(-result.share, kind="stable")[:limit]
    ids = result.reading.corpus.ids
    return list(
        map(Contained, ids(result.left[places]), ids(result.right[places]), result.share[places].tolist())
    )


def display(result: Containments, output: Path | None, seconds: float, limit: int) -> None:
    """Print the counts, the best pairs and the output file."""
    console.display(views.contained_table(result.counts, result.threshold, seconds))
    if pairs := best(result, limit):
        console.display()
        console.display(views.contained_pairs(pairs))
    if output is not None:
        console.display()
        console.display(written(output))
