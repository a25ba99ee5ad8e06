"""Image method "local": matching local features in matching arrangements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer.fields.image.cells import luma
from benzer.fields.image.elements import concatenated, jaccard_to_first
from benzer.fields.image.opencv import ONE_THREAD, opencv
from benzer.fields.image.words import BYTES, WORD_BITS, bits_of, differing_bits, rooted, words_of

LONGEST_SIDE = 512
UNIT = 64  # positions are kept in sixty-fourths of a pixel
HEAD = 6  # bytes: the tag, width and height
MOST_DETECTED = 1500
MOST_KEPT = 500
SPREAD = 6
CONTRAST = 0.015

LEAST_WORDS = 0.0015
BAND_THRESHOLD = 0.005
CALIBRATED_FROM = 0.5
RATIO = 0.7
FARTHEST = 255
TOLERANCE = 6.0
TRIALS = 500
CELLS = 8
ENOUGH_CELLS = 16

Points = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Features:
    """The content of a description: the size of the image, and for each feature its position and 168 bits.

    Attributes:
        size: Width and height (float32); the longer one is 512.
        places: x and y of each feature (float32, n x 2) on that scale.
        bits: Bits of each feature, packed (uint8, n x 21).
    """

    size: Points
    places: Points
    bits: NDArray[np.uint8]


class Local:
    """Local features (SIFT, D. Lowe 2004), spread over the image, as visual words made without training.

    The set has 6 words of 28 bits for each of at most 500 features. Candidates are images that share words. Their
    similarity is computed by matching features: those that are each other's nearest, clearly nearer than the second
    nearest, and mapped by one affine map (shift, rotation, scale, shear). The similarity is the number of matched
    cells of an 8 x 8 grid, in the image with fewer of them; 8 cells are 0.5, 16 or more 1.0. This similarity is used
    (`compare`), not the Jaccard similarity of the sets.

    Finds crops, and rotated, scaled and partly covered copies. Does not find mirrored copies: also search for the
    mirrored image. Images without texture have few features and can be below any threshold. Descriptions have up to
    12.5 KB. They are equal for the same version of OpenCV on the same kind of processor.
    """

    tag: ClassVar[bytes] = b"L1"
    stored_as: ClassVar[Literal["cells", "hashes"]] = "hashes"
    enough_pixels: ClassVar[int | None] = LONGEST_SIDE

    def describe(self, picture: NDArray[np.uint8]) -> bytes:
        """Return the tag; width and height; x and y of each feature; 21 bytes of each.

        Lengths are little-endian 16-bit numbers, in 64ths of a pixel of an image with a longest side of 512.
        """
        size, places, bits = _detected(picture)
        order = np.lexsort((*bits.T[::-1], places[:, 0], places[:, 1]))
        return self.tag + b"".join(part.tobytes() for part in (size, places[order], bits[order]))

    def fits(self, description: bytes) -> bool:
        """Whether there are the tag, a size above 0, and at most 500 features."""
        count, rest = divmod(len(description) - HEAD, 4 + BYTES)
        whole = rest == 0 and 0 <= count <= MOST_KEPT
        return whole and bool(np.frombuffer(description, dtype="<u2", count=2, offset=2).all())

    def codes(self, description: bytes) -> NDArray[np.uint32]:
        """Return the distinct words, ascending."""
        return words_of(unpacked(description).bits)

    def read(self, code: int) -> str:
        """Return the table and the word."""
        return f"table {code >> WORD_BITS}: word {code % 2**WORD_BITS:07x}"

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        """Return matched cells / 16, at most 1; takes about a millisecond each.

        If fewer than 0.15 % of the words are shared, it is 0, which takes a tenth of a millisecond.
        """
        alike = jaccard_to_first(concatenated([self._words(item) for item in (a, *others)]))
        for position in np.flatnonzero(alike < 1).tolist():
            alike[position] = 0.0 if alike[position] < LEAST_WORDS else matched(a, others[position])
        return alike

    def _words(self, description: bytes) -> NDArray[np.uint64]:
        """Return the words as a set to compare; their hashes would have the same Jaccard similarity."""
        return self.codes(description).astype(np.uint64)

    def band_threshold(self, threshold: float) -> float:
        """Return 0.005 for thresholds from 0.5 on, as calibrated in docs/image-recall.md; `least_jaccard` below that.

        Bands for 0.005 find at least the promised share of the pairs at such a threshold, because most of them share
        far more of their words. Pairs below 0.5 share too few words for that; bands are then made for all of them.
        """
        return BAND_THRESHOLD if threshold >= CALIBRATED_FROM else self.least_jaccard(threshold)

    def least_jaccard(self, threshold: float) -> float:
        """Return 0.0015: pairs that share fewer words have the similarity 0."""
        return min(threshold, LEAST_WORDS)


def unpacked(description: bytes) -> Features:
    """Return the parts of a description."""
    numbers = np.frombuffer(description, dtype="<u2", count=2, offset=2)
    count = (len(description) - HEAD) // (4 + BYTES)
    places = np.frombuffer(description, dtype="<u2", count=2 * count, offset=HEAD)
    bits = np.frombuffer(description, dtype=np.uint8, offset=HEAD + 4 * count)
    return Features(
        numbers.astype(np.float32) / np.float32(UNIT),
        places.reshape(count, 2).astype(np.float32) / np.float32(UNIT),
        bits.reshape(count, BYTES),
    )


def matched(a: bytes, b: bytes) -> float:
    """Return the similarity of two descriptions by matching; the same in either order."""
    item, other = (unpacked(description) for description in sorted((a, b)))
    left, right = mutual_matches(differing_bits(item.bits, other.bits))
    consistent_ones = consistent(item.places[left], other.places[right])
    cells = min(cells_of(item, left[consistent_ones]), cells_of(other, right[consistent_ones]))
    return min(1.0, cells / ENOUGH_CELLS)


def mutual_matches(distance: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs (row, column) that are nearest to each other, and nearer than 0.7 of the row's second nearest.

    >>> left, right = mutual_matches(np.array([[1, 8, 9], [8, 7, 9]], dtype=np.uint8))
    >>> left.tolist(), right.tolist()
    ([0], [0])
    """
    nothing = np.zeros(0, dtype=np.intp)
    if min(distance.shape) < 2:
        return nothing, nothing
    rows = np.arange(len(distance))
    nearest = distance.argmin(axis=1)
    mutual = distance.argmin(axis=0)[nearest] == rows
    first = distance[rows, nearest]
    others = distance.copy()
    others[rows, nearest] = FARTHEST
    clear = rows[mutual & (first < RATIO * others.min(axis=1))]
    return clear, nearest[clear]


def consistent(a: Points, b: Points) -> NDArray[np.bool_]:
    """Return the matches that one affine map moves from `a` to within 6 pixels of `b` (RANSAC, 500 trials)."""
    if len(a) < 4:  # three points always agree
        return np.zeros(len(a), dtype=bool)
    cv2 = opencv()
    transform, inliers = cv2.estimateAffine2D(
        a, b, method=cv2.RANSAC, ransacReprojThreshold=TOLERANCE, maxIters=TRIALS, refineIters=0
    )
    return np.zeros(len(a), dtype=bool) if transform is None else inliers.ravel().astype(bool)


def cells_of(features: Features, chosen: NDArray[np.intp]) -> int:
    """Return in how many cells of an 8 x 8 grid the chosen features are."""
    cells = np.minimum(features.places[chosen] * CELLS // features.size, CELLS - 1)
    return len(np.unique(cells @ np.array([1, CELLS], dtype=np.float32)))


def _detected(
    picture: NDArray[np.uint8],
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint8]]:
    """Return size, positions and bits of the features, as a description stores them."""
    cv2 = opencv()
    grey = _reduced(cv2, picture)
    height, width = grey.shape
    with ONE_THREAD.limited(cv2):
        sift = cv2.SIFT_create(nfeatures=MOST_DETECTED, contrastThreshold=CONTRAST)
        points, descriptors = sift.detectAndCompute(grey, None)
    scale = UNIT * LONGEST_SIDE / max(height, width)
    size = np.rint(np.array([width, height]) * scale).astype("<u2")
    if not points:
        return size, np.zeros((0, 2), dtype="<u2"), np.zeros((0, BYTES), dtype=np.uint8)
    places = np.array([point.pt for point in points], dtype=np.float64)
    chosen = spread(places / [width, height], np.array([point.response for point in points]))
    kept = np.clip(np.rint(places[chosen] * scale), 0, size).astype("<u2")
    return size, kept, bits_of(rooted(descriptors[chosen]))


def _reduced(cv2: Any, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the grey image with a longest side of at most 512; a smaller image is not enlarged."""
    height, width = picture.shape[:2]
    share = LONGEST_SIDE / max(height, width)
    if share < 1:
        size = (max(1, round(width * share)), max(1, round(height * share)))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return ((luma(picture) + 500) // 1000).astype(np.uint8)


def spread(places: NDArray[np.float64], strength: NDArray[Any]) -> NDArray[np.intp]:
    """Select at most 500 features: the strongest of each of 6 x 6 cells, then the second strongest, and so on.

    Otherwise one sharp caption would take all of them.

    Args:
        places: x and y in 0 ... 1.
        strength: Strength of each feature.
    """
    cells = np.clip((places * SPREAD).astype(int), 0, SPREAD - 1) @ [1, SPREAD]
    order = np.lexsort((places[:, 0], places[:, 1], -strength, cells))
    first = np.searchsorted(cells[order], cells[order], side="left")
    turn = np.empty(len(order), dtype=np.intp)
    turn[order] = np.arange(len(order)) - first
    return np.lexsort((places[:, 0], places[:, 1], -strength, turn))[:MOST_KEPT]
