"""The registry of image methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from benzer.registry import Registry

METHODS = Registry(
    "image method",
    {
        "grid": "benzer.fields.image.grid:Grid",
        "local": "benzer.fields.image.local:Local",
        "seed16": "benzer.fields.image.seed16:Seed16",
    },
)

# The similarity from which two pictures count as near-duplicates; docs/image-recall.md has the measurements.
METHOD_THRESHOLDS = {"grid": 0.30, "local": 0.5, "seed16": 0.40}


class ImageMethod(Protocol):
    """A method that describes an image, and makes a set of hashes of the description.

    A description starts with `tag`, which names the method and the version of its bytes, so that a later version is
    never compared with an earlier one.
    """

    tag: ClassVar[bytes]
    stored_as: ClassVar[Literal["cells", "hashes"]]
    """What reads descriptions natively: "cells", or "hashes" if only `codes` does."""
    enough_pixels: ClassVar[int | None]
    """How many rows and columns are enough: a JPEG file of twice as many or more is decoded at 1/2, 1/4 or 1/8."""

    def describe(self, picture: NDArray[np.uint8]) -> bytes:
        """Return all that is stored of an image (uint8, height x width x RGB)."""
        ...

    def fits(self, description: bytes) -> bool:
        """Whether a description that starts with `tag` has a valid length and valid values."""
        ...

    def codes(self, description: bytes) -> NDArray[np.uint32]:
        """Return the elements of the set (uint32, distinct), in the order of the description."""
        ...

    def read(self, code: int) -> str:
        """Return an element in readable form."""
        ...

    def band_threshold(self, threshold: float) -> float:
        """Return the Jaccard similarity of the sets for which bands must reach the recall; see `SeenField`."""
        ...

    def least_jaccard(self, threshold: float) -> float:
        """Return a Jaccard similarity of the sets that every pair at or above `threshold` reaches."""
        ...


class ComparingMethod(ImageMethod, Protocol):
    """A method with a similarity other than the Jaccard similarity of the sets."""

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the similarity of one description and each of others."""
        ...


def has_own_comparison(method: ImageMethod) -> TypeGuard[ComparingMethod]:
    """Whether descriptions are compared by more than their sets."""
    return hasattr(method, "compare")


def load(name: str) -> ImageMethod:
    """Return the method with a name; a `SettingsError` lists all if there is none."""
    method: Any = METHODS.load(name)
    made: ImageMethod = method()
    return made
