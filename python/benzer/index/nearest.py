"""Finds the nearest documents by a scan of sketches and exact comparison.

Each document has 128 bytes per field in memory, one for each value of a signature. The number of equal bytes of two
documents gives an upper bound for their similarity, at a chosen confidence. Documents are compared exactly in the
order of that bound, until no other one can be among the nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, lgamma, log, sqrt
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from benzer._native import equal_bytes, text_signatures
from benzer.checks import MOST_SEED, check_recall, check_threshold
from benzer.corpus import content_of
from benzer.document import Document
from benzer.fields.base import Field, has_own_similarity
from benzer.index.documents import Match, Query, check_limit
from benzer.minhash import MinHash
from benzer.sketcher import SketchedQuery, Sketcher
from benzer.storage import Storage

SLOTS = 128
"""Bytes of a sketch."""

_MISSING, _EMPTY, _PRESENT = 0, 1, 2
_READ_AT_ONCE = 2000
PROMISED = 0.1
"""The similarity from which the nearest are promised, where none is asked for."""

_FILLING = 1000  # documents below what is promised that are compared to fill an answer
_FIRST_PORTION, _LARGEST_PORTION = 64, 4096  # documents compared before the next look at what is left
_UNFILLED = np.uint32(2**32 - 1)  # the values of the signature of an empty set


@dataclass(frozen=True)
class NearestMatches(Sequence[Match]):
    """The nearest documents, best first; of equal similarity the one added earlier comes first.

    Attributes:
        matches: The matches.
        recall: Each true neighbour of at least `threshold` is among them with this probability or more; 1.0 if all
            documents that share anything were compared.
        compared: Number of documents that were compared exactly.
        documents: Number of documents of the index.
    """

    matches: Sequence[Match]
    recall: float
    compared: int
    documents: int
    threshold: float

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Match]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.matches[index]

    def __len__(self) -> int:
        return len(self.matches)


@dataclass(frozen=True)
class Column:
    """One field of all documents: sketches (uint8, n x 128), and whether it is missing, empty or present (uint8)."""

    sketches: NDArray[np.uint8]
    states: NDArray[np.uint8]

    def chosen(self, keep: NDArray[np.bool_]) -> Column:
        """Return some of the documents."""
        return Column(self.sketches[keep], self.states[keep])

    @classmethod
    def joined(cls, columns: Sequence[Column]) -> Column:
        """Concatenate columns."""
        sketches = np.concatenate([column.sketches for column in columns])
        return cls(sketches, np.concatenate([column.states for column in columns]))


class Scan:
    """The sketches of all documents of a collection, in the order of their numbers, as far as they were read.

    Takes 129 bytes of memory per field of a document, and 8 per document. A pickled copy is empty at first.
    """

    def __init__(self, sketcher: Sketcher) -> None:
        self._sketcher = sketcher
        self._fields = list(sketcher.schema.fields.items())
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._sketcher,)

    def _forget(self) -> None:
        nothing = Column(np.empty((0, SLOTS), np.uint8), np.empty(0, np.uint8))
        self._columns = [nothing for _ in self._fields]
        self._numbers = np.empty(0, np.int64)
        self._undone = 0

    def find(
        self,
        storage: Storage,
        query: Query,
        limit: int | None,
        threshold: float | None,
        recall: float,
        threads: int,
    ) -> NearestMatches:
        """Return the nearest documents. The first call reads the whole collection, a later one only new documents."""
        least = PROMISED if threshold is None else threshold
        check_question(limit, least, recall)
        fills = threshold is None and limit is not None
        with storage.snapshot():
            self._read_on(storage, threads)
            numbers = self._numbers
            (question,) = self._sketcher.ask([query.document], threads=1)
            names = list(self._sketcher.schema.fields)
            best = _Best(question, names, limit, least, keeps=0.0 if fills else least)
            bounds = self._bounds(query.document, recall, threads)
            if bounds is None:  # an empty document is like no other
                return NearestMatches([], 1.0, 0, len(numbers), least)
            own = storage.numbers([query.document.id])[0] if query.identified else -1
            others = numbers != own
            compared = 0
            for some in _portions(_falling(np.flatnonzero(others & (bounds >= least)), bounds), bounds, best):
                best.take(numbers[some], storage.payloads(numbers[some]))
                compared += len(some)
            if fills and not best.full:  # then all that is promised was compared
                some = _falling(np.flatnonzero(others & (bounds < least)), bounds)[:_FILLING]
                best.take(numbers[some], storage.payloads(numbers[some]))
                compared += len(some)
            whole = compared >= int(others.sum())
            return NearestMatches(
                best.matches(storage), 1.0 if whole else recall, compared, len(numbers), least
            )

    def _read_on(self, storage: Storage, threads: int) -> None:
        """Sketch new documents, and leave out removed ones."""
        if storage.undone() != self._undone:  # what was removed may be back, and what was added is gone
            self._forget()
            self._undone = storage.undone()
        self._read_new(storage, threads)
        if len(self._numbers) > len(storage):  # numbers are never used again: the others were removed
            keep = storage.stored(self._numbers)
            self._numbers = self._numbers[keep]
            self._columns = [column.chosen(keep) for column in self._columns]

    def _read_new(self, storage: Storage, threads: int) -> None:
        numbers, columns = [self._numbers], [[column] for column in self._columns]
        last = int(self._numbers[-1]) if len(self._numbers) else -1
        for batch in storage.iterate(_READ_AT_ONCE, after=last):
            parts = zip(*(tuple(self._sketcher.parts(payload)) for payload in batch.payloads), strict=True)
            numbers.append(batch.numbers)
            for place, contents in enumerate(parts):
                columns[place].append(self._column(place, contents, threads))
        if len(numbers) > 1:
            self._numbers = np.concatenate(numbers)
            self._columns = [Column.joined(column) for column in columns]

    def _column(self, place: int, contents: Sequence[bytes | None], threads: int) -> Column:
        """Sketch a field of some documents. Each field has its own hash functions, so errors are independent."""
        field, seed = self._fields[place][1], (self._sketcher.minhash.seed + place) % (MOST_SEED + 1)
        minhash = MinHash(num_hashes=SLOTS, seed=seed)
        if field.reader is not None:
            how = (minhash.algorithm, minhash.family, SLOTS, seed, threads)
            signatures = text_signatures(field.reader, [content or b"" for content in contents], *how)
        else:
            signatures = minhash.signatures(*field.encoded_sets(contents), threads, hashed=True)
        states = np.where((signatures == _UNFILLED).all(axis=1), _EMPTY, _PRESENT).astype(np.uint8)
        states[[content is None for content in contents]] = _MISSING
        return Column(one_byte_each(signatures), states)

    def _bounds(self, document: Document, recall: float, threads: int) -> Bounds | None:
        """Return an upper bound for the similarity of each document; None for an empty query."""
        agreements = []
        empty = True
        for place, (name, field) in enumerate(self._fields):
            content = content_of(document, name)
            encoded = None if content is None else field.encode(content)
            query = self._column(place, [encoded], threads=1)
            empty &= query.states[0] != _PRESENT
            agreements.append(_agreement(field, query, self._columns[place], threads))
        return None if empty else upper_bounds(agreements, recall, SLOTS)


def check_question(limit: Any, threshold: Any, recall: Any) -> None:
    """Raise an error for an invalid number of matches, similarity or recall."""
    check_limit(limit)
    check_threshold(threshold, zero=True)
    check_recall(recall)


def _agreement(field: Field, query: Column, others: Column, threads: int) -> Agreement:
    state, theirs = query.states[0], others.states
    counts = (theirs != _MISSING) & ((theirs == _PRESENT) | (state == _PRESENT)) & (state != _MISSING)
    sketched = (theirs == _PRESENT) & (state == _PRESENT)
    equal = None if has_own_similarity(field) else equal_bytes(others.sketches, query.sketches[0], threads)
    return Agreement(np.where(counts, field.weight, 0.0), sketched, equal)


def one_byte_each(signatures: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return one byte for each value of signatures: different values have equal bytes with probability 1/256.

    >>> one_byte_each(np.array([[0, 1, 2]], np.uint32)).tolist()
    [[0, 158, 60]]
    """
    return (signatures * np.uint32(0x9E3779B1) >> np.uint32(24)).astype(np.uint8)


class _Best:
    """The best of the documents compared so far.

    Attributes:
        least: Documents below this similarity need not be compared.
        keeps: Compared documents are kept from this similarity on.
    """

    def __init__(
        self, question: SketchedQuery, names: Sequence[str], limit: int | None, least: float, keeps: float
    ) -> None:
        self._question, self._names, self._limit = question, names, limit
        self.least, self._keeps = least, keeps
        self._numbers = np.empty(0, np.int64)
        self._table = np.empty((0, 1 + len(names)))

    def take(self, numbers: NDArray[np.int64], payloads: Sequence[bytes]) -> None:
        """Compare documents exactly, and keep the best."""
        compared = self._question.similarities(payloads)
        table = np.concatenate((self._table, compared))
        numbers = np.concatenate((self._numbers, numbers))
        order = np.lexsort((numbers, -table[:, 0]))
        order = order[(table[order, 0] >= self._keeps) & (table[order, 0] > 0)][: self._limit]
        self._numbers, self._table = numbers[order], table[order]
        if self.full:
            self.least = max(self.least, float(self._table[-1, 0]))

    @property
    def full(self) -> bool:
        """Whether there are as many as requested."""
        return len(self._numbers) == self._limit

    def matches(self, storage: Storage) -> list[Match]:
        """Return the best documents with their ids."""
        ids, rows = storage.ids(self._numbers), self._table.tolist()
        return [
            Match(item, row[0], {name: s for name, s in zip(self._names, row[1:], strict=True) if s == s})
            for item, row in zip(ids, rows, strict=True)
        ]


def _falling(places: NDArray[np.int64], bounds: Bounds) -> NDArray[np.int64]:
    """Return positions by descending bound; for equal bounds the lower position comes first."""
    falling: NDArray[np.int64] = places[np.argsort(-bounds[places], kind="stable")]
    return falling


def _portions(order: NDArray[np.int64], bounds: Bounds, best: _Best) -> Iterator[NDArray[np.int64]]:
    """Yield documents to compare, the most promising first, as long as one can be among the best."""
    falling, start, size = -bounds[order], 0, _FIRST_PORTION
    while start < (end := int(np.searchsorted(falling, -best.least, "right"))):
        yield order[start : min(start + size, end)]
        start, size = start + size, min(2 * size, _LARGEST_PORTION)


CHANCE = 1 / 256
"""That two values which differ have one byte."""

Bounds = NDArray[np.float64]


class Agreement(NamedTuple):
    """The comparison of the sketches of one field of a query with all documents; each an array over the documents.

    Attributes:
        weight: The weight of the field in the similarity; 0 if one of the two lacks it, or both are empty (float64).
        sketched: Whether both are not empty, so that `equal` is meaningful; otherwise they share nothing (bool).
        equal: Number of equal bytes (uint16); None for a field with a similarity of its own.
    """

    weight: NDArray[np.float64]
    sketched: NDArray[np.bool_]
    equal: NDArray[np.uint16] | None


@lru_cache(maxsize=64)
def most_similar(recall: float, slots: int) -> Bounds:
    """Return upper bounds for the similarity of two sets whose sketches have 0, 1, ..., `slots` equal bytes (float64).

    This is the upper limit of Clopper and Pearson (Biometrika 26, 1934) for a binomial share, corrected for bytes
    that are equal by chance. Two sets of higher similarity have so few equal bytes with probability 1 - `recall` at
    most. This holds for independent values; those of "fast" signatures vary less.

    >>> [round(float(bound), 3) for bound in most_similar(0.999, 128)[[0, 64, 127, 128]]]
    [0.049, 0.636, 1.0, 1.0]
    """
    low, high = np.zeros(slots + 1), np.ones(slots + 1)
    for _ in range(60 if recall < 1 else 0):
        middle = (low + high) / 2
        likely = _tails(slots, middle) > 1 - recall
        low, high = np.where(likely, middle, low), np.where(likely, high, middle)
    bounds: Bounds = np.clip((high - CHANCE) / (1 - CHANCE), 0.0, 1.0)
    bounds[slots] = 1.0
    bounds.setflags(write=False)
    return bounds


def _tails(slots: int, shares: Bounds) -> Bounds:
    """Return P(X <= i) for X of the binomial distribution of `slots` and shares[i], for i from 0 to `slots`."""
    count = np.arange(slots + 1)
    chosen = np.array([lgamma(slots + 1) - lgamma(i + 1) - lgamma(slots - i + 1) for i in count.tolist()])
    share = np.clip(shares[:, None], 1e-300, 1 - 1e-16)
    each = np.exp(chosen + count * np.log(share) + (slots - count) * np.log1p(-share))
    tails: Bounds = np.where(count <= count[:, None], each, 0.0).sum(axis=1)
    return tails


def upper_bounds(fields: Sequence[Agreement], recall: float, slots: int) -> Bounds:
    """Return an upper bound for the similarity of each document (float64, n).

    A document exceeds it with probability 1 - `recall` at most. For one field this is `most_similar`. For several it
    is the inequality of Hoeffding (JASA 58, 1963) for their weighted mean, which requires sketches with independent
    hash functions per field.

    >>> said = Agreement(np.ones(2), np.array([True, False]), np.array([128, 0], np.uint16))
    >>> upper_bounds([said], 0.999, 128).tolist()
    [1.0, 0.0]
    """
    table = most_similar(recall, slots)
    if len(fields) == 1 and fields[0].equal is not None:
        compared = fields[0].sketched & (fields[0].weight > 0)
        return np.where(compared, table[fields[0].equal], 0.0)
    total, mean, alone, squares, number = (np.zeros(len(fields[0].weight)) for _ in range(5))
    for field in fields:
        total += field.weight
        if field.equal is None:
            mean, alone = mean + field.weight, alone + field.weight
            continue
        weight = np.where(field.sketched, field.weight, 0.0)
        mean += weight * (field.equal / slots - CHANCE) / (1 - CHANCE)
        alone += weight * table[field.equal]
        squares += weight**2
        number += weight > 0
    doubt = sqrt((-log(1 - recall) if recall < 1 else inf) / (2 * slots)) / (1 - CHANCE)
    spread = np.where(squares > 0, doubt * np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
    upper = np.where(number == 1, alone, mean + spread) / np.where(total > 0, total, 1.0)
    return np.clip(np.where(total > 0, upper, 0.0), 0.0, 1.0)
