"""Who might be alike? Identical contents first, then documents that share a bucket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benzer._native import candidate_pairs, representatives


@dataclass(frozen=True)
class Candidates:
    """Candidate pairs by position, each once, the lower position first, ascending.

    left, right: uint32, one entry a pair.
    oversized_buckets, oversized_documents: buckets above the limit whose pairs were not all proposed, and
        the documents in them (once for each bucket).
    """

    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    oversized_buckets: int
    oversized_documents: int

    def __len__(self) -> int:
        return len(self.left)


def identical(
    content: NDArray[np.uint64], empty: NDArray[np.bool_], rank: NDArray[np.uint32], threads: int = 0
) -> NDArray[np.uint32]:
    """For each document the one of least rank with the same content (uint32, n); an empty one stands alone.

    `content` (uint64, n x 2) is the 128-bit content hash. Linear; takes 16 bytes a document.

    >>> content = np.array([[5, 1], [7, 7], [5, 1]], dtype=np.uint64)
    >>> identical(content, np.zeros(3, dtype=bool), np.arange(3, dtype=np.uint32)).tolist()
    [0, 1, 0]
    """
    return representatives(content, empty, rank, threads)


def propose(
    keys: NDArray[np.uint64],
    content: NDArray[np.uint64],
    taking_part: NDArray[np.bool_],
    bucket_limit: int = 1000,
    threads: int = 0,
    bands_at_once: int = 0,
    by_band: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Candidates:
    """All pairs of documents that share a band key.

    keys: uint64, C-contiguous, n x (fields * bands), or (fields * bands) x n where `by_band`; it is read where it
        lies and may be mapped from a file. By band and one band at a time, it is read in order.
    taking_part: bool, n; the others (copies of a representative) are left out.
    bucket_limit: a bucket of more documents proposes pairs with a few anchors only and is divided by further
        bands, so that the work stays linear; see `Candidates`.
    bands_at_once: how many bands are filed at the same time; 0 for all. Each takes some 20 bytes a document, and up to
        60 where most documents share one key. Each candidate takes 16 to 24 bytes meanwhile.
    progress: called with the bands that are done, of how many.

    >>> keys = np.array([[1, 2], [1, 3], [4, 3]], dtype=np.uint64)
    >>> found = propose(keys, np.zeros((3, 2), dtype=np.uint64), np.ones(3, dtype=bool))
    >>> list(zip(found.left.tolist(), found.right.tolist()))
    [(0, 1), (1, 2)]
    """
    settings = (bucket_limit, threads, taking_part, bands_at_once, by_band)
    return Candidates(*candidate_pairs(keys, content, *settings, progress))
