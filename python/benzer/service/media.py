"""The media types of request bodies."""

from __future__ import annotations

from starlette.datastructures import Headers

JSON, NDJSON, FILE = "application/json", "application/x-ndjson", "application/octet-stream"
FORM, URLENCODED = "multipart/form-data", "application/x-www-form-urlencoded"


def media_type(headers: Headers) -> str:
    """The media type of a body without its parameters; empty if the header is missing.

    >>> media_type(Headers({"content-type": "Application/JSON; charset=utf-8"}))
    'application/json'
    """
    return headers.get("content-type", "").partition(";")[0].strip().lower()
