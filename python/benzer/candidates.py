"""Candidate pairs: identical contents first, then documents that share a bucket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benzer._native import candidate_pairs
from benzer.buckets import LargeBuckets
from benzer.checks import BUCKET_LIMIT, check_whole
from benzer.corpora import DocumentCorpus

LIMITS = (100, 1000)
"""The least and the most that the default of `bucket_limit` may be."""


@dataclass(frozen=True)
class Candidates:
    """Candidate pairs by position, each once, the lower position first, ascending; and the buckets above the limit.

    Attributes:
        left: One entry per pair (uint32).
        right: One entry per pair (uint32).
        large: Buckets above the limit. No pair of two documents that share one is listed.
        limit: The most documents of a bucket whose pairs are all listed.
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    large: LargeBuckets = field(default_factory=LargeBuckets)
    limit: int = LIMITS[1]

    def __len__(self) -> int:
        return len(self.left)


def identical(
    corpus: DocumentCorpus,
    content: NDArray[np.uint64],
    empty: NDArray[np.bool_],
    rank: NDArray[np.uint32],
    threads: int = 0,
) -> NDArray[np.uint32]:
    """Return for each document the identical one of lowest rank (uint32, n).

    Two documents are identical if every field has the same shingles, each as often, and both lack the same fields.
    Equal content hashes only propose this, because they can be forged: each copy is compared with its representative.

    Takes linear time, 16 bytes per document, and up to 32 more for each document that repeats another.

    Args:
        corpus: The documents; each one that repeats another is read once more.
        content: Their 128-bit content hashes (uint64, n x 2), from `Sketcher.sketch`.
        empty: Which documents have no shingle (bool, n). Each represents itself.
        rank: The position of each document in the keep order (uint32, n).
        threads: Number of threads; 0 uses all cores. Does not affect the result.
    """
    return corpus.identical(content, empty, rank, threads)


def propose(
    keys: NDArray[np.uint64],
    taking_part: NDArray[np.bool_],
    bucket_limit: int | None = None,
    threads: int = 0,
    bands_at_once: int = 0,
    by_band: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Candidates:
    """Return all pairs of documents that share a band key, and the buckets with more documents than the limit.

    Args:
        keys: Band keys (uint64, C-contiguous), n x (fields * bands), or (fields * bands) x n if `by_band`. They are
            not copied and may be mapped from a file. With `by_band` and one band at a time, they are read in order.
        taking_part: Documents to use (bool, n); the others (copies of a representative) are left out.
        bucket_limit: Maximum number of documents of a bucket whose pairs are listed. Larger buckets are returned as
            they are. The default is between 100 and 1,000: the largest limit for which the buckets of more than 100
            documents have at most one pair per document and band, and at most a million pairs or a quarter of that,
            whichever is more.
        threads: Number of threads; 0 uses all cores.
        bands_at_once: Number of bands to join at the same time; 0 for all. Each takes about 20 bytes per document,
            and up to 60 if most documents share one key. Each candidate takes 16 to 24 bytes during the join.
        by_band: Whether `keys` has a row for each band.
        progress: Called with the number of bands that are done, and of all bands.

    >>> keys = np.array([[1, 2], [1, 3], [4, 3]], dtype=np.uint64)
    >>> found = propose(keys, np.ones(3, dtype=bool))
    >>> list(zip(found.left.tolist(), found.right.tolist()))
    [(0, 1), (1, 2)]
    """
    if bucket_limit is not None:
        check_whole(BUCKET_LIMIT[0], bucket_limit, *BUCKET_LIMIT[1:])
    left, right, members, ends, limit = candidate_pairs(
        keys, bucket_limit, threads, taking_part, bands_at_once, by_band, progress
    )
    return Candidates(left, right, LargeBuckets(members, ends), limit)
