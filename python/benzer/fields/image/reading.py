"""Reads an image from a file, bytes or an array: upright, over white, in RGB."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.document import FieldValue
from benzer.errors import InputError, MissingExtraError
from benzer.registry import require

EXTRA = "images"
ORIENTATION = 0x0112  # the EXIF tag
LONGEST_SIDE = 65_535  # the longest that a JPEG file can have
BAND_PIXELS = 2**18  # are converted at a time, so that what lies between takes little memory
WIDE_GREY = ("I;16", "I;16L", "I;16B", "I;16N")
BOUNDLESS_GREY = ("I", "F")
# What Pillow opens as 32-bit grey, though the format has no more than 16 bits.
WIDE_GREY_FORMATS = ("PPM", "PNG")

Pixels = NDArray[np.uint8]


def read(content: FieldValue, max_pixels: int, enough: int | None = None) -> Pixels:
    """Return the pixels of an image (uint8, height x width x RGB).

    The first frame of an animation is used. A photograph is rotated according to its EXIF data. Transparent parts are
    white. 16-bit greys keep their upper 8 bits; 32-bit and floating-point greys are stretched from their minimum to
    their maximum.

    Takes 7 to 8 bytes of memory per pixel, 3 of them for the result; 10 to 11 if a photograph is rotated.

    Args:
        content: The path of a file; the bytes of a file; or an array of uint8, height x width (grey), x 3 (RGB) or x
            4 (RGB and alpha).
        max_pixels: Larger images are rejected before decoding, as are images with a side of more than 65,535 pixels.
        enough: A JPEG file is decoded at 1/2, 1/4 or 1/8 of its size as long as it keeps this many rows and columns;
            that takes a fraction of the time.

    Raises:
        InputError: The image cannot be read; the message names the file.

    >>> read(np.full((2, 3), 7, dtype=np.uint8), max_pixels=100).shape
    (2, 3, 3)
    """
    if isinstance(content, np.ndarray):
        return _of_array(content, max_pixels)
    name = name_of(content)
    if isinstance(content, bytes):
        return _of_file(BytesIO(content), name, max_pixels, enough)
    if isinstance(content, (str, os.PathLike)):
        if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
            raise InputError(f"{name} is a pipe or a device, not a file: use the path of an image")
        return _of_file(content, name, max_pixels, enough)
    raise InputError(
        f"an image field takes a path, the bytes of a file or an array, got {type(content).__name__}"
    )


def name_of(content: FieldValue) -> str:
    """Return the name of an image in error messages: its path, or the size of its content.

    >>> name_of(b"12345"), name_of("coast.png")
    ('an image of 5 bytes', 'coast.png')
    """
    if isinstance(content, bytes):
        return f"an image of {len(content):,} bytes"
    return str(os.fspath(content)) if isinstance(content, (str, os.PathLike)) else "an image array"


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
    _check_size(name_of(array), width, height, max_pixels)
    if grey:
        return np.repeat(array[:, :, None], 3, axis=2)
    if array.shape[2] == 3:
        return np.ascontiguousarray(array)
    return _in_bands(height, width, lambda top, bottom: _over_white(array[top:bottom]))


def _check_size(name: str, width: int, height: int, max_pixels: int) -> None:
    refused = f"{name} is not a readable image (it has {width} x {height} "
    if width * height > max_pixels:
        raise InputError(
            f"{refused}= {width * height:,} pixels, above max_pixels, {max_pixels:,}): "
            "make it smaller, or raise max_pixels"
        )
    if max(width, height) > LONGEST_SIDE:
        raise InputError(f"{refused}pixels; a side can have up to {LONGEST_SIDE:,}): split it, or remove it")


def _in_bands(height: int, width: int, band: Callable[[int, int], NDArray[Any]]) -> Pixels:
    """Return RGB pixels assembled from `band(top, bottom)`: the rows between them, in RGB or (x 1) in grey."""
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    for top, bottom in _bands(height, width):
        pixels[top:bottom] = band(top, bottom)
    return pixels


def _bands(height: int, width: int) -> Iterator[tuple[int, int]]:
    rows = max(1, BAND_PIXELS // width)
    return ((top, min(top + rows, height)) for top in range(0, height, rows))


def _over_white(array: Pixels) -> Pixels:
    """Return RGB for RGB and alpha over white, rounded to integers."""
    alpha = array[:, :, 3:].astype(np.uint16)
    mixed = array[:, :, :3] * alpha + np.uint16(255) * (np.uint16(255) - alpha) + np.uint16(127)
    return (mixed // np.uint16(255)).astype(np.uint8)


PROGRAMS = ("EPS", "WMF")
"""Formats that Pillow hands to another program, such as Ghostscript, to be carried out: never on a stranger's word."""


def _of_file(
    file: str | os.PathLike[str] | BytesIO, name: str, max_pixels: int, enough: int | None
) -> Pixels:
    pillow = require("PIL.Image", extra=EXTRA, purpose="Pictures")
    try:
        with pillow.open(file) as image:
            if image.format in PROGRAMS:
                raise InputError(
                    f"{name} is in a format that is not supported ({image.format}): convert it to PNG or JPEG"
                )
            width, height = image.size
            _check_size(name, width, height, max_pixels)
            if enough is not None:
                image.draft(None, (enough, enough))
            return _upright(_pixels(image), _orientation(image))
    except (InputError, MissingExtraError):
        raise
    except FileNotFoundError:
        raise InputError(f"{name} does not exist: check the path") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder: use the path of an image") from None
    except PermissionError:
        raise InputError(f"{name} cannot be read: change its permissions") from None
    except pillow.UnidentifiedImageError:
        raise InputError(f"{name} is not a readable image (unknown format): remove it") from None
    # Decoders meet hostile bytes with many kinds of exception, from SyntaxError to struct.error.
    except Exception as error:
        why = str(error).rstrip(".") or type(error).__name__
        raise InputError(f"{name} is not a readable image ({why}): repair it, or remove it") from error


def _pixels(image: Any) -> Pixels:
    image.load()  # which may turn it, and so change its size
    width, height = image.size
    convert = _conversion(image)
    return _in_bands(height, width, lambda top, bottom: convert(image.crop((0, top, width, bottom))))


def _conversion(image: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that converts each part of an image to RGB or grey (x 1)."""
    if image.mode in WIDE_GREY or (image.mode == "I" and image.format in WIDE_GREY_FORMATS):
        return lambda part: np.asarray(part).astype(np.uint16)[:, :, None] >> np.uint16(8)
    if image.mode in BOUNDLESS_GREY:
        return _stretching(image)
    if image.has_transparency_data:
        return lambda part: _over_white(np.asarray(part.convert("RGBA")))
    return lambda part: np.asarray(part.convert("RGB"))


def _stretching(image: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that maps the minimum to the maximum of all finite values to 0 to 255, and others to 0."""
    width, height = image.size
    least, most = np.inf, -np.inf
    for top, bottom in _bands(height, width):
        values = np.asarray(image.crop((0, top, width, bottom)), dtype=np.float64)
        finite = values[np.isfinite(values)]
        least, most = finite.min(initial=least), finite.max(initial=most)
    if least >= most:
        return lambda part: np.zeros((part.height, width, 1), dtype=np.uint8)
    scale = 255 / (most - least)

    def stretched(part: Any) -> NDArray[Any]:
        values = np.asarray(part, dtype=np.float64)
        known = np.where(np.isfinite(values), values, least)
        return ((known - least) * scale).astype(np.uint8)[:, :, None]

    return stretched


def _orientation(image: Any) -> int:
    """Return the EXIF orientation, 1 to 8; 1 (upright) if the EXIF data is missing or invalid."""
    try:
        value = image.getexif().get(ORIENTATION, 1)
    except Exception:  # a photograph is not lost for the data beside it
        return 1
    return value if value in range(2, 9) else 1


def _upright(pixels: Pixels, orientation: int) -> Pixels:
    """Undo the transformation of an EXIF orientation: mirrored (2, 4, 5, 7), rotated (3, 6, 8)."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)
