"""How is a set of shingle hashes sketched, and what do two sketches say of their sets?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import column_signatures, estimate, merge_signatures, signatures, text_signatures
from benzer.columns import as_array, is_column, text_arrays
from benzer.errors import InputError, SettingsError
from benzer.hashing import INTEGER_FAMILIES
from benzer.hashing.base import MOST_SEED, as_elements, check_whole

ALGORITHMS = ("fast", "kmins", "bottomk")
MAX_HASHES = 65_535
FAMILIES = INTEGER_FAMILIES.names
EMPTY = 2**32 - 1

Signatures = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class MinHash:
    """A way of making signatures: `num_hashes` values of 32 bits, which estimate the Jaccard similarity.

    - "fast": Fast Similarity Sketching (Dahlgaard, Langhede, Houen, Thorup, arXiv 1704.04370). Each element
      is thrown at a random slot, round after round, until no slot is empty. Nearly always the best choice:
      it takes one pass over the set, is unbiased at every size, and more exact than "kmins" on small sets.
    - "kmins": the minima of `num_hashes` random permutations (Broder 1997), the classical sketch. It takes
      time in proportion to elements times `num_hashes`; choose it to compare with the literature. `family`
      names the hash functions (see `benzer.hashing.INTEGER_FAMILIES`): "mixed" is as good as random ones,
      the others are those of the literature with their weaknesses. Of values of more than 32 bits the
      highest 32 are kept.
    - "bottomk": the least `num_hashes` values of one permutation (Broder 1997; Cohen and Kaplan 2007). The
      best for estimates alone: exact while the union has no more than `num_hashes` elements, and hardly
      less on sets a little larger. It has no bands, so it finds no candidates.

    Elements are integers from 0 to 2^64 - 1 in any pattern, e.g. consecutive ids: "fast" and "bottomk" mix them
    first. Elements that are well-mixed 64-bit hashes already, such as those of `Text.shingle_hashes`, need no
    mixing: pass `hashed=True`, and the signature is the one that `of` makes of the content.

    A signature depends on the set, the algorithm, `num_hashes`, `seed`, `family` and `hashed` alone: not on order,
    repeats, threads or machine. Only the empty set has the value 2^32 - 1 in every slot.

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
        """Refuse settings that no sketch can be made with."""
        if self.algorithm not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise SettingsError(f'there is no minhash algorithm "{self.algorithm}": choose one of {known}')
        check_whole("num_hashes", self.num_hashes, 1, MAX_HASHES, "128")
        check_whole("seed", self.seed, 0, MOST_SEED, "0")
        object.__setattr__(self, "num_hashes", int(self.num_hashes))  # equal settings are written the same
        object.__setattr__(self, "seed", int(self.seed))
        if self.family not in FAMILIES:
            raise SettingsError(
                f'there is no hash family "{self.family}": choose one of {", ".join(FAMILIES)}'
            )
        if self.family != "mixed" and self.algorithm != "kmins":
            raise SettingsError(
                f'minhash "{self.algorithm}" has hash functions of its own, got family "{self.family}": '
                'choose "kmins", or leave the family out'
            )

    def signature(self, elements: NDArray[np.uint64] | Sequence[int], *, hashed: bool = False) -> Signatures:
        """The signature (uint32, `num_hashes`) of one set; repeated elements count once.

        Args:
            elements: Integers from 0 to 2^64 - 1.
            hashed: Whether the elements are well-mixed 64-bit hashes. They are then sketched as they are. Signatures
                made with and without `hashed` cannot be compared.

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
        """The signatures (uint32, n × `num_hashes`) of n sets; set i is `elements[offsets[i]:offsets[i + 1]]`.

        Args:
            offsets: n + 1 values (int64), from 0 to the number of elements.
            elements: Integers from 0 to 2^64 - 1, set by set.
            threads: Number of threads; 0 uses all cores.
            hashed: Whether the elements are well-mixed 64-bit hashes; see `signature`. Saves up to a quarter of the
                time for large sets.

        >>> MinHash().signatures(np.array([0, 2, 3]), np.array([5, 7, 7], dtype=np.uint64)).shape
        (2, 128)
        """
        starts = np.ascontiguousarray(offsets, dtype=np.int64)
        members = as_elements(elements, "elements")
        settings = (self.num_hashes, self.seed, threads, hashed)
        return signatures(self.algorithm, self.family, starts, members, *settings)

    def of(self, field: Any, contents: Sequence[Any], threads: int = 0) -> Signatures:
        """The signatures (uint32, n × `num_hashes`) of n contents of a field such as `Text()` or `ValueSet()`.

        Texts are read and sketched in one pass; their shingles are not kept. They may come as an array or
        a column of Arrow's (pyarrow, polars, ...): then its bytes are read where they lie, without a Python
        object for each text; a missing one has an empty signature.

        >>> from benzer import Text
        >>> MinHash().of(Text(), ["to be or not to be", "that is the question"]).shape
        (2, 128)
        """
        if field.reader is not None and is_column(contents):
            column = text_arrays(as_array(contents))
            if column is None:
                raise InputError("the array holds no texts in UTF-8: cast it to strings")
            how = (self.algorithm, self.family, self.num_hashes, self.seed, threads)
            return column_signatures(field.reader, column, *how)
        if field.reader is not None:
            texts = ["" if content is None else content for content in contents]
            how = (self.algorithm, self.family, self.num_hashes, self.seed, threads)
            return text_signatures(field.reader, texts, *how)
        offsets, hashes = field.sets(contents, threads)
        return self.signatures(offsets, hashes, threads, hashed=True)

    def merge(self, a: Signatures, b: Signatures) -> Signatures:
        """The signatures of the unions, row by row: exactly what sketching the unions would give.

        Both are of this `MinHash`, and of one shape: one signature, or n × `num_hashes`.

        >>> minhash = MinHash()
        >>> merged = minhash.merge(minhash.signature([1, 2]), minhash.signature([2, 3]))
        >>> bool((merged == minhash.signature([1, 2, 3])).all())
        True
        """
        merged = merge_signatures(self.algorithm, self._rows(a), self._rows(b))
        return merged.reshape(a.shape)

    def estimate(self, a: Signatures, b: Signatures, estimator: str = "unbiased") -> NDArray[np.float64]:
        """The estimated Jaccard similarities, row by row: n values; a 0-d array for one signature each.

        Two empty sets have similarity 1, an empty set and another 0. `estimator` is one of `ESTIMATORS`:

        - "unbiased": right on average at every size. The share of equal values; for "bottomk", of the
          `num_hashes` least values of the union the share that is in both signatures.
        - "overlap": the values that both signatures hold, over `num_hashes`, for "bottomk" (Karamatlı 2012).
          It does not estimate the Jaccard similarity J: it reads about |A ∩ B| / max(|A|, |B|), which for
          sets of one size is 2 J / (1 + J), 0.67 for 0.5, and for a set inside a larger one is J itself. Sets
          of fewer than `num_hashes` elements read lower still, even equal ones.
        - "set_jaccard": the Jaccard similarity of the two lists of values taken as sets (Grattan 2014). With m
          of k values equal that is m / (2 k - m): about J / (2 - J), 0.33 for 0.5.

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
        """The standard deviation of an estimate, for sets of this Jaccard similarity J.

        "kmins": sqrt(J (1 - J) / num_hashes). "fast": no more than that; measured, 0.7 to 0.8 of that on
        sets of up to 1.5 `num_hashes` elements, and all of it on large sets. "bottomk": as "kmins", times
        sqrt((U - num_hashes) / (U - 1)), the factor of sampling without replacement, where U is the size of
        the union; give it as `union_size`, else the sets are taken to be large.

        >>> round(MinHash().standard_error(0.5), 3)
        0.044
        >>> MinHash("bottomk").standard_error(0.5, union_size=100)
        0.0
        """
        if not 0 <= similarity <= 1:
            raise SettingsError(f"similarity must be in [0, 1], got {similarity}: give a Jaccard similarity")
        variance = similarity * (1 - similarity) / self.num_hashes
        if self.algorithm == "bottomk" and union_size is not None:
            variance *= max(0, union_size - self.num_hashes) / max(1, union_size - 1)
        return math.sqrt(variance)

    def _rows(self, signatures: Signatures) -> Signatures:
        """Signatures as the native module takes them: n × num_hashes, one after the other in memory."""
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
            f'the estimator "overlap" is one of minhash "bottomk", got "{minhash.algorithm}": use "unbiased"'
        )
    together = _distinct(np.concatenate((a, b), axis=1))
    return _share(_distinct(a) + _distinct(b) - together, np.where(together, minhash.num_hashes, 0))


def _set_jaccard(_: MinHash, a: Signatures, b: Signatures) -> NDArray[np.float64]:
    together = _distinct(np.concatenate((a, b), axis=1))
    return _share(_distinct(a) + _distinct(b) - together, together)


def _distinct(rows: Signatures) -> NDArray[np.int64]:
    """How many different values stand in each row; the value of no element is none."""
    ordered = np.sort(rows, axis=1)
    changes = np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    counts: NDArray[np.int64] = changes + (ordered[:, -1] != EMPTY)
    return counts


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Part of the whole; 1 where there is nothing at all."""
    return np.where(whole > 0, part / np.maximum(whole, 1), 1.0)


ESTIMATORS: dict[str, Callable[[MinHash, Signatures, Signatures], NDArray[np.float64]]] = {
    "unbiased": _unbiased,
    "overlap": _overlap,
    "set_jaccard": _set_jaccard,
}
