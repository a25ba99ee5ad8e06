"""Generated sample images: landscapes, each in several versions."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.service.pictures.copies import pillow

WIDTH, HEIGHT = 480, 320
SCENES = 8

Pixels = NDArray[np.uint8]


def variants() -> Iterator[tuple[str, bytes]]:
    """Ids and files: each landscape as the original and as typical copies."""
    for seed in range(SCENES):
        image = pillow().fromarray(landscape(seed))
        name = f"landscape-{seed + 1}"
        yield f"{name}/original", as_file(image, "PNG")
        yield f"{name}/recompressed", as_file(image, "JPEG", quality=25)
        yield f"{name}/half-size", as_file(image.resize((WIDTH // 2, HEIGHT // 2)), "JPEG", quality=80)
        yield f"{name}/cropped", as_file(image.crop((10, 8, WIDTH - 14, HEIGHT - 6)), "JPEG", quality=80)
        yield f"{name}/grey", as_file(image.convert("L"), "JPEG", quality=80)


def as_file(image: Any, form: str, **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def landscape(seed: int) -> Pixels:
    """A sky with a sun and ranges of hills (uint8, height x width x RGB); deterministic for a seed."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    top, bottom = rng.integers(40, 160, 3), rng.integers(150, 250, 3)
    picture = top + (bottom - top) * (rows / HEIGHT)[:, :, None]
    across, down, size = rng.uniform(0.1, 0.9) * WIDTH, rng.uniform(0.1, 0.35) * HEIGHT, rng.uniform(18, 40)
    glow = np.exp(-((columns - across) ** 2 + (rows - down) ** 2) / (2 * size**2))
    picture += glow[:, :, None] * rng.uniform(60, 140) * np.array([1.0, 0.9, 0.6])
    ranges = int(rng.integers(3, 6))
    for depth in range(ranges):
        ridge = hills(rng, (0.4 + 0.5 * depth / ranges) * HEIGHT, 50 / (1 + depth * 0.4))
        colour = rng.integers(20, 170, 3) * (1 - 0.12 * depth)
        shade = colour + (rows[:, :, None] - ridge[None, :, None]) * 0.25
        picture = np.where((rows > ridge)[:, :, None], shade, picture)
    for _ in range(int(rng.integers(8, 20))):  # trees
        foot, left, tall = rng.uniform(0.6, 0.98) * HEIGHT, rng.uniform(0, 1) * WIDTH, rng.uniform(20, 60)
        inside = (abs(columns - left) < (rows - foot + tall) * 0.3) & (rows < foot) & (rows > foot - tall)
        picture[inside] = rng.integers(10, 110, 3)
    grained: Pixels = np.clip(picture + rng.normal(0, 2, picture.shape), 0, 255).astype(np.uint8)
    return grained


def hills(rng: np.random.Generator, height: float, swing: float) -> NDArray[np.float64]:
    """The skyline of a range of hills: a sum of waves of decreasing length."""
    position = np.arange(WIDTH) / WIDTH
    waves = [
        swing / wave * np.sin(2 * np.pi * (wave * position * rng.uniform(0.7, 1.5) + rng.uniform()))
        for wave in (1, 2, 4, 9)
    ]
    skyline: NDArray[np.float64] = height + np.sum(waves, axis=0)
    return skyline
