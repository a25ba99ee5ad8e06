"""E4: similarity of texts for several sizes of shingles (Bergillos and others 2018, figure 2).

The source compares 20 random orders of a text of 50 words, pair by pair, by their sets of character k-shingles. It
defines shingles of words but measures shingles of characters; both are computed here.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard
from benzer.experiments.base import (
    Cell,
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Scale,
    Series,
    table_of,
)
from benzer.experiments.made_texts import FIFTY_WORDS
from benzer.fields.text import Text

ORDERS = 20
SIZES = range(2, 21)
COLUMNS = ("unit", "shingle_size", "pairs", "mean", "median", "least", "greatest")
UNITS: tuple[Literal["char", "word"], ...] = ("char", "word")


def run(scale: Scale, seed: int) -> ExperimentResult:
    """Compute the Jaccard similarities of all 190 pairs, for k from 2 to 20; equal at both scales."""
    texts = orders_of(FIFTY_WORDS, ORDERS, seed)
    rows: list[list[Cell]] = []
    for unit in UNITS:
        for size in SIZES:
            measured = similarities(Text(unit=unit, shingle_size=size), texts)
            middle = (float(measured.mean()), float(np.median(measured)))
            rows.append([unit, size, len(measured), *middle, float(measured.min()), float(measured.max())])
    table = table_of(COLUMNS, rows)
    return ExperimentResult(
        name="E4",
        settings=f"a text of 50 words, {ORDERS} random orders of its words, exact similarity of all 190 pairs",
        published="The similarity falls with k; it is below 0.1 at k = 9, and about 0 above 12.",
        finding=finding(table),
        tables={"summary": summary(table), "similarities": table},
        figures={"similarities": figure(table)},
    )


def orders_of(text: str, count: int, seed: int) -> list[str]:
    """Return random orders of the words of a text.

    >>> len(orders_of("to be or not", 3, seed=0))
    3
    """
    rng = random.Random(seed)
    words = text.split()
    return [" ".join(rng.sample(words, len(words))) for _ in range(count)]


def similarities(field: Text, texts: list[str]) -> NDArray[np.float64]:
    """Return the exact similarity of each pair of texts (float64)."""
    offsets, hashes = field.sets(texts)
    pairs = np.array(list(combinations(range(len(texts)), 2)), dtype=np.uint32)
    return jaccard(offsets, hashes, pairs[:, 0].copy(), pairs[:, 1].copy(), 1)


def finding(table: ResultTable) -> str:
    """Describe the means at a few sizes."""
    char = dict(zip(*map(table.where(unit="char").column, ("shingle_size", "mean")), strict=True))
    word = dict(zip(*map(table.where(unit="word").column, ("shingle_size", "mean")), strict=True))
    return (
        f"Confirmed for shingles of characters: the mean is {char[2]:.2f} at k = 2, {char[5]:.2f} at 5, "
        f"{char[9]:.3f} at 9 and {char[13]:.3f} at 13. Shingles of words, as the source defines them, show "
        f"almost none of the words that all these texts share, even at k = 2: {word[2]:.3f}."
    )


def summary(table: ResultTable) -> ResultTable:
    """Return the mean similarities by size, one column for each unit."""
    return table.wide(["shingle_size"], "unit", "mean")


def figure(table: ResultTable) -> ExperimentFigure:
    """Draw mean and range by k."""

    def line(unit: str, label: str) -> Series:
        part = table.where(unit=unit)
        return part.series(
            label, "shingle_size", "mean", low=part.column("least"), high=part.column("greatest")
        )

    panel = Panel(
        "mean and range of 190 pairs", "shingle size $k$", "Jaccard similarity",
        (line("char", "characters"), line("word", "words")), y_from=0, level=(0.1, "0.1, as published at $k$ = 9"),
    )  # fmt: skip
    return ExperimentFigure("E4: similarity of random orders of one text", (panel,))
