"""What is the small copy of a picture? At most 256 pixels a side, made anew: nothing else of the file is in it."""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from benzer.fields.image.reading import PROGRAMS
from benzer.registry import require

LONGEST_SIDE = 256
QUALITY = 80


class Thumbnail(NamedTuple):
    """A small copy of a picture: its bytes, and their media type."""

    media_type: str
    data: bytes


def pillow() -> Any:
    """The package that reads pictures."""
    return require("PIL.Image", extra="images", purpose="Pictures")


def thumbnail_of(content: bytes) -> Thumbnail | None:
    """A small copy, upright and with nothing else of the file in it; None where none can be made.

    A JPEG, or a PNG where there is transparency.
    """
    image = pillow()
    try:
        with image.open(BytesIO(content)) as opened:
            if opened.format in PROGRAMS:
                return None
            opened.draft(None, (2 * LONGEST_SIDE, 2 * LONGEST_SIDE))
            small = _upright(opened)
        return _encoded(small)
    except Exception:  # hostile bytes make a decoder raise anything; a picture is kept without its copy
        return None


def _upright(image: Any) -> Any:
    """The first frame, at most 256 pixels long, turned as its EXIF data says, in RGB or RGBA."""
    from PIL import ImageOps

    mode = "RGBA" if image.has_transparency_data else "RGB"
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))  # first, so that the whole is never converted
    turned = ImageOps.exif_transpose(image)
    if turned.mode in ("I;16", "I", "F"):  # wider than Pillow can show: stretched
        grey = np.asarray(turned, dtype=np.float64)
        low, high = float(grey.min()), float(grey.max())
        turned = pillow().fromarray(((grey - low) * (255 / max(high - low, 1e-9))).astype(np.uint8))
    return turned.convert(mode)


def _encoded(image: Any) -> Thumbnail:
    """The pixels alone: what an image carries beside them (EXIF data, comments, a colour profile) is not written."""
    pixels = pillow().new(image.mode, image.size)
    pixels.paste(image)
    buffer = BytesIO()
    if image.mode == "RGBA":
        pixels.save(buffer, "PNG", optimize=True)
        return Thumbnail("image/png", buffer.getvalue())
    pixels.save(buffer, "JPEG", quality=QUALITY)
    return Thumbnail("image/jpeg", buffer.getvalue())
