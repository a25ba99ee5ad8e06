"""Finds the passages that two texts have in common and how much of each text they cover."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer._native import KnownText
from benzer.checks import is_number
from benzer.errors import SettingsError
from benzer.fields import Text

Place = tuple[int, int]
Difference = tuple[int, int, int, int]
LARGEST_GAP, MOST_TOKENS = 64, 1 << 32


@dataclass(frozen=True)
class Passage:
    """A part of both texts that is equal except for small changes.

    Attributes:
        a: Start and end in the first text, in code points of the original text: `text[start:end]` is the passage.
        b: Start and end in the second text.
        tokens: Number of its tokens in the first text; number of characters for a field of characters.
        shared: Number of those that the second text has too, in the same order.
        differences: The differences inside, in order: start and end in the first text, start and end in the second.
            A part that only one text has is empty in the other.
    """

    a: Place
    b: Place
    tokens: int
    shared: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Evidence:
    """The common content of two documents in one field.

    Attributes:
        passages: At most 1,000 common passages, those with most shared tokens first. The same words can be in several
            passages if one of the documents repeats them.
        more: Number of further passages, which are included in the coverage.
        coverage_a: Share of the first document's tokens (or values) that a passage shares with the second; 1.0 if it
            is empty.
        coverage_b: Share of the second document's tokens (or values) that a passage shares with the first.
        containment_a: Share of the first document's shingles that the second has; 1.0 if it is empty.
        containment_b: Share of the second document's shingles that the first has; 1.0 if it is empty.
        shared_shingles: Number of distinct shingles of both.
        shingles_a: Number of distinct shingles of the first document.
        shingles_b: Number of distinct shingles of the second document.
        unit: Type of tokens: "word", "char" or "value".
        shared: Common elements, for a field of values.

    >>> evidence = find_passages(Text(), "To be, or not to be: that", "to be or not to be, this")
    >>> evidence.passages[0].a, evidence.coverage_a == 6 / 7
    ((0, 19), True)
    """

    passages: tuple[Passage, ...]
    coverage_a: float
    coverage_b: float
    containment_a: float
    containment_b: float
    shared_shingles: int
    shingles_a: int
    shingles_b: int
    unit: Literal["word", "char", "value"] = "word"
    more: int = 0
    shared: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON values.

        >>> evidence = find_passages(Text(), "one two three", "two, one two three!")
        >>> evidence.to_dict()["passages"]
        ({'a': (0, 13), 'b': (5, 18), 'tokens': 3, 'shared': 3, 'differences': ()},)
        """
        return asdict(self)


def find_passages(
    field: Text, a: str | bytes, b: str | bytes, *, least_tokens: int | None = None, gap: int = 8
) -> Evidence:
    """Find the passages that two texts have in common, with their positions in the original texts.

    A passage has at least 3 equal words in a row (8 characters if the unit of the field is "char"), whatever the
    shingle size; it ends where more than `gap` tokens in a row differ. Takes linear time, about 0.3 s for two texts of
    a million characters.

    Args:
        field: How the texts are read.
        a: A text, or its UTF-8 bytes; positions count the code points of the decoded text.
        b: A text, or its UTF-8 bytes.
        least_tokens: Minimum number of shared tokens of a passage; None means 8 words or 40 characters, and half of
            the shorter text for short texts.
        gap: Maximum number of different tokens in a row inside a passage, up to 64.

    Returns:
        The passages, the coverage of both texts and the counts of shingles.

    Raises:
        SettingsError: An argument is out of range.

    >>> a = "Said he: the quick brown fox jumps over the lazy dog!"
    >>> b = "The quick brown fox leaps over the lazy dog."
    >>> [passage] = find_passages(Text(), a, b).passages
    >>> a[slice(*passage.a)], b[slice(*passage.b)], passage.shared
    ('the quick brown fox jumps over the lazy dog', 'The quick brown fox leaps over the lazy dog', 8)
    >>> [(a[i:j], b[k:l]) for i, j, k, l in passage.differences]
    [('jumps', 'leaps')]
    """
    shared = Sought(field, a).find_in(b, least_tokens=least_tokens, gap=gap)
    return Evidence(
        shared.passages,
        coverage_a=shared.coverage_a,
        coverage_b=shared.coverage_b,
        **in_common(*field.sets([a, b])),
        unit=field.unit,
        more=shared.more,
    )


class Shared(NamedTuple):
    """The passages that two texts share, and the share of each text that they cover; as in `Evidence`.

    Attributes:
        tokens: For each token of the first text, whether a passage shares it, listed or not (bool).
    """

    passages: tuple[Passage, ...]
    tokens: NDArray[np.bool_]
    coverage_a: float
    coverage_b: float
    more: int


class Sought:
    """A text whose passages are searched in many others: it is read once, not once for each.

    >>> sought = Sought(Text(), "Said he: the quick brown fox!")
    >>> [sought.find_in(other).coverage_a for other in ("the quick brown fox", "a fox", "he said")]
    [0.6666666666666666, 0.0, 0.0]
    """

    def __init__(self, field: Text, text: str | bytes) -> None:
        self._known = KnownText(field.reader, text)

    def find_in(self, other: str | bytes, *, least_tokens: int | None = None, gap: int = 8) -> Shared:
        """Return the result of `find_passages` for this text and another."""
        least = None if least_tokens is None else within("least_tokens", least_tokens, 1, MOST_TOKENS)
        gap = within("gap", gap, 0, LARGEST_GAP)
        rows, differences, tokens, counts, _ = self._known.passages(other, least, gap)
        starts = np.searchsorted(differences[:, 0], np.arange(len(rows) + 1))
        listed = [(i, j, k, m) for _, i, j, k, m in differences.tolist()]
        passages = tuple(
            Passage((row[0], row[1]), (row[2], row[3]), row[4], row[5], tuple(listed[start:end]))
            for row, start, end in zip(rows.tolist(), starts[:-1], starts[1:], strict=True)
        )
        return Shared(passages, tokens, share(counts[2], counts[0]), share(counts[3], counts[1]), counts[4])


def within(name: str, value: Any, low: int, high: int) -> int:
    """Return an integer; raise an error if it is out of bounds."""
    if not is_number(value) or value != int(value) or not low <= value <= high:
        raise SettingsError(f"{name} must be a whole number in {low}..{high}, got {value!r}")
    return int(value)


def in_common(offsets: Any, hashes: Any) -> dict[str, Any]:
    """Return the counts of the shared elements of two sets: the fields of `Evidence` by their names."""
    left, right = hashes[: offsets[1]], hashes[offsets[1] :]
    common = len(np.intersect1d(left, right, assume_unique=True))
    return {
        "containment_a": share(common, len(left)),
        "containment_b": share(common, len(right)),
        "shared_shingles": common,
        "shingles_a": len(left),
        "shingles_b": len(right),
    }


def share(part: int, whole: int) -> float:
    """Return the share of a part in a whole; 1.0 if both are 0."""
    return part / whole if whole else 1.0
