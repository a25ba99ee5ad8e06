"""`benzer experiments`: repeat published experiments on MinHash and LSH."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import click

from benzer.cli import console
from benzer.cli import options as shared
from benzer.cli.output import remove_leftovers
from benzer.views.outputs import first_of, written
from benzer.views.tables import ColumnView, TableView, facts_table
from benzer.wording import count, counted

if TYPE_CHECKING:
    from benzer.cli.console import Progress
    from benzer.document import Document
    from benzer.experiments import ExperimentResult, ResultTable

EXAMPLES = """\
# List the experiments
benzer experiments --list

# Run one in a few seconds
benzer experiments E4

# Run all with the published settings, and write CSV and figures
benzer experiments --scale full --output experiments

# Show what bands find and miss in your documents
benzer experiments E7 --documents docs.jsonl --text body
"""
MOST_DOCUMENTS = 12_000


@click.command(
    "experiments",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    short_help="Repeat published experiments.",
)
@click.argument("names", nargs=-1, metavar="[E1 E2 ...]")
@click.option("--list", "listing", is_flag=True, help="List the experiments without running them.")
@click.option(
    "--scale", type=click.Choice(["small", "full"]), default="small", show_default=True,
    help="Run for a few seconds (small) or with the published settings (full).",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR",
    help="Write tables (CSV) and figures (SVG, PNG) to a new folder.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="Replace DIR if it exists.")
@click.option(
    "--documents", type=click.Path(), metavar="FILE",
    help=f"Use the first {count(MOST_DOCUMENTS)} documents of FILE in E7, not generated ones.",
)  # fmt: skip
@click.option(
    "--text", "column", metavar="COLUMN", default="text", show_default=True,
    help="Text column of FILE.",
)  # fmt: skip
@shared.seed_option
@shared.json_option
def command(
    names: tuple[str, ...], listing: bool, scale: Literal["small", "full"], output: Path | None, replace: bool,
    documents: str | None, column: str, seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Repeat published experiments on MinHash and LSH, and compare the results with the published ones.

    Without names, runs all eight. docs/experiments.md discusses the results. Figures require matplotlib:
    pip install 'benzer[experiments]'.
    """
    from benzer.experiments import write_results

    if listing:
        list_questions(as_json)
        return 0
    chosen = wanted(names, documents)
    options = {} if documents is None else {"E7": {"texts": texts_of(documents, column)}}
    results: list[ExperimentResult] = []
    files: list[str] = []
    with console.progress(*chosen) as progress:
        running = run_all(chosen, scale, seed, options, progress, results)
        if output is None:
            deque(running, maxlen=0)
        else:
            remove_leftovers(output)
            files = write_results(running, output, replace)
    if as_json:
        console.print_json({"experiments": [answer(result) for result in results]})
    else:
        display(results)
    if output is not None:
        console.note(f"{counted(len(files), 'file')} {written(output)}")
    return 0


def wanted(names: Sequence[str], documents: str | None) -> list[str]:
    """Return the experiments to run, without repetition: those named, E7 for documents, or all."""
    from benzer.experiments import EXPERIMENTS

    named = list(dict.fromkeys(name.upper() for name in names))
    chosen = named or (["E7"] if documents else list(EXPERIMENTS.names))
    for name in chosen:
        EXPERIMENTS.load(name)
    if documents is not None and "E7" not in chosen:
        raise click.UsageError("--documents applies to experiment E7 only: add E7, or omit --documents.")
    return chosen


def texts_of(documents: str, column: str) -> list[str]:
    """Return the first texts of a file."""
    from benzer.cli.reading import DocumentReader
    from benzer.fields import Schema

    texts: list[str] = []

    def take(batch: Sequence[Document]) -> None:
        texts.extend(str(document.fields["text"] or "") for document in batch)

    DocumentReader((documents,), {"text": column}, None, None, Schema()).each(take)
    if len(texts) > MOST_DOCUMENTS:
        console.note(first_of(MOST_DOCUMENTS, len(texts)))
    return texts[:MOST_DOCUMENTS]


def run_all(
    names: Sequence[str], scale: Literal["small", "full"], seed: int, options: Mapping[str, Mapping[str, Any]],
    progress: Progress | None, results: list[ExperimentResult],
) -> Iterator[ExperimentResult]:  # fmt: skip
    """Run the experiments in order, yield each result and append it to `results`."""
    from benzer.experiments import run_experiment

    for name in names:
        result = run_experiment(name, scale, seed, **options.get(name, {}))
        results.append(result)
        if progress is not None:
            progress(name, 1, 1)
        yield result


def list_questions(as_json: bool) -> None:
    """Print the names and questions of all experiments."""
    from benzer.experiments.base import QUESTIONS

    if as_json:
        console.print_json({"experiments": [{"name": n, "question": q} for n, q in QUESTIONS.items()]})
    else:
        console.display(facts_table(QUESTIONS.items()))


def answer(result: ExperimentResult) -> dict[str, Any]:
    """Convert a result to JSON values."""
    return {
        "name": result.name,
        "question": result.question,
        "settings": result.settings,
        "published": result.published,
        "finding": result.finding,
        "tables": {
            name: {"columns": table.columns, "rows": table.rows} for name, table in result.tables.items()
        },
    }


def display(results: Sequence[ExperimentResult]) -> None:
    """Print the questions, short tables and findings."""
    for number, result in enumerate(results):
        if number:
            console.display()
        console.display(f"{result.name}  {result.question}")
        for name, text in (
            ("Settings", result.settings),
            ("Published", result.published),
            ("Found", result.finding),
        ):
            console.display(wrapped(f"{name}: {text}"))
        for table in result.short_tables.values():
            console.display()
            console.display(view_of(table))


def wrapped(text: str) -> str:
    """Wrap a text to the width of the terminal, at most 100."""
    return fill(text, width=min(console.width(), 100), subsequent_indent="  ", break_on_hyphens=False)


def view_of(table: ResultTable) -> TableView:
    """Make a table with numbers aligned to the right and words to the left."""
    words = [any(isinstance(cell, str) for cell in table.column(name)) for name in table.columns]
    columns = tuple(ColumnView(number=not word, wraps=word) for word in words)
    return TableView(tuple(map(tuple, table.for_readers())), columns, tuple(table.columns))
