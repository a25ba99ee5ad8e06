"""Forged documents: texts and sets that are unlike each other and have the same content hash.

The content hash of a document is two sums modulo 2^64 over its shingle hashes, and sums are linear. In the text
`s s s (w s s s)*` each word `w` adds the same four shingles wherever it stands, so the sums depend on how often each
word occurs, and lattice reduction (LLL) finds numbers that give any sums. The set was found by a search for equal sums
in a tree (Wagner's generalized birthday attack). `forged.json` has what these found for the default recipe and seed 0:

| name | meaning |
|---|---|
| `victim`, `blocks` | a text, and how often each word of the forged text occurs, which has the sums of that text |
| `relations` | for each letter a number for each of its words; both signs have the same sums |
| `victim_set`, `forged_set` | two sets of integers with the same sums |
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "forged.json").read_text())

VICTIM: str = DATA["victim"]
VICTIM_SET: list[int] = DATA["victim_set"]
FORGED_SET: list[int] = DATA["forged_set"]
START = "s s s"


def blocks(counts: list[int], letter: str) -> str:
    """The text that each word adds as often as it is counted."""
    return "".join(f" {letter}{number} s s s" * count for number, count in enumerate(counts))


FORGED = START + blocks(DATA["blocks"], "w")
"""A text that shares no shingle with `VICTIM` and has its content hash."""


def equal_sums(count: int) -> list[str]:
    """Texts of equal content hash (at most 16,384), each pair with a similarity below 0.85.

    Each relation gives two pieces of text of the same sums; a text has one of them for each relation. An even number of
    second pieces keeps two texts apart in two relations at least.
    """
    return list(islice(_texts(), count))


def _texts() -> Iterator[str]:
    pieces = []
    for at, counts in enumerate(DATA["relations"]):
        letter = chr(ord("a") + at)
        pieces.append(
            [blocks([max(sign * count, 0) for count in counts], letter) for sign in (1, -1)],
        )
    for chosen in product((0, 1), repeat=len(pieces)):
        if sum(chosen) % 2 == 0:
            yield START + "".join(piece[side] for piece, side in zip(pieces, chosen, strict=True))
