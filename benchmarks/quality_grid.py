"""The settings that each engine tries: the same kinds of shingles for all, and each tool's own options.

The search has two rounds, so that it takes minutes: round one tries every kind of shingles, round two the best ones
with longer signatures (Benzer: with counted shingles). The search is the same for every engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.quality_sets import LabelledSet

Settings = dict[str, Any]
ENGINES = ("benzer", "datasketch", "rensa", "text-dedup")
LARGE = 30_000_000  # characters: fewer readings and bands
MANY = 10_000  # documents: nothing below a similarity of 0.4
SMALL = 1_000_000  # characters: low thresholds are affordable
FEW = 2_500  # documents: the lowest ones too
FLOORS = {
    "word1": 0.5, "word2": 0.3, "word3": 0.2, "word4": 0.16, "word5": 0.14,
    "char3": 0.5, "char4": 0.4, "char5": 0.3, "char6": 0.24, "char7": 0.2, "char8": 0.16, "char9": 0.14,
}  # fmt: skip
"""Benzer's lowest threshold for each reading: below it nearly all pairs are alike by chance."""

WORDS = ("word1", "word2", "word3", "word5")
LARGE_READINGS = ("word1", "word2", "word3", "word5", "char5")
MANY_READINGS = (*WORDS, "char3", "char5", "char7", "char9")


def readings(data: LabelledSet) -> tuple[str, ...]:
    """Words 1 to 5 and characters 3 to 9; fewer of them for sets of very long or very many texts."""
    if data.size > LARGE:
        return LARGE_READINGS
    return MANY_READINGS if len(data.texts) > MANY else tuple(FLOORS)


def round_one(engine: str, data: LabelledSet) -> list[Settings]:
    """Every kind of shingles, with 128 hashes if the length of signatures is an option."""
    return [one for reading in readings(data) for one in _of(engine, reading, 128, data)]


def round_two(engine: str, data: LabelledSet, best: Iterable[Settings]) -> list[Settings]:
    """The best of round one, with 256 hashes; Benzer with counted shingles, text-dedup at intermediate thresholds."""
    found = []
    for one in best:
        if engine == "text-dedup":
            found += [one | {"num_hashes": 256, "threshold": near} for near in _around(one["threshold"])]
        elif engine == "benzer":
            found += _of(engine, f"{one['reading']}-bags", 0, data)
        else:
            found += _of(engine, one["reading"], 256, data)
    return list({str(one): one for one in found}.values())


def _around(threshold: float) -> list[float]:
    """Thresholds near one, because text-dedup's result cannot be filtered afterwards."""
    return [near for step in (-2, -1, 0, 1, 2) if 0 < (near := round(threshold + 0.05 * step, 2)) < 1]


def _of(engine: str, reading: str, num_hashes: int, data: LabelledSet) -> Iterator[Settings]:
    if engine == "benzer":
        yield {"reading": reading, "threshold": _floor(reading, data), "recall": 0.99}
    elif engine == "datasketch":
        yield {"reading": reading, "num_hashes": num_hashes, "bands_for": _bands_for(data)}
    elif engine == "rensa":
        for rows in (4,) if len(data.texts) > MANY or data.size > LARGE else (4, 2):
            yield {"reading": reading, "num_hashes": num_hashes, "bands": num_hashes // rows}
    elif reading in (WORDS if data.size < SMALL else WORDS[1:]):  # text-dedup has words alone
        for threshold in _thresholds(data):
            for verify in (False, True):
                yield {
                    "ngram": int(reading[4:]),
                    "num_hashes": num_hashes,
                    "threshold": threshold,
                    "verify": verify,
                    "min_length": 1,
                }


def _floor(reading: str, data: LabelledSet) -> float:
    floor = FLOORS[reading.removesuffix("-bags")]
    if len(data.texts) > MANY:
        return max(floor, 0.4)
    return max(0.02 * round(25 * floor), 0.1) if len(data.texts) <= FEW and data.size < SMALL else floor


def _thresholds(data: LabelledSet) -> tuple[float, ...]:
    """Thresholds of text-dedup, whose result is final; round two tries intermediate ones."""
    if data.size > LARGE:
        return (0.6, 0.8)
    if len(data.texts) > MANY:
        return (0.5, 0.7)
    return (0.4, 0.6, 0.8) if data.size > SMALL else (0.2, 0.3, 0.4, 0.5, 0.7)


def _bands_for(data: LabelledSet) -> float:
    """A low threshold for datasketch's bands, so that nearly all pairs are filtered by their estimate alone."""
    if data.size > LARGE or len(data.texts) > MANY:
        return 0.5
    return 0.3 if data.size > SMALL else 0.2
