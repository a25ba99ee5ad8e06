from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__version__: str

TextArrays: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.bool_] | None]

def available_isas() -> list[str]: ...
def isa() -> str: ...
def set_isa(name: str | None) -> None: ...
def unicode_version() -> str: ...
def value_set_hash(value: str | int) -> int: ...
def value_sets(values: Iterable[Collection[str | int]]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]: ...

class TextReader:
    def __init__(
        self,
        *,
        unit: str,
        shingle_size: int,
        tokenizer: str,
        normalize: str,
        case: str,
        punctuation: str,
        whitespace: str,
        stop_words: Sequence[str],
        shingle_hash: str = "benzer",
        hash_bytes: int = 8,
        frequencies: bool = False,
    ) -> None: ...
    def tokens(self, text: str | bytes) -> list[str]: ...
    def shingles(self, text: str | bytes) -> list[str]: ...
    def shingle_hashes(self, text: str | bytes) -> NDArray[np.uint64]: ...
    def sets(
        self, texts: Iterable[str | bytes], threads: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]: ...

def winnowed(
    reader: TextReader, texts: Iterable[str | bytes], window: int, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]: ...
def token_spans(reader: TextReader, text: str | bytes) -> tuple[list[str], NDArray[np.int64]]: ...
def find_postings(
    keys: NDArray[np.uint64], pieces: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint32]]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

class Blocks:
    def __init__(self, room: int) -> None: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def missing(self, keys: NDArray[np.uint64], runs: Sequence[tuple[int, int]]) -> list[int]: ...
    def put(self, missing: Sequence[int], rows: Sequence[tuple[int, bytes, bytes]]) -> None: ...
    def search(
        self,
        keys: NDArray[np.uint64],
        runs: Sequence[tuple[int, int]],
        pieces: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint32]]],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

class Contents:
    def __init__(
        self,
        readers: Sequence[TextReader | Literal["values", "cells", "hashes"]],
        columns: Sequence[Sequence[bytes | None]],
        given: Mapping[int, tuple[NDArray[np.int64], NDArray[np.uint64]]] | None = None,
        threads: int = 1,
    ) -> None: ...
    def __len__(self) -> int: ...
    def sets(self, field: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]: ...
    def overlaps(
        self, others: Contents, left: NDArray[np.uint32], right: NDArray[np.uint32], threads: int = 1
    ) -> Overlaps: ...

class Overlaps:
    def __len__(self) -> int: ...
    @property
    def shared(self) -> NDArray[np.uint32]: ...
    @property
    def left_sizes(self) -> NDArray[np.uint32]: ...
    @property
    def right_sizes(self) -> NDArray[np.uint32]: ...
    def counted(self, field: int) -> NDArray[np.bool_]: ...
    def similarities(
        self, weights: Sequence[float], own: Mapping[int, NDArray[np.float64]] | None = None
    ) -> NDArray[np.float64]: ...
    def containments(self, weights: Sequence[float], of_right: bool = False) -> NDArray[np.float64]: ...

def cell_codes(description: bytes) -> NDArray[np.uint32]: ...

class Rules:
    def __init__(
        self,
        readers: Sequence[TextReader | Literal["values", "cells", "hashes"]],
        weights: Sequence[float],
        algorithm: str,
        family: str,
        num_hashes: int,
        seed: int,
        bands: int,
        rows: int,
    ) -> None: ...
    def ask(
        self,
        documents: Sequence[Sequence[str | bytes | None]],
        threads: int,
        given: Mapping[int, tuple[NDArray[np.int64], NDArray[np.uint64]]] | None = None,
    ) -> list[Question]: ...
    def file(
        self,
        documents: Sequence[Sequence[str | bytes | None]],
        threads: int,
        given: Mapping[int, tuple[NDArray[np.int64], NDArray[np.uint64]]] | None = None,
    ) -> tuple[list[bytes], NDArray[np.uint64]]: ...

class Question:
    @property
    def keys(self) -> NDArray[np.uint64]: ...
    def best(
        self, kept: Sequence[bytes], least: float, limit: int | None
    ) -> list[tuple[int, float, list[float] | None]]: ...
    def similarities(self, kept: Sequence[bytes]) -> NDArray[np.float64]: ...
    def overlaps(
        self,
        kept: Sequence[bytes],
        given: Mapping[int, tuple[NDArray[np.int64], NDArray[np.uint64]]] | None = None,
    ) -> Overlaps: ...

class KnownText:
    def __init__(self, reader: TextReader, text: str | bytes) -> None: ...
    def passages(
        self, other: str | bytes, least: int | None, gap: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], list[int], int]: ...

def string_hash(name: str, value: str | bytes, seed: int) -> int: ...
def string_hashes(name: str, values: Iterable[str | bytes], seed: int) -> NDArray[np.uint64]: ...
def murmur3_digest(value: str | bytes, seed: int) -> bytes: ...
def hash_parameters(
    family: str, range: int | None, count: int, seed: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...
def hash_values(
    family: str,
    elements: NDArray[np.uint64],
    count: int,
    *,
    range: int | None,
    seed: int,
    numbers: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None,
    threads: int,
) -> NDArray[np.uint64]: ...
def signatures(
    algorithm: str,
    family: str,
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    num_hashes: int,
    seed: int,
    threads: int,
    hashed: bool = True,
) -> NDArray[np.uint32]: ...
def text_signatures(
    reader: TextReader,
    texts: Iterable[str | bytes],
    algorithm: str,
    family: str,
    num_hashes: int,
    seed: int,
    threads: int,
) -> NDArray[np.uint32]: ...
def column_signatures(
    reader: TextReader,
    texts: TextArrays,
    algorithm: str,
    family: str,
    num_hashes: int,
    seed: int,
    threads: int,
) -> NDArray[np.uint32]: ...
def merge_signatures(algorithm: str, a: NDArray[np.uint32], b: NDArray[np.uint32]) -> NDArray[np.uint32]: ...
def estimate(algorithm: str, a: NDArray[np.uint32], b: NDArray[np.uint32]) -> NDArray[np.float64]: ...
def equal_bytes(rows: NDArray[np.uint8], one: NDArray[np.uint8], threads: int) -> NDArray[np.uint16]: ...
def band_keys(signatures: NDArray[np.uint32], bands: int, rows: int, field: int) -> NDArray[np.uint64]: ...
def candidate_pairs(
    keys: NDArray[np.uint64],
    bucket_limit: int | None,
    threads: int,
    taking_part: NDArray[np.bool_] | None = None,
    at_once: int = 0,
    by_band: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64], int]: ...
def usual_limit(sizes: list[int], entries: int) -> int: ...
def deal_keys(
    keys: NDArray[np.uint64],
    numbers: NDArray[np.int64],
    first_band: int,
    after_band: int,
    parts: int,
    bucket_limit: int,
) -> tuple[
    NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]
]: ...
def without_hot(
    keys: NDArray[np.uint64], numbers: NDArray[np.int64], bucket_limit: int, hot: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint64]]: ...
def buckets_of(
    keys: NDArray[np.uint64], numbers: NDArray[np.int64], bucket_limit: int, hot: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]: ...
def pairs_within(
    members: NDArray[np.int64], ends: NDArray[np.int64], first: int, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]: ...
def deal_pairs(
    left: NDArray[np.int64], right: NDArray[np.int64], parts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def distinct_pairs(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def jaccard(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    threads: int,
) -> NDArray[np.float64]: ...
def exact_join(
    offsets: NDArray[np.int64], hashes: NDArray[np.uint64], threshold: float, threads: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]: ...
def contained(
    offsets: NDArray[np.int64], hashes: NDArray[np.uint64], threshold: float, threads: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]: ...
def components(count: int, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.uint32]: ...

class Deciding:
    def __init__(
        self,
        rank: NDArray[np.uint32],
        left: NDArray[np.uint32],
        right: NDArray[np.uint32],
        similarity: NDArray[np.float64],
        threshold: float,
        stands_for: NDArray[np.uint32],
        members: NDArray[np.uint32],
        ends: NDArray[np.int64],
    ) -> None: ...
    def wanted(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    def add(
        self, left: NDArray[np.uint32], right: NDArray[np.uint32], similarity: NDArray[np.float64]
    ) -> None: ...
    def new_leaders(self) -> NDArray[np.uint32]: ...
    def lead(self, documents: NDArray[np.uint32]) -> None: ...
    def outcome(self) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...

class Corpus:
    def __init__(self, readers: Sequence[TextReader | Literal["hashes"] | None]) -> None: ...
    def __len__(self) -> int: ...
    def name_source(self, source: int, name: str) -> None: ...
    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Iterable[str | int | None],
        fields: Sequence[Iterable[object]],
        extras: Sequence[bytes | None] | None = None,
    ) -> None: ...
    def add_columns(
        self,
        source: int,
        first_row: int,
        count: int,
        ids: TextArrays | tuple[NDArray[np.int64], NDArray[np.bool_] | None] | None,
        fields: Sequence[TextArrays],
    ) -> bool: ...
    def add_jsonl(
        self,
        *,
        source: int,
        name: str,
        path: str | PathLike[str] | None,
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
    def ids(self, positions: NDArray[np.uint32] | Sequence[int] | None = None) -> list[str | int]: ...
    def repeated_ids(self, threads: int = 0) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    def make_ids(self, positions: NDArray[np.uint32]) -> None: ...
    def scope_ids(self) -> None: ...
    def remove(self, positions: NDArray[np.uint32]) -> None: ...
    def sources(self) -> NDArray[np.uint32]: ...
    def rows(self) -> NDArray[np.uint64]: ...
    def text(self, position: int, field: int) -> str | None: ...
    def texts(
        self, positions: NDArray[np.uint32], field: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
    def extras(self) -> list[bytes | None]: ...
    def check_files(self) -> None: ...
    def lengths(self) -> NDArray[np.uint64]: ...
    def text_sizes(self, positions: NDArray[np.uint32], threads: int) -> NDArray[np.uint64]: ...
    def text_lengths(self, positions: NDArray[np.uint32], threads: int) -> NDArray[np.uint64]: ...
    def sketch_ahead(
        self, algorithm: str, family: str, num_hashes: int, seed: int, bands: int, rows: int
    ) -> None: ...
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
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]: ...
    def identical(
        self,
        content: NDArray[np.uint64],
        empty: NDArray[np.bool_],
        rank: NDArray[np.uint32],
        threads: int = 0,
    ) -> NDArray[np.uint32]: ...
    def identities(self, positions: NDArray[np.uint32], threads: int = 0) -> NDArray[np.uint64]: ...
    def digest(self, threads: int = 0) -> bytes: ...
    def missing(self, field: int) -> NDArray[np.bool_]: ...
    def sample(self, count: int, seed: int, threads: int = 0) -> NDArray[np.uint32]: ...
    def sets(
        self, field: int, positions: NDArray[np.uint32], threads: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]: ...
    def exact_neighbours(
        self, queries: NDArray[np.uint32], thresholds: Sequence[float], threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    def exact_pairs(
        self,
        thresholds: Sequence[float],
        taking_part: NDArray[np.bool_],
        threads: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64] | None]: ...
    def contained_pairs(
        self, field: int, threshold: float, taking_part: NDArray[np.bool_], threads: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]: ...
    def similarity(
        self, left: NDArray[np.uint32], right: NDArray[np.uint32], weights: Sequence[float], threads: int
    ) -> NDArray[np.float64]: ...
    def compare_families(
        self,
        rank: NDArray[np.uint32],
        members: NDArray[np.uint32],
        ends: NDArray[np.int64],
        may_lead: NDArray[np.uint32],
        threshold: float,
        weights: Sequence[float],
        threads: int,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint32]]: ...
    def batches(
        self, left: NDArray[np.uint32], right: NDArray[np.uint32], most: int
    ) -> tuple[NDArray[np.uint32], list[int]]: ...
    def overlaps(self, left: NDArray[np.uint32], right: NDArray[np.uint32], threads: int) -> Overlaps: ...
    def contents(self, positions: NDArray[np.uint32], threads: int) -> Contents: ...

def write_json_lines(
    path: str | PathLike[str],
    columns: Sequence[
        tuple[
            str,
            tuple[Corpus, NDArray[np.uint32]]
            | tuple[Sequence[str], NDArray[np.uint32]]
            | NDArray[np.float64]
            | NDArray[np.uint64]
            | NDArray[np.bool_],
        ]
    ],
    threads: int,
) -> None: ...
def copy_documents(
    corpus: Corpus, source: int, keep: NDArray[np.bool_], path: str | PathLike[str]
) -> bool: ...
