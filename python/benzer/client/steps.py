"""What is asked of the service, in which steps? A call is a generator: it yields steps, and gets their outcomes.

Nothing here waits, or knows a connection: one and the same call is driven by `Client`, which blocks, and by
`AsyncClient`, which awaits.
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
STRANGE = "this is no answer of a Benzer service: check the address"


@dataclass(frozen=True)
class Request:
    """One request of HTTP.

    body: bytes, or an open file that is read piece by piece, again from its beginning where the request is sent again.
    again: whether it may be sent again when nobody knows if it has been served; one that was refused always may.
    """

    method: str
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | IO[bytes] | None = None
    media_type: str = "application/json"
    again: bool = True

    def pieces(self) -> Iterator[bytes]:
        """The body of a file, in pieces, from its beginning."""
        if self.body is not None and not isinstance(self.body, bytes):
            self.body.seek(0)
            while piece := self.body.read(PIECE):
                yield piece


@dataclass(frozen=True)
class Answer:
    """An answer that is no error: its status, and its body."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The body, read; a `ServiceError` where somebody else than a service answered."""
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
    """Take the next things of an iterator: a list of `count`, or of those that are left."""

    source: Any
    count: int


Step: TypeAlias = "Request | Sleep | Draw"
Steps: TypeAlias = Generator[Step, Any, Result]
"""What a call is: it yields steps, and returns its result."""

Pages: TypeAlias = "Generator[Step | list[Item], Any, None]"
"""The same for a call that gives many things: it yields lists of them, too."""


def ask(
    method: str, path: str, content: Any = None, *, again: bool = True, **parameters: Any
) -> Steps[Answer]:
    """Send a request whose body is JSON; parameters that are None are left out."""
    try:
        body = None if content is None else as_json(content)
    except ValueError as error:  # what the service would refuse, if it could be told
        raise SettingsError(f"what is asked cannot be written as JSON: {error}") from error
    answer: Answer = yield Request(method, path, given(parameters), body, again=again)
    return answer


def sleep(seconds: float) -> Steps[None]:
    """Wait."""
    yield Sleep(seconds)


def draw(source: Any, count: int) -> Steps[list[Any]]:
    """The next things of an iterator, which may be one that has to be awaited."""
    taken: list[Any] = yield Draw(source, count)
    return taken


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are not None.

    >>> given({"limit": 3, "after": None})
    {'limit': 3}
    """
    return {name: value for name, value in values.items() if value is not None}


def as_json(content: Any) -> bytes:
    """JSON in UTF-8; a lone surrogate can only travel escaped.

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
