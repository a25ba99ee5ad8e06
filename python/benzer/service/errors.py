"""Error responses: `{"error": {"type": …, "message": …, "field": …}}` for every error."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from benzer.errors import BenzerError, InputError, SettingsError, StorageError, StoreFormatError
from benzer.service.telemetry.trace import trace_of

STATUSES: list[tuple[type[BenzerError], int]] = [
    (InputError, 422),
    (SettingsError, 422),
    (StoreFormatError, 500),
    (StorageError, 503),
    (BenzerError, 500),
]
"""The status of a library error: that of the first matching class."""

TYPES = {
    400: "RequestError", 401: "KeyError", 403: "ForbiddenError", 404: "NotFoundError", 405: "MethodNotAllowedError",
    408: "SlowBodyError", 409: "ConflictError", 413: "TooLargeError", 415: "MediaTypeError", 422: "InputError",
    429: "RateError", 431: "HeadTooLargeError", 503: "BusyError",
}  # fmt: skip
"""The types of HTTP errors; the type of a library error is the name of its class."""

MESSAGE_LENGTH = 1000
UNREADABLE = "There was an error parsing the body"
"""The framework's message for bytes that are not JSON."""
CUT_SHORT = "the connection was closed before the body was complete"
UPLOAD_CUT_SHORT = "the connection was closed during the upload"
UNKNOWN_KEY = "unknown key: send a key created by benzer keys"
UNREADABLE_KEYS = "the service cannot read its keys: see the server log"


class Refusal(HTTPException):
    """A rejected request: raised below a route or while the body is read; see `of_refusal`.

    Args:
        field: The invalid part of the request, such as "body.limit".
        retry_after: Seconds until a retry can succeed.
    """

    def __init__(
        self, status: int, message: str, *, field: str | None = None, type: str | None = None,
        retry_after: float | None = None,
    ) -> None:  # fmt: skip
        headers = {} if retry_after is None else {"Retry-After": str(max(1, math.ceil(retry_after)))}
        if status == 408:  # the rest of a late body would be read as the next request
            headers["Connection"] = "close"
        super().__init__(status, message, headers)
        self.status, self.message, self.field, self.type = status, message, field, type

    def __str__(self) -> str:
        return self.message


class Fault(BaseModel):
    """The error and its fix; `field` names the invalid part of the request, if there is one."""

    type: str = Field(examples=["InputError"])
    message: str = Field(examples=["body.limit: Input should be greater than or equal to 1"])
    field: str | None = Field(None, examples=["body.limit"])


class ErrorAnswer(BaseModel):
    """The response to a request that failed."""

    error: Fault


class Answer(JSONResponse):
    """JSON in UTF-8, or the HTML fragment of the route if the request accepts HTML, but not JSON.

    If a text has a lone surrogate, non-ASCII characters are escaped. `about` is what the fragment needs in addition to
    the content.

    >>> Answer(["é"]).body, Answer(["\\ud800"]).body
    (b'["\\xc3\\xa9"]', b'["\\\\ud800"]')
    """

    def __init__(
        self,
        content: Any,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.content, self.about = content, about or {}
        super().__init__(content, status_code, headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        draw = fragment_of(scope) if self.status_code < 400 else None
        text = None if draw is None else await asyncio.to_thread(draw, self.content, self.about, scope)
        if text is None:
            await super().__call__(scope, receive, send)
        else:
            await HTMLResponse(text.encode("utf-8", "replace"), self.status_code)(scope, receive, send)

    def render(self, content: Any) -> bytes:
        """Write the body."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


Draw = Callable[[Any, Mapping[str, Any], Scope], str | None]
"""Renders the content of an answer as HTML; None if it has no fragment."""


def only_html(scope: Scope) -> bool:
    """Whether a request accepts HTML, but not JSON.

    A browser that opens the address of a resource accepts everything, so it gets JSON.
    """
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return b"text/html" in accepted and b"*/*" not in accepted and b"application/json" not in accepted


def fragment_of(scope: Scope) -> Draw | None:
    """The function that renders the answer of a route, if the request accepts only HTML."""
    if not only_html(scope):
        return None
    fragments: Mapping[Any, Draw] = scope["app"].state.fragments
    return fragments.get(scope.get("endpoint"))


class Failure(Answer):
    """An error response; its type is stored in the trace of the request for the log and the metrics."""

    kind: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        trace_of(scope).error = self.kind
        await super().__call__(scope, receive, send)


def failure(
    status: int, message: str, type: str | None = None, headers: Mapping[str, str] | None = None,
    field: str | None = None,
) -> Failure:  # fmt: skip
    """Create an error response; long messages are truncated.

    >>> failure(404, "no document has the id 'a'").body
    b'{"error":{"type":"NotFoundError","message":"no document has the id \\'a\\'","field":null}}'
    """
    short = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
    name = type or TYPES.get(status, "ServerError" if status >= 500 else "RequestError")
    answer = Failure({"error": {"type": name, "message": short, "field": field}}, status, headers)
    answer.kind = name
    return answer


async def of_library(request: Request, error: Exception) -> Answer:
    """Respond to an error that Benzer raised on purpose; 503 means that a retry may succeed."""
    assert isinstance(error, BenzerError)
    status = status_of(error)
    headers = {"Retry-After": "1"} if status == 503 else None
    message = request.app.state.shared.catalog.without_places(str(error))
    return failure(status, message, type(error).__name__, headers)


def status_of(error: BenzerError) -> int:
    """The status of a library error.

    >>> status_of(StorageError("another process is writing"))
    503
    """
    return next(status for kind, status in STATUSES if isinstance(error, kind))


async def of_cut(request: Request, error: Exception) -> Answer:
    """Respond to a connection that was closed before the body was complete; only the log shows it."""
    return failure(400, CUT_SHORT)


async def of_protocol(request: Request, error: Exception) -> Answer:
    """Respond to a status that a route or the framework raised."""
    assert isinstance(error, HTTPException)
    message = str(error.detail)
    if error.status_code == 404 and message == "Not Found":
        message = f"path {request.url.path} does not exist: see /openapi.json for all paths"
    elif error.status_code == 400 and message == UNREADABLE:
        message = "the body cannot be read as JSON: send UTF-8 without nesting thousands of levels deep"
    return failure(error.status_code, message, headers=error.headers)


async def of_validation(request: Request, error: Exception) -> Answer:
    """Respond to an invalid body or parameter with its first fault."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return failure(
            422, f"the body is not valid JSON: {first['ctx']['error']}, at character {first['loc'][-1]}"
        )
    place = ".".join(map(str, first["loc"]))
    return failure(422, f"{place}: {first['msg'].removeprefix('Value error, ')}", field=place)


async def of_refusal(request: Request, error: Exception) -> Answer:
    """Respond to a refusal of a route or of the work below it."""
    assert isinstance(error, Refusal)
    return answer_of(error)


def answer_of(refused: Refusal) -> Answer:
    """The response to a rejected request."""
    return failure(refused.status, refused.message, refused.type, refused.headers, refused.field)


async def of_bug(request: Request, error: Exception) -> Answer:
    """Respond to an unexpected exception."""
    return bug()


def bug() -> Failure:
    """The response to an unexpected exception: the server logs the traceback, the client gets no details."""
    return failure(500, "this is a bug in Benzer, not in the request; see the traceback in the server log")


HANDLERS: dict[type[Exception], Any] = {
    Refusal: of_refusal,
    BenzerError: of_library,
    HTTPException: of_protocol,
    ClientDisconnect: of_cut,
    RequestValidationError: of_validation,
    Exception: of_bug,
}
