"""Small images made from a seed: something to see, without a file that ships."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]


def scene(seed: int, height: int = 96, width: int = 128) -> Pixels:
    """Soft light, a dozen rectangles and a little grain (uint8, RGB): detail at several sizes."""
    rng = np.random.default_rng(seed)
    light = Image.fromarray(rng.integers(60, 200, (5, 6, 3), dtype=np.uint8))
    picture = np.asarray(light.resize((width, height), Image.Resampling.BICUBIC)).astype(np.int64)
    for _ in range(12):
        top, left = rng.integers(0, height - 8), rng.integers(0, width - 8)
        down, across = rng.integers(6, height // 3), rng.integers(6, width // 3)
        picture[top : top + down, left : left + across] += rng.integers(-60, 60, 3)
    picture += rng.integers(-6, 7, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)


def flat(value: int, height: int = 40, width: int = 60) -> Pixels:
    """One grey everywhere."""
    return np.full((height, width, 3), value, dtype=np.uint8)


def as_file(picture: Any, format: str, mode: str | None = None, **options: Any) -> bytes:
    """The bytes of a picture file; `mode` is that of Pillow to convert to first."""
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    packed = BytesIO()
    (image.convert(mode) if mode else image).save(packed, format, **options)
    return packed.getvalue()


def resized(picture: Pixels, height: int, width: int) -> Pixels:
    """As an editor would: Lanczos."""
    return np.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.LANCZOS))
