"""Finds all documents of a corpus that are contained in others, by an exact join."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.bands import Bands
from benzer.candidates import identical
from benzer.checks import check_threads, check_threshold
from benzer.errors import SettingsError
from benzer.exact import contained_pairs
from benzer.fields import Schema, Text
from benzer.fields.base import Field, has_own_similarity
from benzer.fields.schema import check_schema
from benzer.minhash import MinHash
from benzer.pipeline.options import Options, chosen
from benzer.pipeline.reading import Read, read
from benzer.sketcher import Sketcher
from benzer.tables import atomic_write, check_destination, write_table

Positions = NDArray[np.uint32]
Progress = Callable[[str, int, int | None], object]


class Contained(NamedTuple):
    """A document, another one that contains it, and the exact share of its elements that the other has."""

    contained_id: str | int
    containing_id: str | int
    containment: float


@dataclass(frozen=True, eq=False)
class Containments:
    """The result of `find_contained`: which documents are contained in which others.

    Attributes:
        left: The contained document of each pair, by position, ascending (uint32). Of identical documents only the
            first is used.
        right: The document that contains it (uint32).
        share: The share of the left document's elements that the right one has (float64).
        stands_for: For each document, the first one with the same content, or itself (uint32, n).
        short: Documents with fewer words than a shingle (bool, n). Each is one shingle of its own length, so it is
            contained only in documents of exactly these words. A smaller `shingle_size` compares them.
        empty: Documents without elements (bool, n), which are in no pair.
        timings: Seconds per stage.

    >>> found = find_contained({"quote": "to be or not to be", "play": "To be, or not to be, that is it"})
    >>> found.pairs()
    [Contained(contained_id='quote', containing_id='play', containment=1.0)]
    """

    threshold: float
    schema: Schema
    reading: Read = field(repr=False)
    left: Positions = field(repr=False)
    right: Positions = field(repr=False)
    share: NDArray[np.float64] = field(repr=False)
    stands_for: Positions = field(repr=False)
    short: NDArray[np.bool_] = field(repr=False)
    empty: NDArray[np.bool_] = field(repr=False)
    timings: dict[str, float] = field(repr=False)

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[Contained]:
        return iter(self.pairs())

    def pairs(self, copies: bool = False) -> list[Contained]:
        """Return the pairs as ids, in the order of the input.

        Args:
            copies: Also list the pairs among and with identical documents, whose number is quadratic.
        """
        contained, containing, share = self.table(copies).values()
        return list(map(Contained, contained, containing, share.tolist()))

    def table(self, copies: bool = False) -> dict[str, Any]:
        """Return the columns of the table of pairs: ids, and the containment (float64).

        Args:
            copies: As in `pairs`.
        """
        left, right, share = self._expanded() if copies else (self.left, self.right, self.share)
        ids = self.reading.corpus.ids
        return {"contained_id": ids(left), "containing_id": ids(right), "containment": share}

    @property
    def copies(self) -> dict[str | int, str | int]:
        """Each document that is identical to an earlier one, with the first such document."""
        later = np.flatnonzero(self.stands_for != np.arange(len(self.stands_for))).astype(np.uint32)
        ids = self.reading.corpus.ids
        return dict(zip(ids(later), ids(self.stands_for[later]), strict=True))

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of documents: all, short, empty, copies, contained in others, and containing others."""
        return {
            "read": sum(report.rows_read for report in self.reading.reports),
            "malformed": len(self.malformed),
            "documents": len(self.stands_for),
            "short": int(self.short.sum()),
            "empty": int(self.empty.sum()),
            "copies": int((self.stands_for != np.arange(len(self.stands_for))).sum()),
            "pairs": len(self.left),
            "contained": len(np.unique(self.left)),
            "containing": len(np.unique(self.right)),
        }

    @property
    def malformed(self) -> list[Any]:
        """The skipped malformed rows."""
        return [row for report in self.reading.reports for row in report.malformed]

    def summary(self) -> dict[str, Any]:
        """Return counts, settings and times as JSON values."""
        return {
            "counts": self.counts,
            "settings": {"threshold": self.threshold, "schema": self.schema.to_dict()},
            "timings": self.timings,
        }

    def write(
        self,
        path: str | Path,
        tables: Literal["jsonl", "parquet"] = "jsonl",
        replace: bool = False,
        copies: bool = False,
    ) -> int:
        """Write the table of pairs to a file, completely or not at all.

        Args:
            path: The file.
            tables: Format of the table.
            replace: Whether to replace an existing file.
            copies: As in `pairs`.

        Returns:
            The number of rows.

        Raises:
            OutputError: The file exists or cannot be written.
        """
        check_destination([source.path for source in self.reading.sources if source.path is not None], path)
        with atomic_write(path, replace=replace) as partial:
            return write_table(partial, self.table(copies), tables)

    def _expanded(self) -> tuple[Positions, Positions, NDArray[np.float64]]:
        """Return all ordered pairs with those of copies, ascending."""
        order = np.argsort(self.stands_for, kind="stable").astype(np.uint32)
        starts = np.searchsorted(self.stands_for[order], np.arange(len(order) + 1))
        families = {entry: order[start:end] for entry, (start, end) in enumerate(pairwise(starts.tolist()))}
        alone = np.diff(starts) == 1
        plain = alone[self.left] & alone[self.right]
        parts = [(self.left[plain], self.right[plain], self.share[plain])]
        crossed = zip(
            self.left[~plain].tolist(), self.right[~plain].tolist(), self.share[~plain], strict=True
        )
        for a, b, share in crossed:
            ones, others = families[a], families[b]
            pairs = np.repeat(ones, len(others)), np.tile(others, len(ones))
            parts.append((*pairs, np.full(len(pairs[0]), share)))
        for item in np.flatnonzero(np.diff(starts) > 1).tolist():
            family = families[item]
            ones, others = np.repeat(family, len(family)), np.tile(family, len(family))
            apart = ones != others
            parts.append((ones[apart], others[apart], np.ones(int(apart.sum()))))
        left, right, share = (np.concatenate(column) for column in zip(*parts, strict=True))
        places = np.lexsort((right, left))
        return left[places], right[places], share[places]


def find_contained(
    source: Any,
    *,
    threshold: float = 0.8,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    options: Options | None = None,
) -> Containments:
    """Find the documents that are contained in others: quotations, nested pages, joinable columns.

    Finds all pairs with exact containment by a join of the sets (`benzer.exact`), so the recall is 1. Uses 8 bytes of
    memory per shingle. The rarest elements of each document are searched in all others; this takes longer for lower
    thresholds and more common elements. Other arguments are those of `benzer.find_duplicates`.

    Args:
        source: Paths, globs, folders, "-", tables, or documents.
        threshold: Minimum share of a document's elements (shingles, values) that the other has, in (0, 1].
        schema: A schema with one text or value set. Defaults to a text.
        threads: Number of threads; 0 uses all cores. Does not affect the result.
        options: Rarely changed settings. Only `on_error`, `format` and `encoding` have an effect.

    Returns:
        The pairs and counts.

    Raises:
        SettingsError: A setting is out of range.
        InputError: The input cannot be read.
        MalformedRowError: A row is malformed and `on_error` is "stop".
        DuplicateIdError: Two documents have the same id and `on_duplicate_id` is "stop".

    >>> from benzer.fields import ValueSet
    >>> sets = [{"id": "small", "values": [1, 2, 3, 4]}, {"id": "large", "values": [1, 2, 3, 5, 6, 7]}]
    >>> find_contained(sets, schema=Schema(values=ValueSet()), threshold=0.7).pairs()
    [Contained(contained_id='small', containing_id='large', containment=0.75)]
    """
    started = perf_counter()
    schema = schema if schema is not None else Schema()
    check(schema, threshold)
    check_threads(threads)
    timings: dict[str, float] = {}

    def end(stage: str) -> None:
        timings[stage] = perf_counter() - started - sum(timings.values())
        if progress is not None:
            progress(stage, 1, 1)

    reading = read(source, schema, text, id, chosen(options), None, threads)
    end("read")
    sketcher = Sketcher(schema, MinHash(num_hashes=1), Bands(1, 1))
    sketches = sketcher.sketch(reading.corpus, threads)
    rank = np.arange(len(reading.corpus), dtype=np.uint32)
    stands_for = identical(reading.corpus, sketches.content, sketches.empty, rank, threads)
    end("sketch")
    taking_part = (stands_for == rank) & ~sketches.empty
    pairs = contained_pairs(reading.corpus, 0, threshold, taking_part, threads)
    end("join")
    return Containments(
        threshold=threshold,
        schema=schema,
        reading=reading,
        left=pairs.left,
        right=pairs.right,
        share=pairs.containment,
        stands_for=stands_for,
        short=sketcher.short(sketches),
        empty=sketches.empty,
        timings={**timings, "total": perf_counter() - started},
    )


def check(schema: Any, threshold: Any) -> None:
    """Raise an error for settings without a meaning, before the input is read."""
    check_schema(schema)
    if len(schema.fields) != 1:
        names = ", ".join(schema.fields)
        raise SettingsError(
            f"containment requires a schema with one field, got {len(schema.fields)} ({names}): use only one"
        )
    (item,) = schema.fields.values()
    if not has_parts(item):
        raise SettingsError(f"containment supports texts and value sets, got a field of kind {item.kind}")
    check_threshold(threshold)


def has_parts(item: Field) -> bool:
    """Whether a field consists of elements that can be in another document."""
    return isinstance(item, Text) or (item.kind == "values" and not has_own_similarity(item))
