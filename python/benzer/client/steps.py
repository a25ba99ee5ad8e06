"""Calls of the service as generators that yield steps and receive their results.

This module does no I/O: the same call is run by `Client`, which blocks, and by `AsyncClient`, which awaits.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias, TypeVar
from urllib.parse import quote

from benzer.errors import ServiceError, SettingsError

Result = TypeVar("Result")
Item = TypeVar("Item")
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


@dataclass(frozen=True)
class Sleep:
    """Wait for a while."""

    seconds: float


@dataclass(frozen=True)
class Draw:
    """Read the next items of an iterator: a list of `count`, or of the rest."""

    source: Any
    count: int


Step: TypeAlias = "Request | Sleep | Draw"
Steps: TypeAlias = Generator[Step, Any, Result]
"""A call: a generator that yields steps and returns the result."""

Pages: TypeAlias = "Generator[Step | list[Item], Any, None]"
"""A paged call: a generator that yields steps and lists of items."""


def ask(
    method: str, path: str, content: Any = None, *, again: bool = True, **parameters: Any
) -> Steps[SuccessfulResponse]:
    """Send a request with a JSON body; parameters that are None are omitted."""
    try:
        body = None if content is None else as_json(content)
    except ValueError as error:  # the service would reject it
        raise SettingsError(f"the request cannot be written as JSON: {error}") from error
    answer: SuccessfulResponse = yield Request(method, path, given(parameters), body, again=again)
    return answer


def sleep(seconds: float) -> Steps[None]:
    """Wait."""
    yield Sleep(seconds)


def draw(source: Any, count: int) -> Steps[list[Any]]:
    """The next items of an iterator, which may be asynchronous."""
    taken: list[Any] = yield Draw(source, count)
    return taken


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
