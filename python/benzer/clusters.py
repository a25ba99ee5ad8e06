"""Which documents belong together, and which stays? No chains: one goes only for one that stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import leaders
from benzer.errors import InputError, SettingsError

Positions = NDArray[np.uint32]
Compare = Callable[[Positions, Positions], NDArray[np.float64]]
PLAIN = ("first", "last", "longest")
BY_COLUMN = ("largest", "smallest", "priority")
RULES = "first, last, longest, largest:COLUMN, smallest:COLUMN, priority:COLUMN=a,b or source:A,B"


@dataclass(frozen=True)
class Keep:
    """Which document of a cluster stays: the first in the order that `rule` makes.

    | rule | stays |
    |---|---|
    | `first`, `last` | the one that comes first (last) in the input |
    | `longest` | the one of most bytes (elements of value sets) |
    | `largest:COLUMN`, `smallest:COLUMN` | that of the largest (smallest) number or text in a column |
    | `priority:COLUMN=a,b,c` | that whose column has the value named first; values not named come last |
    | `source:A,B,C` | that of the source named first; sources not named come last |

    Ties go to the one that comes first; a document without the value comes after all others. With `first` the order
    of the inputs is their priority. A source is named as it was given, or by its file's name, or that without endings.

    >>> Keep.parse("largest:score")
    Keep(rule='largest', column='score', order=())
    >>> Keep.parse("priority:source=books,web").order
    ('books', 'web')
    >>> Keep.parse("best")
    Traceback (most recent call last):
    benzer.errors.SettingsError: keep must be first, last, longest, largest:COLUMN, smallest:COLUMN, priority:COLUMN=a,b or source:A,B, got 'best'
    """  # noqa: E501

    rule: str = "first"
    column: str | None = None
    order: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str | Keep) -> Keep:
        """The policy that a rule describes."""
        if isinstance(text, Keep):
            return text
        rule, _, rest = text.partition(":")
        if rule == "source" and rest:
            return cls(rule, None, tuple(rest.split(",")))
        column, _, values = rest.partition("=")
        order = tuple(values.split(",")) if values else ()
        fits = (rule in PLAIN and not rest) or (
            rule in BY_COLUMN and column and (rule == "priority") == bool(order)
        )
        if not fits:
            raise SettingsError(f"keep must be {RULES}, got {text!r}")
        return cls(rule, column or None, order)

    def __str__(self) -> str:
        if self.rule == "source":
            return f"source:{','.join(self.order)}"
        values = f"={','.join(self.order)}" if self.order else ""
        return f"{self.rule}:{self.column}{values}" if self.column else self.rule

    def source_places(self, names: Sequence[str]) -> list[int]:
        """The place of each source in the order of a `source` rule; all are equal under any other rule.

        >>> Keep.parse("source:books,new.csv").source_places(["data/new.csv", "web.jsonl.zst", "old/books.jsonl.zst"])
        [1, 2, 0]
        """
        if self.rule != "source":
            return [0] * len(names)
        known = [{name, PurePath(name).name, PurePath(name).name.split(".")[0]} for name in names]
        for wanted in self.order:
            if not any(wanted in one for one in known):
                raise SettingsError(f"keep {self} names {wanted!r}, but the sources are {', '.join(names)}")
        last = len(self.order)
        return [next((at for at, wanted in enumerate(self.order) if wanted in one), last) for one in known]

    def rank(
        self,
        lengths: NDArray[np.uint64],
        extras: Sequence[bytes | None],
        places: NDArray[np.int64] | None = None,
    ) -> Positions:
        """The place (uint32, n) of each document in the keep order.

        extras: its column's values as JSON. places: for a `source` rule the place of each document's source.
        """
        positions = np.arange(len(lengths))
        if self.rule == "first":
            order = positions
        elif self.rule == "last":
            order = positions[::-1]
        elif self.rule == "longest":
            order = np.lexsort((positions, -lengths.astype(np.int64)))
        elif self.rule == "source":
            order = np.lexsort((positions, np.zeros(len(positions)) if places is None else places))
        else:
            order = np.lexsort((positions, self._keys(extras)))
        rank = np.empty(len(lengths), dtype=np.uint32)
        rank[order] = np.arange(len(lengths), dtype=np.uint32)
        return rank

    def _keys(self, extras: Sequence[bytes | None]) -> NDArray[np.float64]:
        found = [None if extra is None else parsed(extra) for extra in extras]
        if self.rule == "priority":
            places = {value: place for place, value in enumerate(self.order)}
            last = float(len(places))
            return np.array([places.get(_as_text(value), last) for value in found], dtype=np.float64)
        distinct = self._sorted({value for value in found if _ranks(value)})
        sign = -1.0 if self.rule == "largest" else 1.0
        place_of: dict[Any, int] = {value: place for place, value in enumerate(distinct)}
        return np.array([sign * place_of[v] if _ranks(v) else np.inf for v in found], dtype=np.float64)

    def _sorted(self, distinct: set[Any]) -> list[Any]:
        try:
            return sorted(distinct)
        except TypeError as error:
            raise self.mixed({type(value).__name__ for value in distinct}) from error

    def mixed(self, kinds: Iterable[str]) -> InputError:
        """The error for a column of several types, of which one cannot be compared with the others."""
        return InputError(
            f"keep {self} cannot rank column {self.column!r}, which holds {' and '.join(sorted(kinds))}: make them one "
            f"type"
        )


def parsed(value: bytes) -> Any:
    """A JSON value; None for one that nothing can be ranked by: nested too deep, or a number of too many digits.

    >>> parsed(b'"books"'), parsed(b"1" * 5000)
    ('books', None)
    """
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _ranks(value: Any) -> bool:
    return isinstance(value, (int, float, str)) and value == value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class Decision:
    """What became of each document, by position.

    leader: uint32, n: the document that stays for it; itself if it stays.
    similarity: float64, n: its exact similarity to that one; 1.0 for one that stays.
    left, right, score: pairs (uint32, uint32, float64) that the second look found beside those given.
    below: how many pairs the second look compared in vain.
    """

    leader: Positions
    similarity: NDArray[np.float64]
    left: Positions
    right: Positions
    score: NDArray[np.float64]
    below: int


def decide(
    rank: Positions,
    stands_for: Positions,
    pairs: tuple[Positions, Positions, NDArray[np.float64]],
    threshold: float,
    compare: Compare,
) -> Decision:
    """Decide who stays, in the order of `rank`: the documents without a verified pair to one that stays.

    stands_for: for each document the one of least rank with the same content (uint32, n), which alone is in
        pairs.
    pairs: candidates (left, right) with their exact similarity; those below the threshold only tell that they
        have been compared.
    compare: the exact similarity of further pairs. A document tied only to documents that go is compared with
        those that stay for them (the second look), so that a missed candidate costs no removal.
    """
    left, right, similarity = pairs
    given = len(left)
    while True:
        leader, leader_similarity, more_left, more_right = leaders(
            rank, left, right, similarity, threshold, stands_for
        )
        if not len(more_left):
            break
        left, right = np.concatenate((left, more_left)), np.concatenate((right, more_right))
        similarity = np.concatenate((similarity, compare(more_left, more_right)))
    left, right, similarity = left[given:], right[given:], similarity[given:]
    new = similarity >= threshold
    below = len(new) - int(new.sum())
    return Decision(leader, leader_similarity, left[new], right[new], similarity[new], below)


def decide_unknown(
    known: NDArray[np.bool_],
    rank: Positions,
    stands_for: Positions,
    pairs: tuple[Positions, Positions, NDArray[np.float64]],
    threshold: float,
    compare: Compare,
) -> Decision:
    """`decide` among the documents that are not known (bool, n): those that are stay for nobody, and nobody for them.

    A known document is its own leader here. Known documents come last in the keep order, so that of one content a
    document that is not known stands for the others.
    """
    if not known.any():
        return decide(rank, stands_for, pairs, threshold, compare)
    later = np.empty_like(rank)
    later[np.lexsort((rank, known))] = np.arange(len(rank), dtype=np.uint32)
    best = np.full(len(rank), len(rank), dtype=np.uint32)
    np.minimum.at(best, stands_for, later)
    asked = np.argsort(later).astype(np.uint32)[best[stands_for]]
    left, right, similarity = asked[pairs[0]], asked[pairs[1]], pairs[2]
    new = ~(known[left] | known[right])
    low, high = np.minimum(left, right)[new], np.maximum(left, right)[new]
    decision = decide(later, asked, (low, high, similarity[new]), threshold, compare)
    positions = np.arange(len(rank), dtype=np.uint32)
    return replace(
        decision,
        leader=np.where(known, positions, decision.leader).astype(np.uint32),
        similarity=np.where(known, 1.0, decision.similarity),
    )
