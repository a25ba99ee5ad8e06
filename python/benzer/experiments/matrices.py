"""Characteristic and signature matrices of small sets, for teaching.

Every function here takes O(elements × sets) time and memory. `MinHash` computes the same estimates for millions of
sets without a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benzer.errors import InputError, SettingsError

RowHashes: TypeAlias = Callable[[int], float] | ArrayLike
EXACT = 2**53


@dataclass(frozen=True, eq=False)
class CharacteristicMatrix:
    """A matrix that states which element is in which set.

    Attributes:
        elements: The universe, one element for each row.
        matrix: Whether the element of the row is in the set of the column (bool, elements × sets).

    >>> print(characteristic_matrix(["b", "c", "abd"]))
    a  0 0 1
    b  1 0 1
    c  0 1 0
    d  0 0 1
    """

    elements: tuple[Hashable, ...]
    matrix: NDArray[np.bool_]

    def __str__(self) -> str:
        names = [str(element) for element in self.elements]
        width = max(map(len, names), default=0)
        lines = zip(names, self.matrix, strict=True)
        return "\n".join(
            f"{name:<{width}}  {' '.join(str(int(item)) for item in row)}" for name, row in lines
        )

    def sets(self) -> list[set[Hashable]]:
        """Return the columns as sets.

        >>> characteristic_matrix([{1, 2}, set(), {2}]).sets()
        [{1, 2}, set(), {2}]
        """
        return [{self.elements[row] for row in np.flatnonzero(column)} for column in self.matrix.T]

    def permuted(self, order: Sequence[int]) -> CharacteristicMatrix:
        """Return the matrix with permuted rows.

        Args:
            order: Row i of the result is row `order[i]` of this matrix.

        Returns:
            The permuted matrix.

        Raises:
            SettingsError: `order` is not a permutation of the rows.

        >>> characteristic_matrix([{1, 2}, {2}]).permuted([1, 0]).elements
        (2, 1)
        """
        if sorted(order) != list(range(len(self.elements))):
            raise SettingsError(
                f"order must contain each of the rows 0 to {len(self.elements) - 1} once, got {list(order)}"
            )
        rows = [int(row) for row in order]
        return CharacteristicMatrix(tuple(self.elements[row] for row in rows), self.matrix[rows])


def characteristic_matrix(
    sets: Iterable[Collection[Hashable]], universe: Iterable[Hashable] | None = None
) -> CharacteristicMatrix:
    """Return the characteristic matrix of sets: a row for each element, a column for each set.

    As in Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3.

    Args:
        sets: Collections of hashable elements.
        universe: Elements in the order of the rows. Defaults to all elements of the sets, in ascending order if all
            can be compared, otherwise by type and `repr`.

    Returns:
        The matrix.

    Raises:
        InputError: An element is not in the universe.

    >>> characteristic_matrix([{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]).matrix.astype(int).tolist()
    [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]
    """
    members = [dict.fromkeys(item) for item in sets]
    seen: dict[Hashable, None] = {element: None for item in members for element in item}
    elements = _ordered(seen) if universe is None else tuple(dict.fromkeys(universe))
    row_of = {element: row for row, element in enumerate(elements)}
    strangers = [element for element in seen if element not in row_of]
    if strangers:
        raise InputError(f"{strangers[0]!r} is in a set but not in the universe of {len(elements)} elements")
    matrix = np.zeros((len(elements), len(members)), dtype=np.bool_)
    for column, member in enumerate(members):
        matrix[[row_of[element] for element in member], column] = True
    return CharacteristicMatrix(elements, matrix)


def _ordered(seen: Iterable[Any]) -> tuple[Any, ...]:
    """Return the order of the rows, which must not depend on the iteration order of sets."""
    elements = tuple(seen)
    try:
        ascending = sorted(elements)
        if all(item < other for item, other in pairwise(ascending)):  # sets of sets cannot all be compared
            return tuple(ascending)
    except TypeError:
        pass
    return tuple(sorted(elements, key=_written))


def _written(element: Any) -> tuple[str, str]:
    """Return a sort key for elements that cannot be compared; inner sets are sorted."""
    inner = sorted(map(_written, element)) if isinstance(element, frozenset) else element
    return type(element).__name__, repr(inner)


def permutation_minhash(
    sets: Iterable[Collection[Hashable]], order: Sequence[Hashable]
) -> list[Hashable | None]:
    """Return the minhash of each set under a permutation: its first element in `order`, or None.

    Two sets have the same minhash under a random permutation with the probability that is their Jaccard
    similarity (Broder 1997).

    >>> permutation_minhash(["b", "c", "abd"], order="cabd")
    ['b', 'c', 'a']
    """
    return [next((element for element in order if element in item), None) for item in sets]


def signature_steps(
    characteristic: CharacteristicMatrix, functions: Iterable[RowHashes]
) -> Iterator[NDArray[np.float64]]:
    """Yield the signature matrix after each row of the characteristic matrix.

    Infinity means that no element of the set was processed yet. Each row with an element of a set lowers the set's
    column to the smaller of its values and those of the row ("Mining of Massive Datasets", chapter 3).

    Args:
        characteristic: The characteristic matrix.
        functions: Callables that take the number of a row, from 0, or the values of all rows, e.g. a matrix functions ×
            rows as returned by `family.values(rows, count)` of a hash family. Values must be between -2^53 and 2^53.

    Yields:
        The signature matrix (float64, functions × sets).

    Raises:
        SettingsError: A function has an invalid value or number of values.

    >>> matrix = characteristic_matrix([{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}])
    >>> steps = signature_steps(matrix, [lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5])
    >>> next(steps).tolist()
    [[1.0, inf, inf, 1.0], [1.0, inf, inf, 1.0]]
    >>> list(steps)[-1].tolist()
    [[1.0, 3.0, 0.0, 1.0], [0.0, 2.0, 0.0, 0.0]]
    """
    values = _values(functions, len(characteristic.elements))
    return _steps(characteristic.matrix, values)


def _steps(matrix: NDArray[np.bool_], values: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    signatures = np.full((len(values), matrix.shape[1]), np.inf)
    for members, hashes in zip(matrix, values.T, strict=True):
        offered = np.where(members, hashes[:, None], np.inf)
        signatures = np.minimum(signatures, offered)
        yield signatures.copy()


def signature_matrix(
    characteristic: CharacteristicMatrix, functions: Iterable[RowHashes]
) -> NDArray[np.float64]:
    """Return the signature matrix of sets: the last one of `signature_steps`.

    Args:
        characteristic: The characteristic matrix.
        functions: As in `signature_steps`.

    Returns:
        The signatures (float64, functions × sets).

    Raises:
        SettingsError: A function has an invalid value or number of values.

    >>> matrix = characteristic_matrix([{0, 3}, set()], universe=range(5))
    >>> signature_matrix(matrix, [[4, 3, 2, 1, 0]]).tolist()
    [[1.0, inf]]
    """
    values = _values(functions, len(characteristic.elements))
    empty = np.full((len(values), characteristic.matrix.shape[1]), np.inf)
    last = empty
    for step in _steps(characteristic.matrix, values):
        last = step
    return last


def estimated_similarities(signatures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of functions with equal signatures for each two sets (float64, sets × sets).

    >>> estimated_similarities(np.array([[1, 3, 0, 1], [0, 2, 0, 0]])).tolist()[0]
    [1.0, 0.0, 0.5, 1.0]
    """
    agree: NDArray[np.bool_] = signatures[:, :, None] == signatures[:, None, :]
    shares: NDArray[np.float64] = agree.mean(axis=0)
    return shares


def _values(functions: Iterable[RowHashes], rows: int) -> NDArray[np.float64]:
    """Return the value of each function for each row (functions × rows)."""
    lines = []
    for number, function in enumerate(functions):
        given = [function(row) for row in range(rows)] if callable(function) else function
        line = _numbers(number, given)
        if line.shape != (rows,):
            raise SettingsError(
                f"function {number} must have a value for each of {rows} rows, got {line.shape}"
            )
        wrong = line[~((line > -EXACT) & (line < EXACT)).astype(bool)]
        if wrong.size:
            raise SettingsError(
                f"function {number} has the value {wrong[0]}, but matrices hold values below 2^53, and above "
                "-2^53: shift it to the right"
            )
        lines.append(line.astype(np.float64))
    if not lines:
        raise SettingsError("functions must contain at least one function, got none")
    return np.array(lines)


def _numbers(number: int, values: Any) -> NDArray[Any]:
    """Return the values of a function as an array of real numbers; integers of any size remain integers."""
    try:
        line = np.asarray(values)
        # An array of objects is what whole numbers of more than 64 bits become.
        numeric = line.dtype.kind in "biuf" or all(isinstance(item, Real) for item in line.flat)
    except ValueError:  # lists of several lengths
        numeric = False
    if not numeric:
        raise SettingsError(f"function {number} must return numbers, got {values!r:.60}")
    return line
