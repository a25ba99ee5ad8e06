"""Checks of the limits; each limit has an error type of its own."""

from __future__ import annotations

from io import BytesIO

from benzer.document import Document
from benzer.registry import require
from benzer.service.errors import Refusal
from benzer.service.settings import Limits
from benzer.wording import count


def check_batch(limits: Limits, given: int, what: str = "documents") -> None:
    """Reject more documents or queries than one JSON body may contain (413).

    >>> check_batch(Limits(), 10_001)
    Traceback (most recent call last):
    benzer.service.errors.Refusal: a body can have at most 10,000 documents, got 10,001: send fewer at a time
    """
    most = limits.max_batch
    if given > most:
        raise Refusal(
            413,
            f"a body can have at most {count(most)} {what}, got {count(given)}: send fewer at a time",
            type="BatchTooLargeError",
            field=f"body.{what}",
        )


def check_text(limits: Limits, name: str, text: str) -> None:
    """Reject a text with too many characters (422); `name` is the name of its field."""
    most = limits.max_text
    if len(text) > most:
        raise Refusal(
            422,
            f"the text of the field {name!r} has {count(len(text))} characters, the limit is {count(most)}: "
            "split it, or start the service with a larger --max-text",
            type="TextTooLongError",
            field=name,
        )


def check_compared(limits: Limits, a: Document, b: Document) -> None:
    """Reject a comparison of two documents that are too long in total (422): native work cannot be interrupted.

    >>> check_compared(Limits(max_compared=3), Document("a", {"text": "no"}), Document("b", {"text": "on"}))
    Traceback (most recent call last):
    benzer.service.errors.Refusal: the documents have 4 characters and values in total, the limit is 3: ...
    """
    contents = (*a.fields.values(), *b.fields.values())
    length = sum(len(content) for content in contents if isinstance(content, str | list))
    if length > limits.max_compared:
        raise Refusal(
            422,
            f"the documents have {count(length)} characters and values in total, the limit is "
            f"{count(limits.max_compared)}: compare parts of them, or start the service with a larger --max-compared",
            type="ComparisonTooLongError",
        )


def check_picture(limits: Limits, name: str, data: bytes) -> None:
    """Reject an image with too many pixels by its header, before it is decoded (422).

    Files that are not images are accepted here; the field that reads them reports the error.
    """
    most, pixels = limits.max_pixels, pixels_of(data)
    if pixels > most:
        raise Refusal(
            422,
            f"the image of the field {name!r} has {count(pixels)} or more pixels, the limit is {count(most)}: "
            "make it smaller, or start the service with a larger --max-pixels",
            type="PictureTooLargeError",
            field=name,
        )


def pixels_of(data: bytes) -> int:
    """The number of pixels in the header of a file, 0 if it is unknown; Pillow opens no image of twice its limit.

    >>> pixels_of(b"no picture")
    0
    """
    pillow = require("PIL.Image", extra="images", purpose="Pictures")
    try:
        with pillow.open(BytesIO(data)) as picture:
            width, height = picture.size
            return int(width * height)
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        return int(pillow.MAX_IMAGE_PIXELS)
    except Exception:  # whatever a broken file makes a decoder raise
        return 0
