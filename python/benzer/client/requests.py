"""Requests to the service and its responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import quote

from benzer.errors import ServiceError

PIECE = 1 << 16
STRANGE = "the response is not from a Benzer service: check the address"


@dataclass(frozen=True)
class Request:
    """One HTTP request.

    body: bytes, or an open file that is read in chunks, from its beginning for each attempt.
    again: whether it may be repeated if its outcome is unknown; a rejected request can always be repeated.
    """

    method: str
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | IO[bytes] | None = None
    media_type: str = "application/json"
    again: bool = True

    def pieces(self) -> Iterator[bytes]:
        """The content of a file in chunks, from its beginning."""
        if self.body is not None and not isinstance(self.body, bytes):
            self.body.seek(0)
            while piece := self.body.read(PIECE):
                yield piece


@dataclass(frozen=True)
class SuccessfulResponse:
    """A successful response: its status and its body."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The parsed body; raises a `ServiceError` if the response is not from a Benzer service."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise ServiceError(self.status, "ServerError", STRANGE) from error


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None.

    >>> given({"limit": 3, "after": None})
    {'limit': 3}
    """
    return {name: value for name, value in values.items() if value is not None}


def as_json(content: Any) -> bytes:
    """JSON in UTF-8; with a lone surrogate, non-ASCII characters are escaped.

    >>> as_json({"text": "é"}), as_json("\\ud800")
    (b'{"text":"\\xc3\\xa9"}', b'"\\\\ud800"')
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def segment(text: str | int) -> str:
    """A name or an id as one segment of a path.

    >>> segment("a/b c"), segment(7)
    ('a%2Fb%20c', '7')
    """
    return quote(str(text), safe="")
