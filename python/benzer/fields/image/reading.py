"""How is a picture read? Upright, over white, in RGB; from a file, from bytes, or from an array."""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.document import FieldValue
from benzer.errors import InputError, MissingExtraError
from benzer.registry import require

EXTRA = "images"
ORIENTATION = 0x0112  # the EXIF tag
WIDE_GREY = ("I;16", "I;16L", "I;16B", "I;16N")
BOUNDLESS_GREY = ("I", "F")

Pixels = NDArray[np.uint8]


def read(content: FieldValue, max_pixels: int, enough: int | None = None) -> Pixels:
    """The pixels (uint8, height x width x RGB) of a picture.

    content: the path of a file; the bytes of one; or an array of uint8, height x width (grey), x 3 (RGB) or
    x 4 (RGB and alpha).

    The first frame of an animation counts; a photograph is turned as its EXIF data says; transparent parts
    show white; 16-bit greys keep their upper 8 bits, and 32-bit or floating ones are stretched from their
    least to their greatest. Whatever is wrong with a file is an `InputError` that names it; more than
    `max_pixels` pixels are refused before any is decoded. Where `enough` is given, a JPEG file is decoded at
    1/2, 1/4 or 1/8 of its size, as long as it keeps that many rows and columns; that takes a fraction of the time.

    >>> read(np.full((2, 3), 7, dtype=np.uint8), max_pixels=100).shape
    (2, 3, 3)
    """
    if isinstance(content, np.ndarray):
        return _of_array(content, max_pixels)
    if isinstance(content, bytes):
        return _of_file(BytesIO(content), f"an image of {len(content):,} bytes", max_pixels, enough)
    if isinstance(content, (str, os.PathLike)):
        return _of_file(content, os.fspath(content), max_pixels, enough)
    raise InputError(
        f"an image field takes a path, the bytes of a file or an array, got {type(content).__name__}"
    )


def _of_array(array: NDArray[Any], max_pixels: int) -> Pixels:
    grey = array.ndim == 2
    coloured = array.ndim == 3 and array.shape[2] in (3, 4)
    if array.dtype != np.uint8 or not (grey or coloured):
        raise InputError(
            "an image array must be uint8, height x width, x 3 (RGB) or x 4 (RGB and alpha), "
            f"got {array.dtype}, {' x '.join(map(str, array.shape))}"
        )
    height, width = array.shape[:2]
    if not height or not width:
        raise InputError(f"an image array must have pixels, got {height} x {width}")
    if height * width > max_pixels:
        raise InputError(_too_large("an image array", width, height, max_pixels))
    if grey:
        return np.repeat(array[:, :, None], 3, axis=2)
    return _over_white(array) if array.shape[2] == 4 else np.ascontiguousarray(array)


def _over_white(array: Pixels) -> Pixels:
    """RGB of RGB and alpha, with white behind; whole numbers, rounded."""
    alpha = array[:, :, 3:].astype(np.uint16)
    mixed = array[:, :, :3] * alpha + np.uint16(255) * (np.uint16(255) - alpha) + np.uint16(127)
    return (mixed // np.uint16(255)).astype(np.uint8)


def _of_file(
    file: str | os.PathLike[str] | BytesIO, name: str, max_pixels: int, enough: int | None
) -> Pixels:
    pillow = require("PIL.Image", extra=EXTRA, purpose="Pictures")
    try:
        with pillow.open(file) as image:
            width, height = image.size
            if width * height > max_pixels:
                raise InputError(_too_large(name, width, height, max_pixels))
            if enough is not None:
                image.draft(None, (enough, enough))
            return _upright(_pixels(image), _orientation(image))
    except (InputError, MissingExtraError):
        raise
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: give the path of one picture") from None
    except PermissionError:
        raise InputError(f"{name} may not be read: change its permissions") from None
    except pillow.UnidentifiedImageError:
        raise InputError(f"{name} is no image that can be read (of no known format): leave it out") from None
    # Decoders meet hostile bytes with many kinds of exception, from SyntaxError to struct.error.
    except Exception as error:
        why = str(error).rstrip(".") or type(error).__name__
        raise InputError(f"{name} is no image that can be read ({why}): mend it, or leave it out") from error


def _too_large(name: str, width: int, height: int, max_pixels: int) -> str:
    return (
        f"{name} is no image that can be read (it has {width} x {height} = {width * height:,} pixels, above "
        f"max_pixels, {max_pixels:,}): make it smaller, or raise max_pixels"
    )


def _pixels(image: Any) -> Pixels:
    if image.mode in WIDE_GREY:
        return _rgb_of_grey(np.asarray(image).astype(np.uint16) >> 8)
    if image.mode in BOUNDLESS_GREY:
        return _rgb_of_grey(_stretched(np.asarray(image, dtype=np.float64)))
    if image.has_transparency_data:
        return _over_white(np.asarray(image.convert("RGBA")))
    return np.asarray(image.convert("RGB"))


def _rgb_of_grey(grey: NDArray[Any]) -> Pixels:
    return np.repeat(grey.astype(np.uint8)[:, :, None], 3, axis=2)


def _stretched(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the least to the greatest finite value, as 0 to 255; what is not finite is 0."""
    finite = values[np.isfinite(values)]
    least, most = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    scale = 255 / (most - least) if most > least else 0.0
    return np.nan_to_num((values - least) * scale, nan=0.0, posinf=0.0, neginf=0.0)


def _orientation(image: Any) -> int:
    """The EXIF orientation, 1 to 8; 1 (upright) where the EXIF data is missing or broken."""
    try:
        value = image.getexif().get(ORIENTATION, 1)
    except Exception:  # a photograph is not lost for the data beside it
        return 1
    return value if value in range(2, 9) else 1


def _upright(pixels: Pixels, orientation: int) -> Pixels:
    """Undo what the EXIF orientation says was done: mirrored (2, 4, 5, 7), turned (3, 6, 8)."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)
