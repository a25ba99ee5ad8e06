"""Where in two texts does what they share stand?  Two columns for a terminal, every word marked.

The marks come from the shared shingles themselves: a word is green if it lies in one. To find them in the
text as it was written, it is cut into pieces which the field's own reader turns into tokens one by one.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text as Styled

from benzer.cli.console import count, printable

if TYPE_CHECKING:
    from benzer.fields import Text

SHARED, OWN = "green", "bold yellow"
LENGTH, LEAD = 1_500, 200
PAGE_WIDTH = 100  # where there is no terminal to ask
Tokens = Callable[[str], list[str]]


@dataclass(frozen=True)
class Piece:
    """A stretch of the text, and what the field reads there."""

    start: int
    end: int
    tokens: list[str]


def side_by_side(
    a: tuple[str, str], b: tuple[str, str], shared: Collection[str], rules: Text, full: bool = False
) -> Table:
    """Show two (name, text) next to each other; cut to what fits a screen unless `full`."""
    length = None if full else LENGTH
    shown = [marked(text, rules, set(shared), length) for _, text in (a, b)]
    table = Table(box=box.SIMPLE_HEAD, expand=True, show_footer=any(rest for _, rest in shown))
    if sys.stdout.isatty():
        table.caption = legend()
    else:
        table.width = PAGE_WIDTH
    for (name, _), (_, rest) in zip((a, b), shown, strict=True):
        table.add_column(printable(name), footer=Styled(rest, "dim"), ratio=1, overflow="fold")
    table.add_row(*(text for text, _ in shown))
    return table


def legend() -> Styled:
    """Say what the colours mean."""
    return Styled.assemble(("green", SHARED), ": in a shared shingle;  ", ("yellow", OWN), ": in none")


def marked(text: str, rules: Text, shared: Collection[str], length: int | None) -> tuple[Styled, str]:
    """Colour a text; also returns what to say of the part that is cut away.

    What is shown begins a little before the first shared word; line breaks within a paragraph become spaces.
    """
    pieces, glue = pieces_of(text, rules)
    places = shared_pieces(pieces, shared, rules.shingle_size or 1, glue)
    first = max(0, pieces[min(places)].start - LEAD) if places and length else 0
    last = first + length if length and len(text) > first + 1.2 * length else len(text)
    shown, position = Styled("… " if first else ""), first
    for place, piece in enumerate(pieces):
        if first <= piece.start and piece.end <= last:
            shown.append(gap(text[position : piece.start]))
            shown.append(gap(text[piece.start : piece.end]), SHARED if place in places else OWN)
            position = piece.end
    if last >= len(text):
        shown.append(gap(text[position:]))
        position = len(text)
    cut = len(text) - (position - first)
    return shown, f"… {count(cut)} more characters (--full shows all)" if cut else ""


def gap(text: str) -> str:
    """Make white space even: paragraphs stay apart, all else becomes one space.

    >>> gap("a\\n   b \\n\\n  c")
    'a b\\n\\nc'
    """
    return "\n\n".join(printable(re.sub(r"\s+", " ", part)) for part in re.split(r"\s*\n\s*\n\s*", text))


def pieces_of(text: str, rules: Text) -> tuple[list[Piece], str]:
    """Cut a text as its field reads it; also returns what joins the tokens of a shingle."""
    if rules.unit == "word":
        return word_pieces(text, rules.tokens), " "
    return character_pieces(text, lambda cluster: "".join(rules.tokens(cluster))), ""


def shared_pieces(pieces: list[Piece], shared: Collection[str], size: int, glue: str) -> set[int]:
    """Find the pieces that lie in a shared shingle.

    >>> pieces = [Piece(0, 1, ["a"]), Piece(2, 3, ["b"]), Piece(4, 5, ["c"])]
    >>> shared_pieces(pieces, {"b c"}, 2, " ")
    {1, 2}
    """
    tokens = [(token, place) for place, piece in enumerate(pieces) for token in piece.tokens]
    size = min(size, len(tokens)) or 1
    covered: set[int] = set()
    for start in range(len(tokens) - size + 1):
        run = tokens[start : start + size]
        if glue.join(token for token, _ in run) in shared:
            covered.update(place for _, place in run)
    return covered


def word_pieces(text: str, tokens: Tokens) -> list[Piece]:
    """Cut a text into its words; characters of a script without spaces are words of their own.

    >>> [piece.tokens for piece in word_pieces("Well-known!", lambda word: [word.lower()])]
    [['well'], ['known']]
    """
    stands_alone = cache(lambda character: len(tokens(character * 2)) == 2)
    return [Piece(start, end, tokens(text[start:end])) for start, end in word_spans(text, stands_alone)]


def word_spans(text: str, stands_alone: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    start = None
    alone = False
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        carries_on = kind[0] == "M" or kind == "Cf"
        if kind[0] in "LN":
            ends = alone or stands_alone(character)
            if start is not None and ends:
                yield start, place
            start = place if start is None or ends else start
            alone = stands_alone(character)
        elif start is not None and not carries_on:
            yield start, place
            start, alone = None, False
    if start is not None:
        yield start, len(text)


def character_pieces(text: str, normalized: Callable[[str], str]) -> list[Piece]:
    """Cut a text into characters with their marks; white space becomes one space, and none at the ends.

    >>> [piece.tokens for piece in character_pieces("A  b ", str.lower)]
    [['a'], [' '], ['b']]
    """
    pieces: list[Piece] = []
    for start, end in cluster_spans(text):
        read = normalized(text[start:end])
        if read.strip():
            pieces.append(Piece(start, end, list(read)))
        elif text[start:end].isspace() and pieces and pieces[-1].tokens != [" "]:
            pieces.append(Piece(start, end, [" "]))
    return pieces[:-1] if pieces and pieces[-1].tokens == [" "] else pieces


def cluster_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or unicodedata.category(text[place])[0] != "M":
            yield start, place
            start = place
