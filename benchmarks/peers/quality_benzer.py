"""Benzer: `find_duplicates` at the lowest threshold of a kind of shingles, then the same result at every higher
one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from benchmarks.peers.quality_base import Answer, Collection, GaveUp, Settings
from benchmarks.quality_scores import STEPS
from benzer import Options, Schema, Text, find_duplicates
from benzer.presets import preset

MOST_CANDIDATES = 100_000_000
MANY_PAIRS = 20_000  # beyond them the leaders are decided at every third step only
READING = re.compile(r"(word|char)(\d+)(-bags)?")


def text_of(reading: str) -> Text:
    """The text settings of a kind of shingles: "word3", "char5", "char5-bags" (repetitions count).

    >>> text_of("char4-bags").shingle_size
    4
    """
    match = READING.fullmatch(reading)
    if match is None:
        raise ValueError(f"no reading {reading!r}")
    unit: Any = match[1]
    return Text(unit=unit, shingle_size=int(match[2]), frequencies=match[3] is not None)


def find(collection: Collection, settings: Settings, seed: int) -> Answer:
    found = find_duplicates(
        str(collection.folder / "texts.jsonl"), **arguments(settings), options=Options(seed=seed)
    )
    if found.counts["candidates"] > MOST_CANDIDATES:
        raise GaveUp(f"{found.counts['candidates']:,} candidate pairs")
    columns = found.expanded_pairs()
    steps = [step for step in STEPS if step >= found.threshold]
    if len(columns) > MANY_PAIRS:
        steps = steps[::3]
    leaders = tuple(("leaders", step, found.rethreshold(step).leader.astype(np.int64)) for step in steps)
    left, right = columns.left.astype(np.int64), columns.right.astype(np.int64)
    return Answer(left, right, columns.similarity, leaders, found.threshold)


def arguments(settings: Settings) -> dict[str, Any]:
    """The arguments of `find_duplicates`: a preset, or a kind of shingles with its lowest threshold."""
    if "preset" in settings:
        return preset(settings["preset"]).arguments()
    text = text_of(settings["reading"])
    return {"schema": Schema(text=text), "threshold": settings["threshold"], "recall": settings["recall"]}
