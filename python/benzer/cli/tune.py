"""`benzer tune`: show the bands for a threshold and recall, and what they find."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from benzer.cli import console, fields, planning
from benzer.cli import options as shared
from benzer.cli.reading import DocumentReader

if TYPE_CHECKING:
    from benzer.bands import Bands

EXAMPLES = """\
# Show what the defaults find
benzer tune

# Show the cost of a higher recall
benzer tune --threshold 0.7 --recall 0.99

# Estimate pairs and cost for your documents
benzer tune docs.jsonl --threshold 0.7

# Suggest a shingle size for your documents
benzer tune --documents docs.jsonl --text body --unit word

# Show what the settings of another program find
benzer tune --threshold 0.8 --bands 9 --rows 13

# Show what the classical rules choose for 128 hashes
benzer tune --rule area --num-hashes 128
"""
RULES = ["pick_bands", "inverse_root", "area"]
RULE_HASHES = 128  # same as in benzer.bands, which would import NumPy
ADVICE_OPTIONS = ("unit",)
BAND_OPTIONS = ("bands", "rows", "rule")
READ_OPTIONS = (*fields.OPTIONS, "id_column")
COMMON = "--threshold --recall --num-hashes --bands --rows --rule --text --shingle --documents --unit --json"


@click.command(
    "tune",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Show what a threshold, recall and shingle size find.",
)
@click.argument("inputs", nargs=-1, type=click.Path(), metavar="[INPUT...]")
@shared.promise_options(threshold=None)
@shared.option(
    shared.MATCHING,
    "--num-hashes",
    metavar="NUMBER",
    type=click.IntRange(1, 65535),
    show_default=f"as many as needed; {RULE_HASHES} for --rule",
    help="Maximum number of signature values.",
)
@shared.option(
    shared.MATCHING,
    "--bands",
    "bands",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    help="Use this number of bands instead of choosing by recall; requires --rows.",
)
@shared.option(
    shared.MATCHING,
    "--rows",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    help="Use this number of rows per band; requires --bands or --num-hashes.",
)
@shared.option(
    shared.MATCHING,
    "--rule",
    type=click.Choice(RULES),
    help="Choose the bands by a classical rule, not by recall.",
)
@shared.option(
    shared.INPUT,
    "--documents",
    metavar="FILE",
    type=click.Path(),
    help="Suggest a shingle size for the documents of a file.",
)
@shared.option(
    shared.TEXT,
    "--unit",
    type=click.Choice(["char", "word"]),
    default="char",
    show_default=True,
    help="Unit of the shingles for --documents.",
)
@shared.json_option
@fields.column_options
@fields.text_options
def command(
    inputs: tuple[str, ...],
    threshold: float | None,
    recall: float,
    documents: str | None,
    unit: Literal["char", "word"],
    as_json: bool,
    **options: Any,
) -> int:
    """Show the bands chosen for a threshold and recall, and what they find at each similarity.

    A document's signature is divided into bands of rows. Two documents are compared if they have a band in common. A
    pair of similarity s is found with probability 1 - (1 - s^rows)^bands: the S-curve that is plotted.

    With INPUT, reads a sample of the documents and shows their similarities, the expected number of pairs and
    candidates, and whether bands or the exact join are cheaper. The bands are chosen for these documents.

    With --documents, suggests a shingle size that separates unrelated documents, measured on random pairs.
    """
    read = {name: options.pop(name) for name in READ_OPTIONS}
    if documents is not None:
        refuse_others(inputs, ["threshold", "recall", *options])
        advise(documents, column_of(read["text"]), unit, as_json)
        return 0
    if shared.given(*ADVICE_OPTIONS):
        raise click.UsageError("--unit requires --documents: name a file of texts.")
    from benzer.fields.schema import DEFAULT_THRESHOLD

    if not inputs:
        return curve(threshold or DEFAULT_THRESHOLD, recall, options, as_json)
    named = bool(shared.given(*BAND_OPTIONS))
    bands = choose(threshold or DEFAULT_THRESHOLD, recall, **options) if named else None
    planned = planning.planned(inputs, read, threshold, recall, options["num_hashes"], bands)
    if as_json:
        console.print_json({**answer(planned.bands, planned.threshold, recall), **planned.to_dict()})
        return 0
    planning.display(planned, named)
    display(planned.bands, planned.threshold, recall)
    return 0


def curve(threshold: float, recall: float, choice: dict[str, Any], as_json: bool) -> int:
    """Show what bands find, without documents."""
    if shared.given(*READ_OPTIONS):
        raise click.UsageError("input and text options require INPUT: name a file of documents.")
    bands = choose(threshold, recall, **choice)
    if as_json:
        console.print_json(answer(bands, threshold, recall))
    else:
        display(bands, threshold, recall)
    return 0


def column_of(text: tuple[str, ...]) -> str:
    """Return the text column to measure."""
    if len(text) > 1:
        raise click.UsageError("--documents supports one text column: give --text once.")
    return text[0] if text else "text"


def refuse_others(inputs: tuple[str, ...], names: list[str]) -> None:
    """Raise an error for INPUT and band options, which --documents does not use."""
    if inputs:
        raise click.UsageError("--documents and INPUT exclude each other: omit one of them.")
    if shared.given(*names):
        raise click.UsageError("--documents does not use bands: omit the band options.")


def advise(documents: str, column: str, unit: Literal["char", "word"], as_json: bool) -> None:
    """Print the suggested shingle size for the documents of a file, with the reason."""
    from benzer.advice import advise_shingle_size
    from benzer.fields import Schema
    from benzer.views.plans import usage

    reading = DocumentReader((documents,), {"text": column}, None, None, Schema())
    advice = advise_shingle_size(reading.texts(), unit)
    if as_json:
        console.print_json({"file": documents, **asdict(advice)})
        return
    console.display(str(advice))
    console.display()
    console.display(usage(documents, unit, advice.size))


def choose(threshold: float, recall: float, **choice: Any) -> Bands:
    """Return the bands by rule, by number or for the recall."""
    from benzer.bands import Bands

    return Bands.choose(threshold, recall, **choice)


def answer(bands: Bands, threshold: float, recall: float) -> dict[str, Any]:
    """Convert the choice to JSON values."""
    points = [{"similarity": float(s), "probability": float(p)} for s, p in bands.curve()]
    return {
        "threshold": threshold,
        "recall": recall,
        "bands": bands.bands,
        "rows": bands.rows,
        "num_values": bands.num_values,
        "probability_at_threshold": float(bands.probability(threshold)),
        "curve": points,
    }


def display(bands: Bands, threshold: float, recall: float) -> None:
    """Print the bands, the table and the plot."""
    from benzer.views.plans import bands_lines, curve_table

    for line in bands_lines(bands, threshold, recall):
        console.display(line)
    console.display()
    console.display(curve_table(bands, threshold))
    console.display()
    console.display(plot(bands, threshold, recall))


def plot(bands: Bands, threshold: float, recall: float) -> str:
    """Plot the S-curve with the threshold and the recall."""
    import plotext

    from benzer.views.plans import CURVE

    curve = bands.curve()
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plotsize(min(console.width(), 100), 18)
    plotext.plot([float(s) for s, _ in curve], [float(p) for _, p in curve], marker="braille")
    plotext.vline(threshold)
    plotext.hline(recall)
    plotext.xlim(0, 1)
    plotext.ylim(0, 1)
    plotext.xticks([tenth / 10 for tenth in range(11)])
    plotext.yticks([0, 0.25, 0.5, 0.75, 1])
    drawn = [line.rstrip() for line in str(plotext.uncolorize(plotext.build())).splitlines()]
    return "\n".join([CURVE, *filter(None, drawn)])
