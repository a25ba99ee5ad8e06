"""Is what a request holds within the limits? Each limit has a check, and an error of its own type."""

from __future__ import annotations

from io import BytesIO

from benzer.document import Document
from benzer.registry import require
from benzer.service.errors import Refusal
from benzer.service.settings import Limits


def check_batch(limits: Limits, count: int, what: str = "documents") -> None:
    """Refuse more documents, or questions, than one JSON body may bring (413).

    >>> check_batch(Limits(), 10_001)
    Traceback (most recent call last):
    benzer.service.errors.Refusal: a body holds at most 10,000 documents, got 10,001: send fewer at a time
    """
    most = limits.max_batch
    if count > most:
        raise Refusal(
            413,
            f"a body holds at most {most:,} {what}, got {count:,}: send fewer at a time",
            type="BatchTooLargeError",
            field=f"body.{what}",
        )


def check_text(limits: Limits, name: str, text: str) -> None:
    """Refuse a text of too many characters (422); `name`: of the field that it is the content of."""
    most = limits.max_text
    if len(text) > most:
        raise Refusal(
            422,
            f"the text of the field {name!r} has {len(text):,} characters, at most {most:,} are taken: "
            "cut it into parts, or start the service with a larger --max-text",
            type="TextTooLongError",
            field=name,
        )


def check_compared(limits: Limits, a: Document, b: Document) -> None:
    """Refuse to compare two documents that are too long together (422): native work cannot be stopped half-way.

    >>> check_compared(Limits(max_compared=3), Document("a", {"text": "no"}), Document("b", {"text": "on"}))
    Traceback (most recent call last):
    benzer.service.errors.Refusal: the documents have 4 characters and values together, at most 3 are compared: ...
    """
    contents = (*a.fields.values(), *b.fields.values())
    length = sum(len(content) for content in contents if isinstance(content, str | list))
    if length > limits.max_compared:
        raise Refusal(
            422,
            f"the documents have {length:,} characters and values together, at most {limits.max_compared:,} are "
            "compared: compare parts of them, or start the service with a larger --max-compared",
            type="ComparisonTooLongError",
        )


def check_picture(limits: Limits, name: str, data: bytes) -> None:
    """Refuse a picture of too many pixels by its head, before any is decoded (422).

    What is no picture is passed over here: the field that reads it says so.
    """
    most, pixels = limits.max_pixels, pixels_of(data)
    if pixels > most:
        raise Refusal(
            422,
            f"the picture of the field {name!r} has {pixels:,} pixels or more, at most {most:,} are taken: "
            "make it smaller, or start the service with a larger --max-pixels",
            type="PictureTooLargeError",
            field=name,
        )


def pixels_of(data: bytes) -> int:
    """How many pixels the head of a file promises, 0 where it cannot be told; Pillow opens none of twice its limit.

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
