"""How does MinHash look on paper? The characteristic matrix of some sets, and their signatures row by row.

For teaching and for small inputs: every function here takes O(elements × sets) time and memory. `MinHash`
makes the same estimates of millions of sets without any matrix.
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
    """Which element is in which set.

    elements: the universe, one for each row.
    matrix: bool, elements × sets: whether the element of the row is in the set of the column.

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
        return "\n".join(f"{name:<{width}}  {' '.join(str(int(one)) for one in row)}" for name, row in lines)

    def sets(self) -> list[set[Hashable]]:
        """The columns as sets again.

        >>> characteristic_matrix([{1, 2}, set(), {2}]).sets()
        [{1, 2}, set(), {2}]
        """
        return [{self.elements[row] for row in np.flatnonzero(column)} for column in self.matrix.T]

    def permuted(self, order: Sequence[int]) -> CharacteristicMatrix:
        """The matrix with its rows in another order: row i is the row `order[i]` of this one.

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
    """The characteristic matrix of some sets: a row for each element, a column for each set.

    universe: the elements in the order of the rows; None means all that occur, ascending where any two can be
        compared, else by type and `repr`. An element outside it is an `InputError`.

    As in Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3.

    >>> characteristic_matrix([{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]).matrix.astype(int).tolist()
    [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 1, 0]]
    """
    members = [dict.fromkeys(one) for one in sets]
    seen: dict[Hashable, None] = {element: None for one in members for element in one}
    elements = _ordered(seen) if universe is None else tuple(dict.fromkeys(universe))
    row_of = {element: row for row, element in enumerate(elements)}
    strangers = [element for element in seen if element not in row_of]
    if strangers:
        raise InputError(f"{strangers[0]!r} is in a set but not in the universe of {len(elements)} elements")
    matrix = np.zeros((len(elements), len(members)), dtype=np.bool_)
    for column, one in enumerate(members):
        matrix[[row_of[element] for element in one], column] = True
    return CharacteristicMatrix(elements, matrix)


def _ordered(seen: Iterable[Any]) -> tuple[Any, ...]:
    """The order of the rows. It must not be that of first sight: each process walks a set in another one."""
    elements = tuple(seen)
    try:
        ascending = sorted(elements)
        if all(one < other for one, other in pairwise(ascending)):  # sets of sets cannot all be compared
            return tuple(ascending)
    except TypeError:
        pass
    return tuple(sorted(elements, key=_written))


def _written(element: Any) -> tuple[str, str]:
    """What to sort elements by that cannot be compared; a set within is written in order."""
    inner = sorted(map(_written, element)) if isinstance(element, frozenset) else element
    return type(element).__name__, repr(inner)


def permutation_minhash(
    sets: Iterable[Collection[Hashable]], order: Sequence[Hashable]
) -> list[Hashable | None]:
    """The minhash of each set under a permutation: the first element of `order` that is in it; None for none.

    Two sets have the same minhash under a random permutation with the probability that is their Jaccard
    similarity (Broder 1997).

    >>> permutation_minhash(["b", "c", "abd"], order="cabd")
    ['b', 'c', 'a']
    """
    return [next((element for element in order if element in one), None) for one in sets]


def signature_steps(
    characteristic: CharacteristicMatrix, functions: Iterable[RowHashes]
) -> Iterator[NDArray[np.float64]]:
    """The signature matrix after each row of the characteristic matrix (float64, functions × sets).

    functions: each a callable that takes the number of a row, from 0, or the values of all rows; so a matrix
        functions × rows will do, such as `family.values(rows, count)` of a hash family gives. Values lie
        between -2^53 and 2^53.

    Infinity means that no element of the set has come yet. Each row in which a set has an element lowers the
    set's column to the row's values where they are less ("Mining of Massive Datasets", chapter 3).

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
    """The signatures of the sets (float64, functions × sets): the last of the `signature_steps`.

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
    """The share of functions in which the signatures of each two sets agree (float64, sets × sets).

    >>> estimated_similarities(np.array([[1, 3, 0, 1], [0, 2, 0, 0]])).tolist()[0]
    [1.0, 0.0, 0.5, 1.0]
    """
    agree: NDArray[np.bool_] = signatures[:, :, None] == signatures[:, None, :]
    shares: NDArray[np.float64] = agree.mean(axis=0)
    return shares


def _values(functions: Iterable[RowHashes], rows: int) -> NDArray[np.float64]:
    """What each function gives each row (functions × rows)."""
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
        raise SettingsError("a signature needs at least one function, got none")
    return np.array(lines)


def _numbers(number: int, values: Any) -> NDArray[Any]:
    """The values of a function as an array of real numbers; whole ones stay whole, however large."""
    try:
        line = np.asarray(values)
        # An array of objects is what whole numbers of more than 64 bits become.
        numeric = line.dtype.kind in "biuf" or all(isinstance(one, Real) for one in line.flat)
    except ValueError:  # lists of several lengths
        numeric = False
    if not numeric:
        raise SettingsError(f"function {number} must have numbers for values, got {values!r:.60}")
    return line
