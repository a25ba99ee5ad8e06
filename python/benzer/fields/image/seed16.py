"""Image method "seed16": 16 x 16 grey values, as in a published system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benzer.fields.image.cells import SIDE, cell_sums
from benzer.fields.image.elements import hashes, jaccard_to_each


class Seed16:
    """The set {(row, column, grey div 16)} of a picture brought to 16 x 16: 256 elements.

    The image field of E. Karamatli, "Large-scale Document Similarity Search Application using Minhash" (2012):
    grey = 0.299 R + 0.587 G + 0.114 B, scaled by area averaging. Known weakness: a change of brightness or
    contrast changes nearly every element, so such copies are not found; prefer the method "grid".
    """

    tag: ClassVar[bytes] = b"S1"
    own_similarity: ClassVar[bool] = False
    enough_pixels: ClassVar[int | None] = None

    def describe(self, picture: NDArray[np.uint8]) -> bytes:
        """The tag, then 256 values of 4 bits, row by row; the first of two is the low half of its byte."""
        height, width = picture.shape[:2]
        grey = cell_sums(picture).ravel() // (1000 * height * width * 16)
        return self.tag + pack(grey.astype(np.uint8))

    def fits(self, description: bytes) -> bool:
        """The tag and 256 values."""
        return len(description) == len(self.tag) + SIDE * SIDE // 2

    def codes(self, description: bytes) -> NDArray[np.uint32]:
        """16 x cell + grey."""
        return np.arange(SIDE * SIDE, dtype=np.uint32) * np.uint32(16) + unpack(description[2:])

    def read(self, code: int) -> str:
        """Where, and how bright of 0 to 15."""
        cell, grey = divmod(code, 16)
        return f"row {cell // SIDE}, column {cell % SIDE}: grey {grey}"

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        """The Jaccard similarity of the sets."""
        return jaccard_to_each(hashes(self.codes(a)), [hashes(self.codes(one)) for one in others])

    def band_threshold(self, threshold: float) -> float:
        """The threshold itself."""
        return threshold

    def least_jaccard(self, threshold: float) -> float:
        """The threshold itself."""
        return threshold


def pack(values: NDArray[np.uint8]) -> bytes:
    """Values of 4 bits, two a byte, the first in the low half.

    >>> pack(np.array([1, 2, 15, 0], dtype=np.uint8))
    b'!\\x0f'
    """
    return (values[0::2] | values[1::2] << np.uint8(4)).astype(np.uint8).tobytes()


def unpack(data: bytes) -> NDArray[np.uint32]:
    """What `pack` was given, as uint32."""
    halves = np.frombuffer(data, dtype=np.uint8)
    return np.stack([halves & np.uint8(15), halves >> np.uint8(4)], axis=1).ravel().astype(np.uint32)
