"""Image method "grid": the order of cells by brightness, which survives resizing and recompression."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import cell_codes
from benzer.fields.image.cells import SIDE, cell_sums, luma
from benzer.fields.image.seed16 import pack

CELLS = SIDE * SIDE
LEVELS = 12
FLATTEST_LINE = 12_000  # thousandths of a grey value: JPEG noise of a flat border stays below
MOST_TRIMMED = 30
LEAST_DEVIATION = 4.0
MOST_LINES, MOST_LINE_PIXELS = 256, 2**18  # are looked at at a time
FITTING = bytes(high << 4 | low for high in range(LEVELS) for low in range(LEVELS))


class Grid:
    """Removes uniform borders, scales the image to 16 x 16 cells, and ranks the cells by brightness.

    Each cell gives two elements: the sixth of the ranking that it is in, and the same with the limits shifted by half
    a sixth, so that a cell close to a limit keeps one of the two: 512 elements. Ranks do not change with brightness,
    contrast, gamma, or between colour and grey. If the cells hardly differ (standard deviation below 4 of 255),
    nothing identifies a copy, and the set is empty.

    Not suited for crops of more than 5 % per side, rotations of more than 5 degrees, and mirroring: see the method
    "local".
    """

    tag: ClassVar[bytes] = b"G1"
    stored_as: ClassVar[Literal["cells", "hashes"]] = "cells"
    enough_pixels: ClassVar[int | None] = 512

    def describe(self, picture: NDArray[np.uint8]) -> bytes:
        """Return the tag, then the twelfth of each cell's rank in 4 bits; only the tag for an image without detail."""
        inner = trimmed(picture)
        sums = cell_sums(inner).ravel()
        if is_flat(sums, 1000 * inner.shape[0] * inner.shape[1]):
            return self.tag
        return self.tag + pack(rank_levels(sums))

    def fits(self, description: bytes) -> bool:
        """Whether this is the tag alone, or with 256 twelfths."""
        levels = description[len(self.tag) :]
        return len(levels) in (0, CELLS // 2) and not levels.translate(None, FITTING)

    def codes(self, description: bytes) -> NDArray[np.uint32]:
        """Return 16 x cell + sixth, and 16 x cell + 8 + shifted sixth."""
        return cell_codes(description)

    def read(self, code: int) -> str:
        """Return the cell, and the sixth of the ranking."""
        cell, level = divmod(code, 16)
        where = f"row {cell // SIDE}, column {cell % SIDE}"
        return f"{where}: moved sixth {level - 8}" if level >= 8 else f"{where}: sixth {level}"

    def band_threshold(self, threshold: float) -> float:
        """Return the threshold itself."""
        return threshold

    def least_jaccard(self, threshold: float) -> float:
        """Return the threshold itself."""
        return threshold


def rank_levels(values: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the twelfth (0 to 11) of the rank of each value; equal values share the middle of their ranks.

    >>> rank_levels(np.array([10, 20, 20, 30])).tolist()
    [1, 6, 6, 10]
    """
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    not_above = np.searchsorted(ordered, values, side="right")
    return (LEVELS * (below + not_above) // (2 * len(values))).astype(np.uint8)


def is_flat(sums: NDArray[np.int64], unit: int) -> bool:
    """Whether the standard deviation of `sums / unit` is below 4, in integers to be equal on all machines."""
    total = sum(sums.tolist())
    squares = sum(value * value for value in sums.tolist())
    count = len(sums)
    return bool(count * squares - total * total < (LEAST_DEVIATION * count * unit) ** 2)


def trimmed(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Remove the uniform borders of an image: first rows, then columns of the rest, up to 30 % per side.

    >>> picture = np.full((40, 40, 3), 255, dtype=np.uint8)
    >>> picture[8:32, 4:] = np.add.outer(np.arange(24), np.arange(36))[:, :, None] * 3
    >>> trimmed(picture).shape
    (24, 36, 3)
    """
    picture = _without_flat_rows(picture)
    return _without_flat_rows(picture.transpose(1, 0, 2)).transpose(1, 0, 2)


def _without_flat_rows(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    top, bottom = border(picture), border(picture[::-1])
    return picture[top : len(picture) - bottom]


def border(picture: NDArray[np.uint8]) -> int:
    """Return how many of the first rows are uniform; at most 30 % of all.

    Rows are read in growing portions: most images need only the first row, and an image with thousands of short rows
    takes few steps.
    """
    most = len(picture) * MOST_TRIMMED // 100
    portion = max(1, min(MOST_LINES, MOST_LINE_PIXELS // picture.shape[1]))
    count, lines = 0, 1
    while count < most:
        flat = _are_flat(picture[count : min(count + lines, most)])
        if not flat.all():
            return count + int(flat.argmin())
        count += len(flat)
        lines = min(2 * lines, portion)
    return count


def _are_flat(lines: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return the lines whose pixels, except for 1 % at either end, differ by at most 12 grey values."""
    grey = luma(lines)
    aside = grey.shape[1] // 100
    last = grey.shape[1] - 1 - aside
    ordered = np.partition(grey, sorted({aside, last}), axis=1)
    flat: NDArray[np.bool_] = ordered[:, last] - ordered[:, aside] <= FLATTEST_LINE
    return flat
