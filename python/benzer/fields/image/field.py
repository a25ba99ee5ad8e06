"""Field type for images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import Contents, TextReader
from benzer.document import Description, FieldValue
from benzer.errors import BenzerError, InputError, SettingsError
from benzer.fields.base import Kind, Sets
from benzer.fields.image.elements import concatenated, hashes, jaccard_to_first
from benzer.fields.image.methods import METHOD_THRESHOLDS, ImageMethod, has_own_comparison, load
from benzer.fields.image.reading import name_of, read
from benzer.fields.text import checked_weight

# Just below what Pillow itself warns of as a decompression bomb.
MAX_PIXELS = 89_000_000


@dataclass(frozen=True)
class Image:
    """An image field: the path of a file, the bytes of a file, or a uint8 array (grey, RGB, or RGB and alpha).

    Reading files requires the extra `images`. An unreadable image raises an `InputError` that names the file.

    Args:
        method: How an image becomes a set.
            "grid": 512 elements from the order by brightness of 16 x 16 cells. Finds copies that were resized,
            recompressed, brightened, converted to grey, slightly cropped, or got a border. 130 bytes per image; takes
            little more time than decoding the file.
            "local": visual words of SIFT features, compared by matching them (`own_similarity`). Also finds crops and
            rotated or partly covered copies. Requires the extra `sift`. 15 to 150 ms and up to 12.5 KB per image.
            "seed16": 16 x 16 grey values as in a published system; for comparison only, because changes in
            brightness defeat it.
        weight: Weight of this field in the similarity, > 0.
        max_pixels: Larger images are rejected before decoding, as are images with a side of more than 65,535 pixels.
            Processing takes about 8 bytes of memory per pixel and thread, 11 if the image is rotated by its metadata.

    Raises:
        SettingsError: A setting is out of range.

    >>> import numpy as np
    >>> slope = np.add.outer(np.arange(32), np.arange(48)).astype(np.uint8)
    >>> image = Image()
    >>> image.similarity(slope, slope * 3)
    1.0
    >>> image.threshold
    0.3
    """

    method: str = "grid"
    weight: float = 1.0
    max_pixels: int = MAX_PIXELS

    kind: ClassVar[Kind] = "image"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checked_weight(self.weight))
        if self.max_pixels < 1:
            raise SettingsError(f"max_pixels must be at least 1, got {self.max_pixels}")
        _ = self._method

    @cached_property
    def _method(self) -> ImageMethod:
        return load(self.method)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_method"}

    @property
    def reader(self) -> TextReader | None:
        """None: images are not read as text."""
        return None

    @property
    def threshold(self) -> float:
        """The minimum similarity of two images that are copies of each other, measured for the method."""
        return METHOD_THRESHOLDS[self.method]

    @property
    def own_similarity(self) -> bool:
        """See `SeenField`."""
        return has_own_comparison(self._method)

    @property
    def stored_as(self) -> Literal["cells", "hashes"]:
        """How the native core reads descriptions; see `Schema.stored_readers`."""
        return self._method.stored_as if type(self) is Image else "hashes"

    def band_threshold(self, threshold: float) -> float:
        """See `SeenField`."""
        return self._method.band_threshold(threshold)

    def least_jaccard(self, threshold: float) -> float:
        """See `BoundedField`."""
        return self._method.least_jaccard(threshold)

    def describe(self, contents: Sequence[FieldValue], threads: int = 1) -> list[bytes | InputError]:
        """See `SeenField`."""
        workers = min(threads or available_cores(), max(len(contents), 1))
        if workers == 1:
            return [self._attempt(content) for content in contents]
        with ThreadPoolExecutor(workers, thread_name_prefix="benzer-image") as pool:
            return list(pool.map(self._attempt, contents))

    def _attempt(self, content: FieldValue) -> bytes | InputError:
        try:
            return self.encode(content)
        except InputError as error:
            return error

    def encode(self, content: FieldValue) -> bytes:
        """See `Field`: the description of the image."""
        if isinstance(content, Description):
            return self._checked(content.data)
        try:
            return self._method.describe(read(content, self.max_pixels, self._method.enough_pixels))
        except BenzerError:
            raise
        # Memory that is not there, an error of OpenCV: one picture ends no run that skips what cannot be read.
        except Exception as error:
            why = str(error).strip().rstrip(".") or type(error).__name__
            raise InputError(
                f"{name_of(content)} could not be processed ({why}): make it smaller, or remove it"
            ) from error

    def _checked(self, description: bytes) -> bytes:
        tag = self._method.tag
        if not description.startswith(tag):
            raise InputError(
                f'the description of an image must start with {tag!r} for the method "{self.method}", '
                f"got {description[: len(tag)]!r}: describe the image again"
            )
        if not self._method.fits(description):
            raise InputError(
                f'the description of an image for the method "{self.method}" is damaged '
                f"({len(description):,} bytes): describe the image again"
            )
        return description

    def decode(self, data: bytes) -> FieldValue:
        """See `Field`: the description, which represents the image."""
        return Description(data)

    def sets(self, contents: Sequence[FieldValue], threads: int = 1) -> Sets:
        """See `Field`. Raises the error of the first content that cannot be read."""
        present = [content for content in contents if content is not None]
        answers = iter(self.describe(present, threads))
        encoded: list[bytes | None] = []
        for content in contents:
            answer = None if content is None else next(answers)
            if isinstance(answer, InputError):
                raise answer
            encoded.append(answer)
        return self.encoded_sets(encoded)

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        """See `Field`."""
        checked = [None if content is None else self._checked(content) for content in contents]
        if self.stored_as == "cells":
            return Contents(["cells"], [checked]).sets(0)
        nothing = np.zeros(0, dtype=np.uint64)
        return concatenated(
            [nothing if item is None else hashes(self._method.codes(item)) for item in checked]
        )

    def no_detail(self, content: FieldValue) -> bool:
        """Whether the image's set is empty, because nothing in it identifies a copy.

        Such an image is similar to no other, not even to another one of uniform colour: it is always kept.

        Args:
            content: An image.

        >>> Image().no_detail(np.full((20, 20), 128, dtype=np.uint8))
        True
        """
        return content is None or not len(self._method.codes(self.encode(content)))

    def shared(self, a: FieldValue, b: FieldValue) -> list[str]:
        """See `Field`."""
        if a is None or b is None:
            return []
        there = set(self._method.codes(self.encode(b)).tolist())
        codes = self._method.codes(self.encode(a)).tolist()
        return [self._method.read(code) for code in codes if code in there]

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        """See `SeenField`."""
        checked = [self._checked(item) for item in (a, *others)]
        if has_own_comparison(self._method):
            return self._method.compare(checked[0], checked[1:])
        return jaccard_to_first(self.encoded_sets(checked))

    def similarity(self, a: FieldValue, b: FieldValue) -> float:
        """Return the similarity of two images, as `compare` computes it.

        Args:
            a: An image.
            b: An image.
        """
        return float(self.compare(self.encode(a), [self.encode(b)])[0])

    def to_dict(self) -> dict[str, Any]:
        """See `Field`."""
        return {"type": "image", **asdict(self)}


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
