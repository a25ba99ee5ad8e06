"""Bands of signatures: keys, and the probability of finding a pair.

A signature is divided into bands of rows. Two documents with equal values in a whole band are a candidate pair. A pair
with Jaccard similarity s has equal signature values with probability s and is found with probability
1 - (1 - s^rows)^bands: the S-curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benzer.checks import check_recall, check_threshold, check_whole, no_similarity
from benzer.errors import InputError, SettingsError

MAX_VALUES = 65_535
DEFAULT_LIMIT = 1024
"""Maximum signature length of `Bands.for_recall` if `num_hashes` is not given."""

RULE_HASHES = 128
"""Signature length for the published rules if `num_hashes` is not given."""

Floats = NDArray[np.float64]
Rule = Callable[[float, int], tuple[int, int]]

BACKGROUND = ((0.02, 0.5), (0.05, 0.1), (0.1, 1e-2), (0.2, 1e-3), (0.3, 1e-4), (0.5, 1e-5))
"""Distribution of unrelated pairs: (similarity, share of all pairs)."""


@dataclass(frozen=True, slots=True)
class Bands:
    """A number of bands, and the rows (signature values) per band.

    Args:
        bands: Number of bands.
        rows: Signature values per band.

    Raises:
        SettingsError: A value is out of range, or bands x rows exceeds the longest signature.

    >>> Bands(9, 4).num_values
    36
    >>> Bands(9, 4).probability(0.8)
    0.9912...
    """

    bands: int
    rows: int

    def __post_init__(self) -> None:
        """Check the values."""
        check_whole("bands", self.bands, 1, MAX_VALUES)
        check_whole("rows", self.rows, 1, MAX_VALUES)
        object.__setattr__(self, "bands", int(self.bands))
        object.__setattr__(self, "rows", int(self.rows))
        if self.num_values > MAX_VALUES:
            raise SettingsError(
                f"bands x rows must be at most {MAX_VALUES}, the longest signature, "
                f"got {self.bands} x {self.rows}: use fewer bands or rows"
            )

    @property
    def num_values(self) -> int:
        """Number of signature values that the bands use; further values are ignored."""
        return self.bands * self.rows

    @overload
    def probability(self, similarity: float) -> float: ...
    @overload
    def probability(self, similarity: ArrayLike) -> float | Floats: ...
    def probability(self, similarity: ArrayLike) -> float | Floats:
        """Return the probability of finding a pair of the given Jaccard similarity.

        Args:
            similarity: One similarity or an array of them, in [0, 1].

        Returns:
            A float, or an array of the same shape.

        Raises:
            SettingsError: A similarity is out of range.

        >>> Bands(20, 5).probability(0.5)
        0.4700...
        >>> Bands(20, 5).probability([0.0, 1.0])
        array([0., 1.])
        """
        similarities = np.asarray(similarity, dtype=np.float64)
        if not ((similarities >= 0) & (similarities <= 1)).all():
            raise no_similarity(similarities)
        probabilities = 1.0 - (1.0 - similarities**self.rows) ** self.bands
        return float(probabilities) if probabilities.ndim == 0 else probabilities

    def curve(self, points: int = 101) -> Floats:
        """Return the S-curve.

        Args:
            points: Number of evenly spaced similarities from 0 to 1.

        Returns:
            Similarities and their probabilities (float64, points × 2).

        >>> Bands(1, 1).curve(points=3).tolist()
        [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]
        """
        check_whole("points", points, 2, 1_000_000)
        similarities = np.linspace(0.0, 1.0, points)
        return np.column_stack([similarities, self.probability(similarities)])

    def keys(self, signatures: NDArray[np.uint32], field: int = 0) -> NDArray[np.uint64]:
        """Return the band keys of signatures.

        Keys include the number of the band and of the field, so that equal values of different bands or fields give
        different keys. All keys of an empty signature are 2^64 - 1, which belongs to no bucket. Signatures of the
        "bottomk" algorithm have no bands.

        Args:
            signatures: One signature, or n signatures (uint32, n × values).
            field: Number of the field in the schema.

        Returns:
            Band keys (uint64, n × bands, or bands for one signature).

        Raises:
            InputError: `signatures` has another type or shape.
            SettingsError: The signatures are too short for the bands.

        >>> Bands(2, 2).keys(np.array([[7, 8, 7, 8], [7, 8, 9, 9]], dtype=np.uint32)).shape
        (2, 2)
        """
        from benzer._native import band_keys

        if signatures.dtype != np.uint32 or signatures.ndim not in (1, 2):
            got = f"{signatures.dtype} in {signatures.ndim} dimensions"
            raise InputError(f"signatures must be a uint32 array of documents × values, got {got}")
        if signatures.shape[-1] < self.num_values:
            raise SettingsError(
                f"{self.bands} bands of {self.rows} rows need {self.num_values} values, "
                f"got signatures of {signatures.shape[-1]}: use fewer bands or a larger num_hashes"
            )
        check_whole("field", field, 0, MAX_VALUES)
        rows = np.ascontiguousarray(np.atleast_2d(signatures))
        keys = band_keys(rows, self.bands, self.rows, field)
        return keys.reshape(*signatures.shape[:-1], self.bands)

    @classmethod
    def for_recall(cls, threshold: float, recall: float, num_hashes: int | None = None) -> Bands:
        """Choose the cheapest bands that find a pair at the threshold with probability `recall` or more.

        This is the default everywhere. The cost is the time for keys and for comparing candidates that unrelated
        documents produce by chance.

        Args:
            threshold: Similarity in (0, 1]; pairs above it are found with a higher probability.
            recall: Minimum probability of finding a pair at the threshold, in (0, 1).
            num_hashes: Maximum number of signature values. Defaults to 1024.

        Returns:
            The chosen bands.

        Raises:
            SettingsError: An argument is out of range, or `num_hashes` is too small.

        >>> Bands.for_recall(0.8, 0.95)
        Bands(bands=10, rows=6)
        >>> Bands.for_recall(0.5, 0.99, num_hashes=4)
        Traceback (most recent call last):
        benzer.errors.SettingsError: threshold 0.5 with recall 0.99 needs num_hashes of at least 7, got 4: ...
        """
        return min(cls.all_for_recall(threshold, recall, num_hashes), key=_cost)

    @classmethod
    def all_for_recall(cls, threshold: float, recall: float, num_hashes: int | None = None) -> list[Bands]:
        """Return, for each number of rows, the fewest bands that reach the recall.

        Args:
            threshold: Similarity in (0, 1].
            recall: Minimum probability of finding a pair at the threshold, in (0, 1).
            num_hashes: Maximum number of signature values. Defaults to 1024.

        Returns:
            Bands by ascending number of rows.

        Raises:
            SettingsError: An argument is out of range, or `num_hashes` is too small.

        >>> Bands.all_for_recall(0.8, 0.95, num_hashes=20)
        [Bands(bands=2, rows=1), Bands(bands=3, rows=2), Bands(bands=5, rows=3)]
        """
        check_threshold(threshold)
        check_recall(recall, allow_one=False)
        limit = DEFAULT_LIMIT if num_hashes is None else _checked_num_hashes(num_hashes)
        shapes = [cls(bands, rows) for bands, rows in _shapes_for_recall(threshold, recall, limit)]
        if not shapes:
            raise SettingsError(
                f"threshold {threshold} with recall {recall} needs num_hashes of at least "
                f"{_least_bands(threshold, recall, 1)}, got {limit}: raise num_hashes or lower recall"
            )
        return shapes

    @classmethod
    def by_rule(cls, name: str, threshold: float, num_hashes: int) -> Bands:
        """Choose bands by a published rule. The rules do not guarantee a recall; see `probability`.

        - "pick_bands": the smallest b with b ln b >= num_hashes * -ln(threshold); rows = num_hashes // b
          (Hanna and Hunt 2015). Finds about 0.7 of the pairs at the threshold.
        - "inverse_root": the knee of the curve, (1/b)^(1/r), is nearest to the threshold (Leskovec, Rajaraman,
          Ullman: Mining of Massive Datasets, chapter 3). Finds about 0.64 of the pairs at the threshold.
        - "area": minimizes the sum of the area under the curve below the threshold (false positives) and the area
          over it above the threshold (false negatives), with equal weights (Zhu, Nargesian, Pu, Miller 2016). Finds
          0.3 to 0.55 of the pairs at the threshold. Takes about 400 * num_hashes * ln(num_hashes) steps.

        Args:
            name: Name of the rule.
            threshold: Similarity in (0, 1].
            num_hashes: Number of signature values.

        Returns:
            The chosen bands.

        Raises:
            SettingsError: The rule does not exist, or an argument is out of range.

        >>> Bands.by_rule("pick_bands", 0.8, 100)
        Bands(bands=10, rows=10)
        >>> Bands.by_rule("area", 0.8, 128)
        Bands(bands=9, rows=13)
        """
        if name not in RULES:
            raise SettingsError(f'there is no rule "{name}": choose one of {", ".join(sorted(RULES))}')
        check_threshold(threshold)
        return cls(*RULES[name](threshold, _checked_num_hashes(num_hashes)))

    @classmethod
    def choose(
        cls,
        threshold: float,
        recall: float,
        num_hashes: int | None = None,
        *,
        bands: int | None = None,
        rows: int | None = None,
        rule: str | None = None,
    ) -> Bands:
        """Choose bands by number, by a published rule, or by recall.

        Args:
            threshold: Similarity in (0, 1].
            recall: Minimum probability of finding a pair at the threshold, if no other choice is given.
            num_hashes: Maximum number of signature values. Defaults to 128 for a rule.
            bands: Number of bands; requires `rows`.
            rows: Rows per band. Without `bands`, uses as many bands as fit in `num_hashes`.
            rule: Name of a rule, see `by_rule`.

        Returns:
            The chosen bands.

        Raises:
            SettingsError: The arguments are incomplete, contradict each other or are out of range.

        >>> Bands.choose(0.8, 0.95), Bands.choose(0.8, 0.95, bands=9, rows=13)
        (Bands(bands=10, rows=6), Bands(bands=9, rows=13))
        >>> Bands.choose(0.8, 0.95, 100, bands=9, rows=13)
        Traceback (most recent call last):
        benzer.errors.SettingsError: 9 bands of 13 rows need 117 signature values, got num_hashes 100: ...
        """
        if rule and (bands or rows):
            raise SettingsError("rule cannot be combined with bands or rows: omit one of them")
        if rule:
            return cls.by_rule(rule, threshold, num_hashes or RULE_HASHES)
        if bands and rows:
            return cls(bands, rows)._fitting(num_hashes)
        if rows and num_hashes:
            return cls.with_rows(rows, num_hashes)
        if bands or rows:
            raise SettingsError("bands and rows are incomplete: give both, or rows with num_hashes")
        return cls.for_recall(threshold, recall, num_hashes)

    def _fitting(self, num_hashes: int | None) -> Bands:
        if num_hashes and self.num_values > num_hashes:
            raise SettingsError(
                f"{self.bands} bands of {self.rows} rows need {self.num_values} signature values, got num_hashes "
                f"{num_hashes}: raise num_hashes or use fewer bands"
            )
        return self

    def met_by_chance(self) -> float:
        """Return the share of unrelated pairs, distributed as in `BACKGROUND`, that have a band in common.

        >>> Bands(20, 5).met_by_chance() < Bands(20, 3).met_by_chance()
        True
        """
        return sum(share * (1.0 - (1.0 - s**self.rows) ** self.bands) for s, share in BACKGROUND)

    @classmethod
    def with_rows(cls, rows: int, num_hashes: int) -> Bands:
        """Return as many bands of the given rows as fit in the signature.

        Args:
            rows: Rows per band.
            num_hashes: Number of signature values.

        Returns:
            The bands.

        >>> Bands.with_rows(20, num_hashes=100)
        Bands(bands=5, rows=20)
        """
        _checked_num_hashes(num_hashes)
        check_whole("rows", rows, 1, num_hashes)
        return cls(num_hashes // rows, rows)


def _checked_num_hashes(num_hashes: int) -> int:
    check_whole("num_hashes", num_hashes, 1, MAX_VALUES)
    return num_hashes


BEYOND_ALL = 10**15
"""Number of bands for probabilities that are too small to compute."""


def _least_bands(threshold: float, recall: float, rows: int) -> int:
    """Return the fewest bands of `rows` rows that find a pair at the threshold with the recall.

    >>> _least_bands(0.8, 0.95, 4)
    6
    """
    chance = threshold**rows
    if chance == 1.0:
        return 1
    quotient = math.log1p(-recall) / math.log1p(-chance) if chance else math.inf
    if not quotient < BEYOND_ALL:
        return BEYOND_ALL
    bands = max(1, math.ceil(quotient) - 1)
    if chance < 1e-9:  # more than any signature has; what follows would be lost in rounding, and hardly end
        return bands + 1
    while 1.0 - (1.0 - chance) ** bands < recall:  # the quotient of logarithms may be off by one rounding
        bands += 1
    return bands


def _shapes_for_recall(threshold: float, recall: float, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the fewest bands for each number of rows, up to the first that exceeds the limit.

    More rows need at least as many bands.
    """
    for rows in range(1, limit + 1):
        bands = _least_bands(threshold, recall, rows)
        if bands * rows > limit:
            return
        yield bands, rows


def _cost(shape: Bands) -> float:
    """Return nanoseconds per document: its keys, and the comparison with unrelated documents of the same buckets.

    Measured: 30 ns per band, 2 ns per row, 500 ns per comparison. In a collection of 100,000 there are 50,000 pairs
    per document, distributed as in `BACKGROUND`.
    """
    return shape.bands * (30 + 2 * shape.rows) + 500 * 50_000 * shape.met_by_chance()


def _pick_bands(threshold: float, num_hashes: int) -> tuple[int, int]:
    goal = num_hashes * -math.log(threshold)
    bands = 1
    while bands * math.log(bands) < goal:
        bands += 1
        if bands > num_hashes:
            raise SettingsError(
                f"pick_bands gives no rows at threshold {threshold}, got num_hashes {num_hashes}: "
                f"use num_hashes of at least {math.ceil(1 / threshold)}, or a higher threshold"
            )
    return bands, num_hashes // bands


def _inverse_root(threshold: float, num_hashes: int) -> tuple[int, int]:
    """Return the shape with the nearest knee, and of equal knees (4 × 2 and 16 × 4 have 0.5) the steeper curve."""

    def preference(shape: tuple[int, int]) -> tuple[float, int]:
        bands, rows = shape
        return round(abs((1 / bands) ** (1 / rows) - threshold), 12), -bands * rows

    shapes = ((b, r) for r in range(1, num_hashes + 1) for b in range(1, num_hashes // r + 1))
    return min(shapes, key=preference)


def _area(threshold: float, num_hashes: int) -> tuple[int, int]:
    nodes, weights = np.polynomial.legendre.leggauss(200)
    below = (nodes + 1) / 2 * threshold
    above = threshold + (nodes + 1) / 2 * (1 - threshold)
    sides = (below, weights / 2 * threshold), (above, weights / 2 * (1 - threshold))
    least = (math.inf, 1, 1)
    for rows in range(1, num_hashes + 1):
        bands = np.arange(1, num_hashes // rows + 1)
        positives, missed_above = (_missed(side, rows, bands) @ weight for side, weight in sides)
        errors = 0.5 * (threshold - positives) + 0.5 * missed_above
        best = int(errors.argmin())
        least = min(least, (float(errors[best]), best + 1, rows))
    return least[1], least[2]


def _missed(similarities: Floats, rows: int, bands: NDArray[np.int64]) -> Floats:
    """Return the probabilities that pairs are not found (bands × similarities)."""
    return np.asarray((1.0 - similarities**rows) ** bands[:, None], dtype=np.float64)


RULES: dict[str, Rule] = {"pick_bands": _pick_bands, "inverse_root": _inverse_root, "area": _area}
