"""Image method "seed16": 16 x 16 grey values, as in a published system."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import cell_codes
from benzer.fields.image.cells import SIDE, cell_sums


class Seed16:
    """The set {(row, column, grey div 16)} of an image scaled to 16 x 16: 256 elements.

    The image field of E. Karamatli, "Large-scale Document Similarity Search Application using Minhash" (2012): grey =
    0.299 R + 0.587 G + 0.114 B, scaled by area averaging. Known weakness: a change of brightness or contrast changes
    nearly every element, so such copies are not found; prefer the method "grid".
    """

    tag: ClassVar[bytes] = b"S1"
    stored_as: ClassVar[Literal["cells", "hashes"]] = "cells"
    enough_pixels: ClassVar[int | None] = None

    def describe(self, picture: NDArray[np.uint8]) -> bytes:
        """Return the tag, then 256 values of 4 bits, row by row; the first of two is the low half of its byte."""
        height, width = picture.shape[:2]
        grey = cell_sums(picture).ravel() // (1000 * height * width * 16)
        return self.tag + pack(grey.astype(np.uint8))

    def fits(self, description: bytes) -> bool:
        """Whether there are the tag and 256 values."""
        return len(description) == len(self.tag) + SIDE * SIDE // 2

    def codes(self, description: bytes) -> NDArray[np.uint32]:
        """Return 16 x cell + grey."""
        return cell_codes(description)

    def read(self, code: int) -> str:
        """Return the cell and its brightness from 0 to 15."""
        cell, grey = divmod(code, 16)
        return f"row {cell // SIDE}, column {cell % SIDE}: grey {grey}"

    def band_threshold(self, threshold: float) -> float:
        """Return the threshold itself."""
        return threshold

    def least_jaccard(self, threshold: float) -> float:
        """Return the threshold itself."""
        return threshold


def pack(values: NDArray[np.uint8]) -> bytes:
    """Pack values of 4 bits, two per byte, the first in the low half.

    >>> pack(np.array([1, 2, 15, 0], dtype=np.uint8))
    b'!\\x0f'
    """
    return (values[0::2] | values[1::2] << np.uint8(4)).astype(np.uint8).tobytes()
