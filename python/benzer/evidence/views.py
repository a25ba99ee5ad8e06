"""Divides passages into equal, different and surrounding parts for display."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from benzer.evidence.passages import Evidence, Passage
from benzer.wording import count, counted, whole_percent

Side = Literal["a", "b"]
Kind = Literal["around", "equal", "differs", "cut"]
UNITS = {"word": "words", "char": "characters", "value": "values"}
LEGEND = {"equal": "in both", "differs": "differs"}
"""What the colours of a text mean."""
CONTEXT, LONGEST = 60, 1_200


class Stretch(NamedTuple):
    """A part of a text with its kind; for a part that is left out, the number of its characters."""

    kind: Kind
    text: str


def stretches(
    text: str,
    passage: Passage,
    side: Side,
    context: int = CONTEXT,
    longest: int | None = LONGEST,
) -> list[Stretch]:
    """Return one side of a passage, with `context` characters around it.

    The middle of a passage of more than `longest` characters is left out.

    >>> passage = Passage((5, 16), (0, 9), 3, 2, ((9, 12, 4, 5),))
    >>> stretches("See: One two six. End.", passage, "a", context=5)
    [Stretch(kind='around', text='See: '), Stretch(kind='equal', text='One '), Stretch(kind='differs', text='two'),
     Stretch(kind='equal', text=' six'), Stretch(kind='around', text='. End…')]
    >>> stretches("One two six", Passage((0, 11), (0, 11), 3, 3, ()), "a", longest=8)
    [Stretch(kind='equal', text='One '), Stretch(kind='cut', text='3'), Stretch(kind='equal', text=' six')]
    """
    start, end = passage.a if side == "a" else passage.b
    before, after = max(0, start - context), min(len(text), end + context)
    stretches = [Stretch("around", ("…" if before else "") + text[before:start])]
    skip = (start + longest // 2, end - longest // 2) if longest and end - start > longest else (end, end)
    cut = False
    for kind, first, last in parts(passage, side):
        for low, high in ((first, min(last, skip[0])), (max(first, skip[1]), last)):
            if low >= skip[1] and not cut and skip[0] < skip[1]:
                stretches.append(Stretch("cut", str(skip[1] - skip[0])))
                cut = True
            if low < high:
                stretches.append(Stretch(kind, text[low:high]))
    stretches.append(Stretch("around", text[end:after] + ("…" if after < len(text) else "")))
    return [stretch for stretch in stretches if stretch.text]


def parts(passage: Passage, side: Side) -> Iterator[tuple[Kind, int, int]]:
    """Yield the equal and the different parts on one side of a passage, with their positions."""
    position, end = passage.a if side == "a" else passage.b
    for difference in passage.differences:
        start, stop = difference[:2] if side == "a" else difference[2:]
        if start < stop:
            yield "equal", position, max(position, start)
            yield "differs", max(position, start), stop
            position = stop
    yield "equal", position, end


def whole(text: str, passages: Sequence[Passage], side: Side) -> list[Stretch]:
    """Return a whole text with all passages in it; a part that is equal in one passage is shown as equal.

    >>> twice = [Passage((0, 3), (0, 3), 1, 1, ()), Passage((2, 9), (0, 7), 3, 2, ((4, 5, 2, 3),))]
    >>> [(kind, part) for kind, part in whole("one, two, three", twice, "a")]
    [('equal', 'one,'), ('differs', ' '), ('equal', 'two,'), ('around', ' three')]
    """
    equal_parts = [part for passage in passages for part in parts(passage, side)]
    stretches: list[Stretch] = []
    position = 0
    equal = merged([(start, end) for kind, start, end in equal_parts if kind == "equal"])
    differs = deque(merged([(start, end) for kind, start, end in equal_parts if kind == "differs"]))
    for start, end in [*equal, (len(text), len(text))]:
        while differs and differs[0][0] < start:
            low, high = max(position, differs[0][0]), min(start, differs[0][1])
            if low < high:
                stretches += [Stretch("around", text[position:low]), Stretch("differs", text[low:high])]
                position = high
            if differs[0][1] > start:
                break
            differs.popleft()
        stretches += [Stretch("around", text[position:start]), Stretch("equal", text[start:end])]
        position = end
    return [stretch for stretch in stretches if stretch.text]


def merged(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges without overlap, in order.

    >>> merged([(4, 6), (0, 2), (1, 3), (3, 4)])
    [(0, 6)]
    """
    out: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        elif start < end:
            out.append((start, end))
    return out


def headline(evidence: Evidence, a: str = "A", b: str = "B") -> str:
    """Describe how much of each document appears in the other.

    >>> from benzer.evidence.passages import find_passages
    >>> from benzer.fields import Text
    >>> headline(find_passages(Text(), "one two three four", "and one two three four"))
    '100 % of A appears in B, 80 % of B appears in A'
    """
    return (
        f"{whole_percent(evidence.coverage_a)} of {a} appears in {b}, "
        f"{whole_percent(evidence.coverage_b)} of {b} appears in {a}"
    )


def caption(number: int, passage: Passage, unit: str) -> str:
    """Describe the size of a passage and the number of differences inside.

    >>> caption(1, Passage((0, 11), (40, 52), 3, 2, ((8, 11, 48, 52),)), "word")
    'Passage 1: 2 words equal, 1 difference'
    """
    equal, differ = f"{count(passage.shared)} {UNITS[unit]} equal", len(passage.differences)
    differs = f", {counted(differ, 'difference')}" if differ else ""
    return f"Passage {number}: {equal}{differs}"


def nothing(evidence: Evidence) -> str:
    """Explain why there is no passage."""
    if evidence.unit == "value":
        common = evidence.shared_shingles
        if evidence.shared or not common:
            return "" if common else "No value in common."
        return f"{counted(common, 'value')} in common."
    count = evidence.shared_shingles
    shared = f", but {counted(count, 'shared shingle')}" if count else ""
    return "" if evidence.passages else f"No passage in common{shared}."
