"""Creates thumbnails: at most 256 pixels per side, without any metadata of the file."""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from benzer.fields.image.reading import PROGRAMS
from benzer.registry import require

LONGEST_SIDE = 256
QUALITY = 80


class Thumbnail(NamedTuple):
    """The bytes of a thumbnail and their media type."""

    media_type: str
    data: bytes


def pillow() -> Any:
    """The package that reads images."""
    return require("PIL.Image", extra="images", purpose="Pictures")


def thumbnail_of(content: bytes) -> Thumbnail | None:
    """A thumbnail, upright and without metadata; None if it cannot be created.

    A JPEG, or a PNG if the image has transparency.
    """
    image = pillow()
    try:
        with image.open(BytesIO(content)) as opened:
            if opened.format in PROGRAMS:
                return None
            opened.draft(None, (2 * LONGEST_SIDE, 2 * LONGEST_SIDE))
            small = _upright(opened)
        return _encoded(small)
    except (
        Exception
    ):  # hostile bytes can raise any error in a decoder; the image is then stored without a thumbnail
        return None


def _upright(image: Any) -> Any:
    """The first frame, at most 256 pixels per side, rotated by its EXIF data, in RGB or RGBA."""
    from PIL import ImageOps

    mode = "RGBA" if image.has_transparency_data else "RGB"
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))  # first, so that the full image is never converted
    turned = ImageOps.exif_transpose(image)
    if turned.mode in ("I;16", "I", "F"):  # more bits than Pillow converts: scaled
        grey = np.asarray(turned, dtype=np.float64)
        low, high = float(grey.min()), float(grey.max())
        turned = pillow().fromarray(((grey - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))
    return turned.convert(mode)


def _encoded(image: Any) -> Thumbnail:
    """The pixels only: EXIF data, comments and colour profiles are not written."""
    pixels = pillow().new(image.mode, image.size)
    pixels.paste(image)
    buffer = BytesIO()
    if image.mode == "RGBA":
        pixels.save(buffer, "PNG", optimize=True)
        return Thumbnail("image/png", buffer.getvalue())
    pixels.save(buffer, "JPEG", quality=QUALITY)
    return Thumbnail("image/jpeg", buffer.getvalue())
