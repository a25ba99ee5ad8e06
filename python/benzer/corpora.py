"""The interface of a corpus: all documents of a run, by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import Contents
from benzer.document import FieldValue

Positions = NDArray[np.uint32]
Flags = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]


class DocumentCorpus(Protocol):
    """The documents of a run: the native corpus, or `benzer.corpus.DescribedCorpus`, which stores more kinds of fields.

    See `benzer.corpus.DescribedCorpus` for what each method returns. `threads`: 0 uses all cores.
    """

    def __len__(self) -> int: ...
    def name_source(self, source: int, name: str) -> None: ...
    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Iterable[str | int | None],
        fields: Sequence[Iterable[FieldValue]],
        extras: Sequence[bytes | None] | None = None,
    ) -> Sequence[tuple[int, str]] | None: ...
    def add_jsonl(
        self,
        *,
        source: int,
        name: str,
        path: str | None,
        data: bytes | None,
        columns: Sequence[str],
        id_column: str | None,
        id_required: bool,
        extra_column: str | None,
        first_row: int,
        stop_on_error: bool,
        threads: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[int, list[tuple[int, str]]]: ...
    def ids(self, positions: Positions | Sequence[int] | None = None) -> list[str | int]: ...
    def repeated_ids(self, threads: int = 0) -> tuple[Positions, Positions]: ...
    def make_ids(self, positions: Positions) -> None: ...
    def scope_ids(self) -> None: ...
    def remove(self, positions: Positions) -> None: ...
    def sources(self) -> NDArray[np.uint32]: ...
    def rows(self) -> NDArray[np.uint64]: ...
    def text(self, position: int, field: int) -> str | None: ...
    def extras(self) -> list[bytes | None]: ...
    def check_files(self) -> None: ...
    def lengths(self) -> NDArray[np.uint64]: ...
    def text_sizes(self, positions: Positions, threads: int) -> NDArray[np.uint64]: ...
    def text_lengths(self, positions: Positions, threads: int) -> NDArray[np.uint64]: ...
    def missing(self, field: int) -> Flags: ...
    def digest(self, threads: int = 0) -> bytes: ...
    def sketch(
        self,
        algorithm: str,
        family: str,
        num_hashes: int,
        seed: int,
        bands: int,
        rows: int,
        threads: int,
        progress: Callable[[int, int], object] | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> tuple[Hashes, Hashes, NDArray[np.uint32], NDArray[np.uint32]]: ...
    def identical(self, content: Hashes, empty: Flags, rank: Positions, threads: int = 0) -> Positions: ...
    def identities(self, positions: Positions, threads: int = 0) -> Hashes: ...
    def sample(self, count: int, seed: int, threads: int = 0) -> Positions: ...
    def sets(
        self, field: int, positions: Positions, threads: int = 0
    ) -> tuple[NDArray[np.int64], Hashes]: ...
    def exact_neighbours(
        self, queries: Positions, thresholds: Sequence[float], threads: int
    ) -> tuple[Positions, Positions]: ...
    def exact_pairs(
        self,
        thresholds: Sequence[float],
        taking_part: Flags,
        threads: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[Positions, Positions, Floats | None]: ...
    def contained_pairs(
        self, field: int, threshold: float, taking_part: Flags, threads: int
    ) -> tuple[Positions, Positions, Floats]: ...
    def batches(self, left: Positions, right: Positions, most: int) -> tuple[Positions, list[int]]: ...
    def compare_families(
        self,
        rank: Positions,
        members: Positions,
        ends: NDArray[np.int64],
        may_lead: Positions,
        threshold: float,
        weights: Sequence[float],
        threads: int,
    ) -> tuple[Positions, Positions, Floats, Positions]: ...
    def similarity(
        self, left: Positions, right: Positions, weights: Sequence[float], threads: int
    ) -> Floats: ...
    def contents(self, positions: Positions, threads: int) -> Contents: ...
