"""The guaranteed and the measured recall in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from benzer.bands import Bands
from benzer.fields import Schema
from benzer.results.settings import Settings
from benzer.wording import count, counted, percentage, ratio, rounded, setting

STEPS = (-0.1, 0.05, 0.1)
"""Offsets from the threshold of the other points of the S-curve in a forecast."""


def found_with(threshold: float, probability: float, bands: tuple[int, int]) -> Markup:
    """The probability that a pair at the threshold is found.

    >>> found_with(0.8, 0.9518, (10, 6)).striptags()
    'A pair at 0.80 is found with probability 0.952 by 10 bands of 6 rows'
    """
    return Markup(
        "A pair at <strong>{}</strong> is found with probability <strong>{}</strong> by {} of {}"
    ).format(setting(threshold), ratio(probability), counted(bands[0], "band"), counted(bands[1], "row"))


def guaranteed(threshold: float, probability: float | None, bands: tuple[int, int] | None) -> Markup:
    """Describe the guarantee for a pair at the threshold; without bands all pairs are found.

    >>> guaranteed(0.8, None, None).striptags()
    'Every pair at 0.80 and above is found: the exact method misses no pair.'
    """
    if probability is None or bands is None:
        return Markup("Every pair at {} and above is found: the exact method misses no pair.").format(
            setting(threshold)
        )
    return found_with(threshold, probability, bands) + ", more similar pairs with a higher probability."


def notes_of(settings: Settings, oversized: int) -> list[str]:
    """What else matters for the recall of a run: large buckets, older indexes, and the choice of the method."""
    notes = []
    if oversized:
        buckets = counted(oversized, "bucket")
        notes.append(f"{buckets} above the limit: pairs of two removed documents in them are not listed.")
    if settings.against:
        recall = setting(settings.recall)
        names = ", ".join(settings.against)
        notes.append(f"A match in {names} is found with probability {recall} or more.")
    return notes if settings.reason is None else [*notes, f"Method: {settings.reason}."]


def measured(recall: Mapping[str, Any]) -> Markup:
    """The measured recall of a run, as `RecallEstimate.to_dict` returns it.

    >>> said = {"recall": 1.0, "exhaustive": True, "drawn": 12}
    >>> measured(said).striptags()
    'Measured recall: 1.000, exact: all near-duplicates of all 12 different contents were searched.'
    """
    if recall["recall"] is None:
        sampled = counted(recall["drawn"], "sampled document")
        return Markup("No near-duplicates among {}, so recall cannot be measured.").format(sampled)
    number = Markup("Measured recall: <strong>{}</strong>").format(ratio(recall["recall"]))
    if recall["exhaustive"]:
        contents = counted(recall["drawn"], "different content")
        return number + f", exact: all near-duplicates of all {contents} were searched."
    return number + (
        f", between {ratio(recall['low'])} and {rounded(recall['high'])} with "
        f"{percentage(recall['confidence'])} confidence."
    )


def sampled(recall: Mapping[str, Any]) -> str:
    """How the recall was measured; empty if there was nothing to measure."""
    if recall["recall"] is None:
        return ""
    tested = (
        ""
        if recall["exhaustive"]
        else (
            f"{count(recall['asked'])} of {count(recall['drawn'])} sampled documents have a near-duplicate. For each a "
            f"random near-duplicate was chosen; the run found {count(recall['found'])} of them. "
        )
    )
    return tested + (
        "Their neighbours were searched in the whole collection without bands. Identical documents are not counted: "
        "they are found by their hash."
    )


def pair_recall(recall: Mapping[str, Any], oversized: int = 0) -> str:
    """The recall over all pairs; empty if it is not known."""
    if recall["recall"] is None or recall["pair_recall"] is None:
        return ""
    estimated = "" if recall["exhaustive"] else "an estimated "
    predicted = "" if recall["predicted"] is None else f"; the S-curve predicted {ratio(recall['predicted'])}"
    said = f"The recall over all pairs is {estimated}{ratio(recall['pair_recall'])}{predicted}."
    if not oversized:
        return said
    return (
        f"{said} The S-curve does not apply to this run: {counted(oversized, 'bucket')} exceeded the limit, so not all "
        "of their pairs were compared."
    )


def promise(bands: Bands, threshold: float, schema: Schema | None = None) -> str:
    """The probability of finding a pair with some bands, for a terminal.

    >>> promise(Bands(8, 5), 0.8)
    'A pair at 0.80 is found with probability 0.958 by 8 bands of 5 rows'
    """
    probability = float(bands.probability(schema.band_threshold(threshold) if schema else threshold))
    return found_with(threshold, probability, (bands.bands, bands.rows)).striptags()


def forecast(
    threshold: float, recall: float, schema: Schema, bands: Bands | None, *, planned: bool = True
) -> str:
    """What a run will find: the S-curve near the threshold.

    Args:
        threshold: The threshold of the run.
        recall: The requested recall.
        schema: The fields.
        bands: The bands; None for the exact method.
        planned: Whether the method is known before the run.

    >>> forecast(0.8, 0.95, Schema(), Bands(10, 6))[66:]
    'ws, at 0.70 with 0.714, at 0.85 with 0.991, at 0.90 with 0.999'
    """
    if not planned:
        return f"A pair at {setting(threshold)} is found with probability {setting(recall)} or more"
    if bands is None:
        return guaranteed(threshold, None, None).striptags()
    others = [round(threshold + step, 4) for step in STEPS if 0 < threshold + step < 1]
    reached = [
        f"at {setting(position)} with {ratio(float(bands.probability(schema.band_threshold(position))))}"
        for position in others
    ]
    return ", ".join([promise(bands, threshold, schema), *reached])
