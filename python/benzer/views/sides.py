"""Two documents of a run side by side, shortened to their differences."""

from __future__ import annotations

from dataclasses import dataclass

from benzer.evidence import Passage, find_passages
from benzer.evidence.views import Kind, Stretch, caption, headline, nothing
from benzer.fields import Text
from benzer.results import Duplicates
from benzer.views.evidence import EvidenceView, PassageView, SideView, view_of
from benzer.wording import brief, count, counted

PASSAGES = 3
AROUND = 60
"""Characters of context before and after a passage."""
EQUAL = 120
"""Characters of equal text shown on both sides of a difference; the rest is counted."""
LONGEST = 1500
"""Approximate maximum characters of one side of a passage."""


@dataclass(frozen=True)
class Sides:
    """Two documents side by side: the name of each field with its view.

    untold: the fields that cannot be shown, because only numbers of their contents are stored.
    """

    left_id: str | int
    right_id: str | int
    similarity: float
    fields: tuple[tuple[str, EvidenceView], ...]
    untold: tuple[str, ...]


def sides_of(result: Duplicates, left: int, right: int, similarity: float) -> Sides:
    """Two documents by position, side by side."""
    fields, untold = [], []
    ids = result.corpus.ids([left, right])
    for number, (name, field) in enumerate(result.settings.schema.fields.items()):
        texts = result.corpus.text(left, number), result.corpus.text(right, number)
        if not isinstance(field, Text):
            untold.append(name)
        elif texts[0] is not None and texts[1] is not None:
            fields.append((name, side_by_side(field, texts[0], texts[1], (brief(ids[0]), brief(ids[1])))))
    return Sides(ids[0], ids[1], similarity, tuple(fields), tuple(untold))


def side_by_side(field: Text, a: str, b: str, names: tuple[str, str]) -> EvidenceView:
    """The shared and different parts of two texts.

    Long equal parts are shortened, so that the differences are visible; the omitted characters are counted.

    >>> text = "one two three " * 100
    >>> view = side_by_side(Text(), text + "four", text + "five", ("a", "b"))
    >>> any("equal characters" in part.text for part in view.passages[0].sides[0].stretches)
    True
    """
    evidence = find_passages(field, a, b)
    passages = []
    for number, passage in enumerate(evidence.passages[:PASSAGES], 1):
        left, right = stretches(a, b, passage)
        sides = SideView("A", names[0], "", left), SideView("B", names[1], "", right)
        passages.append(PassageView(caption(number, passage, evidence.unit), sides))
    return view_of(headline(evidence), passages, len(evidence.passages), (), note=nothing(evidence))


def stretches(a: str, b: str, passage: Passage) -> tuple[list[Stretch], list[Stretch]]:
    """Both sides of a passage, split at the same places into segments with their kind.

    >>> text = "word " * 100
    >>> left, right = stretches(text, text, Passage((0, 499), (0, 499), 100, 100, ()))
    >>> left == right, [(kind, len(part)) for kind, part in left]
    (True, [('equal', 119), ('cut', 26), ('equal', 119), ('around', 1)])
    """
    sides = Side(a, passage.a[0]), Side(b, passage.b[0])
    for side in sides:
        side.before()
    ends = [*passage.differences, (passage.a[1], passage.a[1], passage.b[1], passage.b[1])]
    for place, (*first, third, fourth) in enumerate(ends):
        if max(item.spent for item in sides) > LONGEST:
            left = len(ends) - 1 - place
            for side, end in zip(sides, (passage.a[1], passage.b[1]), strict=True):
                side.stop(end, left)
            break
        for side, (start, end) in zip(sides, ((first[0], first[1]), (third, fourth)), strict=True):
            side.equal(start)
            side.differs(end)
    for side in sides:
        side.behind()
    return sides[0].pieces, sides[1].pieces


class Side:
    """One side of a passage while it is split into segments; `at` is the current position."""

    def __init__(self, text: str, position: int) -> None:
        self.text, self.position, self.spent = text, position, 0
        self.pieces: list[Stretch] = []

    def add(self, kind: Kind, piece: str) -> None:
        """Add a segment unless it is empty."""
        if piece:
            self.pieces.append(Stretch(kind, piece))
            self.spent += len(piece)

    def before(self) -> None:
        """Add the context before the passage."""
        self.add(
            "around",
            "…" * (self.position > AROUND) + self.text[max(0, self.position - AROUND) : self.position],
        )

    def behind(self) -> None:
        """Add the context after the passage."""
        self.add(
            "around",
            self.text[self.position : self.position + AROUND]
            + "…" * (len(self.text) > self.position + AROUND),
        )

    def equal(self, end: int) -> None:
        """Add equal text up to `end`; of a long text only both ends, in whole words if possible."""
        piece, self.position = self.text[self.position : end], max(self.position, end)
        if len(piece) <= 2 * EQUAL + 20:
            self.add("equal", piece)
            return
        head, tail = piece[:EQUAL], piece[-EQUAL:]
        head = head[: head.rfind(" ")] if " " in head[EQUAL // 2 :] else head
        tail = tail[tail.find(" ") + 1 :] if " " in tail[: EQUAL // 2] else tail
        self.add("equal", head)
        self.add("cut", f" … {count(len(piece) - len(head) - len(tail))} equal characters … ")
        self.add("equal", tail)

    def differs(self, end: int) -> None:
        """Add different text up to `end`."""
        piece, self.position = self.text[self.position : end], max(self.position, end)
        self.add("differs", piece[:LONGEST] + "…" * (len(piece) > LONGEST))

    def stop(self, end: int, differences: int) -> None:
        """Omit the rest of the passage and count it."""
        said = f"{count(end - self.position)} more characters, with {counted(differences, 'more difference')}"
        self.add("cut", f" … {said} …")
        self.position = end
