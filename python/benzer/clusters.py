"""Decides which documents to keep. A document is removed only if it matches a kept one, never through a chain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import Deciding
from benzer.buckets import LargeBuckets
from benzer.errors import InputError, SettingsError

Positions = NDArray[np.uint32]
Compare = Callable[[Positions, Positions], NDArray[np.float64]]
Families = Callable[[Positions, LargeBuckets, Positions, float], tuple[Any, Any, Any, Any]]
"""Compares the documents of large buckets; see `benzer.families.Families`."""
NO_BUCKETS = LargeBuckets()
PLAIN = ("first", "last", "longest")
BY_COLUMN = ("largest", "smallest", "priority")
RULES = "first, last, longest, largest:COLUMN, smallest:COLUMN, priority:COLUMN=a,b or source:A,B"


@dataclass(frozen=True)
class Keep:
    """The rule that selects which document of a cluster to keep.

    | rule | kept document |
    |---|---|
    | `first`, `last` | the first (last) one in the input |
    | `longest` | the one with the most characters (elements of value sets) in its fields |
    | `largest:COLUMN`, `smallest:COLUMN` | the one with the largest (smallest) number or text in a column |
    | `priority:COLUMN=a,b,c` | the one with the value listed first; other values come last |
    | `source:A,B,C` | the one from the source listed first; other sources come last |

    The first document in the input wins ties; documents without a value come last. With `first`, the order of the
    inputs is their priority. A source is named as given, by its file name, or by its file name without extensions.

    Args:
        rule: Name of the rule.
        column: Column of the rules `largest`, `smallest` and `priority`.
        order: Values of `priority`, or sources of `source`, in order of preference.

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
        """Parse a rule such as "largest:score".

        Args:
            text: A rule as in the table above, or a `Keep`, which is returned unchanged.

        Returns:
            The parsed rule.

        Raises:
            SettingsError: The rule does not exist or lacks its column or values.
        """
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
        """Return the rank of each source by a `source` rule; 0 for all sources with any other rule.

        Args:
            names: Names of the sources.

        Returns:
            The rank of each source, 0 for the preferred one.

        Raises:
            SettingsError: The rule names an unknown source.

        >>> Keep.parse("source:books,new.csv").source_places(["data/new.csv", "web.jsonl.zst", "old/books.jsonl.zst"])
        [1, 2, 0]
        """
        if self.rule != "source":
            return [0] * len(names)
        known = [{name, PurePath(name).name, PurePath(name).name.split(".")[0]} for name in names]
        for wanted in self.order:
            if not any(wanted in item for item in known):
                sources = ", ".join(names)
                raise SettingsError(f"keep {self} names an unknown source {wanted!r}: use {sources}")
        last = len(self.order)
        return [
            next((position for position, wanted in enumerate(self.order) if wanted in item), last)
            for item in known
        ]

    def rank(
        self,
        lengths: NDArray[np.uint64],
        extras: Sequence[bytes | None],
        places: NDArray[np.int64] | None = None,
    ) -> Positions:
        """Return the rank of each document in the keep order.

        Args:
            lengths: Length of each document.
            extras: Values of the rule's column as JSON.
            places: Rank of each document's source, for a `source` rule.

        Returns:
            Ranks (uint32, n), 0 for the document to prefer.
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
        values = [None if extra is None else parsed(extra) for extra in extras]
        if self.rule == "priority":
            places = {value: place for place, value in enumerate(self.order)}
            last = float(len(places))
            return np.array([places.get(_as_text(value), last) for value in values], dtype=np.float64)
        distinct = self._sorted({value for value in values if _ranks(value)})
        sign = -1.0 if self.rule == "largest" else 1.0
        place_of: dict[Any, int] = {value: place for place, value in enumerate(distinct)}
        return np.array([sign * place_of[v] if _ranks(v) else np.inf for v in values], dtype=np.float64)

    def _sorted(self, distinct: set[Any]) -> list[Any]:
        try:
            return sorted(distinct)
        except TypeError as error:
            raise self.mixed({type(value).__name__ for value in distinct}) from error

    def mixed(self, kinds: Iterable[str]) -> InputError:
        """Return the error for a column whose values have types that cannot be compared."""
        return InputError(
            f"keep {self} cannot rank column {self.column!r}, which contains {' and '.join(sorted(kinds))}: use one "
            f"type"
        )


def parsed(value: bytes) -> Any:
    """Return a JSON value; None for a value without an order: nested too deep, or a number with too many digits.

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
class ClusterDecision:
    """The outcome of each document, by position.

    Attributes:
        leader: The kept document of each document; itself if it is kept (uint32, n).
        similarity: The exact similarity to the leader; 1.0 for a kept document (float64, n).
        left: The left document of each pair at the threshold that is not among the given pairs (uint32).
        right: The right document of each such pair (uint32).
        score: The exact similarity of each such pair (float64).
        below: The number of pairs below the threshold that the second round compared.
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
    large: LargeBuckets = NO_BUCKETS,
    families: Families | None = None,
) -> ClusterDecision:
    """Decide which documents are kept, in the order of `rank`: those without a verified pair with an earlier kept one.

    Only documents that a new pair affects are decided again, so the cost grows with the documents and pairs once, and
    then with the pairs that are added.

    Args:
        rank: The position of each document in the keep order (uint32, n).
        stands_for: For each document, the one of lowest rank with the same content (uint32, n); only that one is in
            pairs.
        pairs: Candidates (left, right) with their exact similarity; those below the threshold only state that they
            have been compared.
        threshold: Minimum similarity of duplicates.
        compare: Returns the exact similarity of further pairs. In a second round, a kept document with a verified
            pair to a removed one is compared with the leader of that one, so that a missed candidate does not prevent
            a removal.
        large: Buckets whose pairs are not among `pairs`.
        families: Compares the documents of large buckets with the kept ones among them; required if there are any.
    """
    deciding = Deciding(rank, *pairs, threshold, stands_for, large.members, large.ends)
    compared: list[tuple[Positions, Positions, NDArray[np.float64]]] = []
    below = 0
    while True:
        left, right = deciding.wanted()
        if len(left):
            similarity = compare(left, right)
            similar = similarity >= threshold
            below += len(similar) - int(similar.sum())
            compared.append((left[similar], right[similar], similarity[similar]))
        elif families is not None and len(leaders := deciding.new_leaders()):
            left, right, similarity, led = families(rank, large, leaders, threshold)
            deciding.lead(led)
            compared.append((left, right, similarity))
        else:
            break
        deciding.add(left, right, similarity)
    leader, leader_similarity = deciding.outcome()
    none, nothing = np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.float64)
    left = np.concatenate([none, *(part[0] for part in compared)])
    right = np.concatenate([none, *(part[1] for part in compared)])
    score = np.concatenate([nothing, *(part[2] for part in compared)])
    return ClusterDecision(leader, leader_similarity, left, right, score, below)


def decide_unknown(
    known: NDArray[np.bool_],
    rank: Positions,
    stands_for: Positions,
    pairs: tuple[Positions, Positions, NDArray[np.float64]],
    threshold: float,
    compare: Compare,
    large: LargeBuckets = NO_BUCKETS,
    families: Families | None = None,
) -> ClusterDecision:
    """Apply `decide` to the documents that are not known (bool, n); known documents are in no cluster of this run.

    A known document is its own leader here. Known documents come last in the keep order, so that among documents with
    the same content, one that is not known represents the others.
    """
    if not known.any():
        return decide(rank, stands_for, pairs, threshold, compare, large, families)
    later = np.empty_like(rank)
    later[np.lexsort((rank, known))] = np.arange(len(rank), dtype=np.uint32)
    best = np.full(len(rank), len(rank), dtype=np.uint32)
    np.minimum.at(best, stands_for, later)
    represented_by = np.argsort(later).astype(np.uint32)[best[stands_for]]
    left, right, similarity = represented_by[pairs[0]], represented_by[pairs[1]], pairs[2]
    new = ~(known[left] | known[right])
    low, high = np.minimum(left, right)[new], np.maximum(left, right)[new]
    decision = decide(
        later, represented_by, (low, high, similarity[new]), threshold, compare,
        large.replaced(represented_by, known), families,
    )  # fmt: skip
    positions = np.arange(len(rank), dtype=np.uint32)
    return replace(
        decision,
        leader=np.where(known, positions, decision.leader).astype(np.uint32),
        similarity=np.where(known, 1.0, decision.similarity),
    )
