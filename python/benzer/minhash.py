"""MinHash signatures of sets, and similarity estimates from signatures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import column_signatures, estimate, merge_signatures, signatures, text_signatures
from benzer.checks import check_seed, check_whole, no_similarity
from benzer.columns import as_array, is_column, text_arrays
from benzer.errors import InputError, SettingsError

ALGORITHMS = ("fast", "kmins", "bottomk")
MAX_HASHES = 65_535
FAMILIES = (
    "linear", "mixed", "modular", "multiplicative", "multiply_shift", "murmur3_128", "murmur3_32", "tabulation",
    "universal", "xxh3",
)  # fmt: skip
"""Hash functions of "kmins"; `benzer.experiments.hashing` describes each."""
EMPTY = 2**32 - 1

Signatures = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class MinHash:
    """Settings of a signature: `num_hashes` values of 32 bits that estimate the Jaccard similarity.

    - "fast": Fast Similarity Sketching (Dahlgaard, Langhede, Houen, Thorup, arXiv 1704.04370). Each element is assigned
      to a random slot, in rounds, until no slot is empty. The best choice in most cases: it needs one pass over the
      set, is unbiased at every size, and is more accurate than "kmins" on small sets.
    - "kmins": the minima of `num_hashes` random permutations (Broder 1997), the classical sketch. The time is
      proportional to elements times `num_hashes`; use it to compare with the literature. `family` selects the hash
      functions (see `benzer.experiments.hashing`): "mixed" is as good as random functions, the others are published
      families with their weaknesses. Values of more than 32 bits are reduced to the highest 32 bits.
    - "bottomk": the smallest `num_hashes` values of one permutation (Broder 1997; Cohen and Kaplan 2007). The best for
      estimates only: exact while the union has at most `num_hashes` elements, and nearly exact for slightly larger
      sets. It has no bands, so it cannot be used to find candidates.

    Elements are integers from 0 to 2^64 - 1 in any pattern, e.g. consecutive ids: "fast" and "bottomk" mix them first.
    Well-mixed 64-bit hashes such as those of `Text.shingle_hashes` need no mixing: pass `hashed=True` to get the same
    signature as `of` for the content.

    A signature depends only on the set, the algorithm, `num_hashes`, `seed`, `family` and `hashed`, not on order,
    repetition, threads or machine. Only the empty set has the value 2^32 - 1 in every slot.

    Args:
        algorithm: "fast", "kmins" or "bottomk".
        num_hashes: Number of values.
        seed: Seed of the hash functions.
        family: Hash functions of "kmins".

    Raises:
        SettingsError: A setting is out of range, or `family` is given for another algorithm.

    >>> minhash = MinHash(num_hashes=256)
    >>> a = minhash.signature(np.arange(0, 300, dtype=np.uint64))
    >>> b = minhash.signature(np.arange(100, 400, dtype=np.uint64))
    >>> bool(abs(minhash.estimate(a, b) - 0.5) < 4 * minhash.standard_error(0.5))
    True
    """

    algorithm: str = "fast"
    num_hashes: int = 128
    seed: int = 0
    family: str = "mixed"

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.algorithm not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise SettingsError(f'there is no minhash algorithm "{self.algorithm}": choose one of {known}')
        check_whole("num_hashes", self.num_hashes, 1, MAX_HASHES, "128")
        check_seed(self.seed)
        object.__setattr__(self, "num_hashes", int(self.num_hashes))  # equal settings are written the same
        object.__setattr__(self, "seed", int(self.seed))
        if self.family not in FAMILIES:
            raise SettingsError(
                f'there is no hash family "{self.family}": choose one of {", ".join(FAMILIES)}'
            )
        if self.family != "mixed" and self.algorithm != "kmins":
            raise SettingsError(
                f'minhash "{self.algorithm}" does not support a family, got family "{self.family}": '
                'choose "kmins", or omit the family'
            )

    def signature(self, elements: NDArray[np.uint64] | Sequence[int], *, hashed: bool = False) -> Signatures:
        """Return the signature of one set; repeated elements count once.

        Args:
            elements: Integers from 0 to 2^64 - 1.
            hashed: Whether the elements are well-mixed 64-bit hashes, which are not mixed again. Signatures made with
                and without `hashed` cannot be compared.

        Returns:
            The signature (uint32, `num_hashes`).

        >>> MinHash(num_hashes=4).signature([]).tolist() == [2**32 - 1] * 4
        True
        >>> from benzer import Text
        >>> hashes = Text().shingle_hashes("to be or not to be")
        >>> bool((MinHash().signature(hashes, hashed=True) == MinHash().of(Text(), ["to be or not to be"])).all())
        True
        """
        members = as_elements(elements, "elements")
        offsets = np.array([0, len(members)], dtype=np.int64)
        return self.signatures(offsets, members, hashed=hashed).reshape(-1)

    def signatures(
        self,
        offsets: NDArray[np.int64],
        elements: NDArray[np.uint64] | Sequence[int],
        threads: int = 0,
        *,
        hashed: bool = False,
    ) -> Signatures:
        """Return the signatures of n sets; set i is `elements[offsets[i]:offsets[i + 1]]`.

        Args:
            offsets: n + 1 values (int64), from 0 to the number of elements.
            elements: Integers from 0 to 2^64 - 1, set by set.
            threads: Number of threads; 0 uses all cores.
            hashed: Whether the elements are well-mixed 64-bit hashes; see `signature`. Saves up to a quarter of the
                time for large sets.

        Returns:
            The signatures (uint32, n × `num_hashes`).

        >>> MinHash().signatures(np.array([0, 2, 3]), np.array([5, 7, 7], dtype=np.uint64)).shape
        (2, 128)
        """
        starts = np.ascontiguousarray(offsets, dtype=np.int64)
        members = as_elements(elements, "elements")
        settings = (self.num_hashes, self.seed, threads, hashed)
        return signatures(self.algorithm, self.family, starts, members, *settings)

    def of(self, field: Any, contents: Sequence[Any], threads: int = 0) -> Signatures:
        """Return the signatures of n contents of a field.

        Texts are read and sketched in one pass without storing their shingles. An Arrow array or column (pyarrow,
        polars, ...) is read in place, without a Python object for each text; missing texts get an empty signature.

        Args:
            field: A field type such as `Text()` or `ValueSet()`.
            contents: Contents of the field: a list, or an Arrow array or column of strings.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The signatures (uint32, n × `num_hashes`).

        Raises:
            InputError: A content does not fit the field.

        >>> from benzer import Text
        >>> MinHash().of(Text(), ["to be or not to be", "that is the question"]).shape
        (2, 128)
        """
        if field.reader is not None and is_column(contents):
            column = text_arrays(as_array(contents))
            if column is None:
                raise InputError("the array does not contain UTF-8 strings: cast it to strings")
            how = (self.algorithm, self.family, self.num_hashes, self.seed, threads)
            return column_signatures(field.reader, column, *how)
        if field.reader is not None:
            texts = ["" if content is None else content for content in contents]
            how = (self.algorithm, self.family, self.num_hashes, self.seed, threads)
            return text_signatures(field.reader, texts, *how)
        offsets, hashes = field.sets(contents, threads)
        return self.signatures(offsets, hashes, threads, hashed=True)

    def merge(self, a: Signatures, b: Signatures) -> Signatures:
        """Return the signatures of the unions, row by row; equal to the signatures of the merged sets.

        Args:
            a: One signature, or n signatures, made with these settings.
            b: Signatures of the same shape.

        Returns:
            Signatures of the same shape.

        >>> minhash = MinHash()
        >>> merged = minhash.merge(minhash.signature([1, 2]), minhash.signature([2, 3]))
        >>> bool((merged == minhash.signature([1, 2, 3])).all())
        True
        """
        merged = merge_signatures(self.algorithm, self._rows(a), self._rows(b))
        return merged.reshape(a.shape)

    def estimate(self, a: Signatures, b: Signatures, estimator: str = "unbiased") -> NDArray[np.float64]:
        """Estimate the Jaccard similarities of signatures, row by row.

        Two empty sets have similarity 1, an empty and a non-empty set 0. Estimators:

        - "unbiased": correct on average at every size. The share of equal values; for "bottomk", the share of the
          `num_hashes` smallest values of the union that both signatures contain.
        - "overlap": the number of common values divided by `num_hashes`, for "bottomk" (Karamatlı 2012). It does not
          estimate the Jaccard similarity J but about |A ∩ B| / max(|A|, |B|), which is 2 J / (1 + J) for sets of equal
          size (0.67 for 0.5) and J for a subset. Sets of fewer than `num_hashes` elements give lower values, even
          equal sets.
        - "set_jaccard": the Jaccard similarity of the two lists of values as sets (Grattan 2014). If m of k values are
          equal, this is m / (2 k - m): about J / (2 - J), 0.33 for 0.5.

        Args:
            a: One signature, or n signatures, made with these settings.
            b: Signatures of the same shape.
            estimator: One of `ESTIMATORS`.

        Returns:
            n estimates (float64); a 0-d array for one signature each.

        Raises:
            SettingsError: The estimator does not exist or does not fit, or the shapes differ.

        >>> minhash = MinHash()
        >>> float(minhash.estimate(minhash.signature([1, 2]), minhash.signature([1, 2])))
        1.0
        """
        if estimator not in ESTIMATORS:
            known = ", ".join(ESTIMATORS)
            raise SettingsError(f'there is no estimator "{estimator}": choose one of {known}')
        left, right = self._rows(a), self._rows(b)
        if left.shape != right.shape:
            raise SettingsError(f"signatures must have one shape, got {left.shape} and {right.shape}")
        return ESTIMATORS[estimator](self, left, right).reshape(a.shape[:-1])

    def standard_error(self, similarity: float, union_size: int | None = None) -> float:
        """Return the standard deviation of an estimate for sets of Jaccard similarity J.

        "kmins": sqrt(J (1 - J) / num_hashes). "fast": at most that; measured, 0.7 to 0.8 of it for sets of up to
        1.5 `num_hashes` elements, and all of it for large sets. "bottomk": as "kmins", times
        sqrt((U - num_hashes) / (U - 1)), the factor of sampling without replacement, where U is the size of the union.

        Args:
            similarity: Jaccard similarity in [0, 1].
            union_size: Size of the union, for "bottomk"; without it the sets are assumed to be large.

        Returns:
            The standard deviation.

        Raises:
            SettingsError: The similarity is out of range.

        >>> round(MinHash().standard_error(0.5), 3)
        0.044
        >>> MinHash("bottomk").standard_error(0.5, union_size=100)
        0.0
        """
        if not 0 <= similarity <= 1:
            raise no_similarity(similarity)
        variance = similarity * (1 - similarity) / self.num_hashes
        if self.algorithm == "bottomk" and union_size is not None:
            variance *= max(0, union_size - self.num_hashes) / max(1, union_size - 1)
        return math.sqrt(variance)

    def _rows(self, signatures: Signatures) -> Signatures:
        """Return signatures as the native module needs them: n × num_hashes, contiguous in memory."""
        if signatures.dtype != np.uint32 or signatures.ndim not in (1, 2):
            got = f"{signatures.dtype} in {signatures.ndim} dimensions"
            raise InputError(f"signatures must be a uint32 array of documents × num_hashes, got {got}")
        if signatures.shape[-1] != self.num_hashes:
            raise SettingsError(
                f"signatures must have num_hashes={self.num_hashes} values, got {signatures.shape[-1]}: "
                "use the MinHash that made them"
            )
        return np.ascontiguousarray(np.atleast_2d(signatures))


def _unbiased(minhash: MinHash, a: Signatures, b: Signatures) -> NDArray[np.float64]:
    return estimate(minhash.algorithm, a, b)


def _overlap(minhash: MinHash, a: Signatures, b: Signatures) -> NDArray[np.float64]:
    if minhash.algorithm != "bottomk":
        raise SettingsError(
            f'the estimator "overlap" requires minhash "bottomk", got "{minhash.algorithm}": use "unbiased"'
        )
    together = _distinct(np.concatenate((a, b), axis=1))
    return _share(_distinct(a) + _distinct(b) - together, np.where(together, minhash.num_hashes, 0))


def _set_jaccard(_: MinHash, a: Signatures, b: Signatures) -> NDArray[np.float64]:
    together = _distinct(np.concatenate((a, b), axis=1))
    return _share(_distinct(a) + _distinct(b) - together, together)


def _distinct(rows: Signatures) -> NDArray[np.int64]:
    """Return the number of different values in each row; the value of no element does not count."""
    ordered = np.sort(rows, axis=1)
    changes = np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    counts: NDArray[np.int64] = changes + (ordered[:, -1] != EMPTY)
    return counts


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return part / whole; 1 if both are 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), 1.0)


ESTIMATORS: dict[str, Callable[[MinHash, Signatures, Signatures], NDArray[np.float64]]] = {
    "unbiased": _unbiased,
    "overlap": _overlap,
    "set_jaccard": _set_jaccard,
}


def as_elements(values: NDArray[np.uint64] | Sequence[int], what: str) -> NDArray[np.uint64]:
    """Return a uint64 array of one dimension; arrays of other types are rejected, because a cast would change them."""
    if isinstance(values, np.ndarray):
        if values.dtype != np.uint64 or values.ndim != 1:
            got = f"{values.dtype} in {values.ndim} dimensions"
            raise InputError(f"{what} must be a uint64 array of one dimension, got {got}")
        return np.ascontiguousarray(values)
    try:
        return np.fromiter(map(index, values), dtype=np.uint64, count=len(values))
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{what} must be whole numbers from 0 to 2^64 - 1: {error}") from error
