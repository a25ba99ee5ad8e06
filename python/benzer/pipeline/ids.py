"""Repeated ids of a run: later documents are numbered, skipped, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus
from benzer.errors import DuplicateIdError, InputError
from benzer.sources import MalformedRow, ReadReport, Source
from benzer.sources.base import Keep, RepeatedIds

Positions = NDArray[np.uint32]
OnDuplicateId = Literal["number", "skip", "stop"]


class Settled(NamedTuple):
    """The sources and reports without the skipped documents, and the number of repeated ids."""

    sources: Sequence[Source]
    reports: Sequence[ReadReport]
    repeated: RepeatedIds


def settle(
    corpus: DocumentCorpus,
    sources: Sequence[Source],
    reports: Sequence[ReadReport],
    on_duplicate_id: OnDuplicateId = "number",
    threads: int = 0,
) -> Settled:
    """Make the ids of a corpus unique.

    Args:
        corpus: The documents, which are changed.
        sources: The sources that were read.
        reports: Their reports.
        on_duplicate_id: "number" gives each document with the id of an earlier one an id of source and row, "skip"
            removes it and reports it as a malformed row, "stop" raises an error.
        threads: Number of threads.

    Raises:
        DuplicateIdError: An id occurs twice and `on_duplicate_id` is "stop", or a generated id is also given.
    """
    first, later = corpus.repeated_ids(threads)
    if not len(later):
        return Settled(sources, reports, RepeatedIds(0, 0))
    if on_duplicate_id == "stop":
        raise duplicate_id(corpus, sources, first[0], later[0])
    same = (corpus.identities(first, threads) == corpus.identities(later, threads)).all(axis=1)
    repeated = RepeatedIds(len(later), int(same.sum()))
    if on_duplicate_id == "skip":
        skipped = _skipped(corpus, sources, first, later, same)
        parts, left = _without(corpus, sources, reports, later, skipped)
        corpus.remove(later)
        return Settled(parts, left, repeated)
    corpus.make_ids(later)
    first, later = corpus.repeated_ids(threads)
    if len(later):
        raise duplicate_id(corpus, sources, first[0], later[0])
    return Settled(sources, reports, repeated)


def _skipped(
    corpus: DocumentCorpus, sources: Sequence[Source], first: Positions, later: Positions, same: Any
) -> list[list[MalformedRow]]:
    """The skipped rows of each source."""
    numbers, rows = corpus.sources(), corpus.rows()
    skipped: list[list[MalformedRow]] = [[] for _ in sources]
    each = zip(first.tolist(), later.tolist(), corpus.ids(later), same.tolist(), strict=True)
    for before, position, document_id, alike in each:
        earlier = f"{sources[numbers[before]].name} row {rows[before]}"
        content = "the same content" if alike else "another content"
        reason = f"the id {document_id!r} is that of {earlier}, which has {content}"
        source = numbers[position]
        skipped[source].append(MalformedRow(sources[source].name, int(rows[position]), reason))
    return skipped


def _without(
    corpus: DocumentCorpus,
    sources: Sequence[Source],
    reports: Sequence[ReadReport],
    later: Positions,
    skipped: Sequence[Sequence[MalformedRow]],
) -> tuple[list[Source], list[ReadReport]]:
    """The sources and reports without the skipped documents."""
    stays, numbers = np.ones(len(corpus), dtype=np.bool_), corpus.sources()
    stays[later] = False
    parts: list[Source] = []
    left: list[ReadReport] = []
    for number, (source, report, rows) in enumerate(zip(sources, reports, skipped, strict=True)):
        parts.append(PartOfSource(source, stays[numbers == number]) if rows else source)
        malformed = sorted([*report.malformed, *rows], key=lambda row: row.row)
        left.append(replace(report, documents=report.documents - len(rows), malformed=malformed))
    return parts, left


@dataclass
class PartOfSource:
    """A source without its skipped documents."""

    source: Any
    stays: NDArray[np.bool_]

    def __post_init__(self) -> None:
        self.name: str = self.source.name
        self.suffix: str = self.source.suffix
        self.path: Path | None = self.source.path

    def read_into(self, *arguments: Any) -> ReadReport:
        """Raise an error: the source was read before."""
        raise InputError(f"{self.name} has been read already: open it again")

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """See `Source`."""
        return int(self.source.write_rows(self._of_all(keep), destination))

    def select(self, keep: Keep) -> Any:
        """See `benzer.sources.arrow.ArrowSource`."""
        return self.source.select(self._of_all(keep))

    def _of_all(self, keep: Keep) -> Keep:
        chosen = self.stays.copy()
        chosen[self.stays] = keep
        return chosen


def duplicate_id(
    corpus: DocumentCorpus, sources: Sequence[Source], first: int, later: int
) -> DuplicateIdError:
    """The error that names both places of an id."""
    numbers, rows = corpus.sources(), corpus.rows()
    places = " and ".join(
        f"{sources[numbers[position]].name} row {rows[position]}" for position in (first, later)
    )
    return repeated_error(corpus.ids([int(first)])[0], places)


def repeated_error(document_id: str | int, places: str) -> DuplicateIdError:
    """The error about an id that occurs in two places.

    >>> print(repeated_error(7, "a.jsonl row 1 and a.jsonl row 2"))
    the id 7 occurs in a.jsonl row 1 and a.jsonl row 2: make ids unique, or use --on-duplicate-id number or skip \
(on_duplicate_id), or --id none
    """
    return DuplicateIdError(
        f"the id {document_id!r} occurs in {places}: make ids unique, or use --on-duplicate-id number or skip "
        "(on_duplicate_id), or --id none"
    )
