"""How does an answer say what went wrong? `{"error": {"type": …, "message": …, "field": …}}`, whatever it was."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
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
"""The status of an error of the library: that of the first class that it belongs to."""

TYPES = {
    400: "RequestError", 401: "KeyError", 403: "ForbiddenError", 404: "NotFoundError", 405: "MethodNotAllowedError",
    408: "SlowBodyError", 409: "ConflictError", 413: "TooLargeError", 415: "MediaTypeError", 422: "InputError",
    429: "RateError", 431: "HeadTooLargeError", 503: "BusyError",
}  # fmt: skip
"""What the errors of the protocol itself are called; those of the library go by the name of their class."""

MESSAGE_LENGTH = 1000
UNREADABLE = "There was an error parsing the body"
"""What the framework says of bytes that are no JSON at all."""


class Refusal(HTTPException):
    """A request that is refused: raised anywhere below a route, or while its body is read; see `of_refusal`.

    `field`: the part of the request that is at fault, such as "body.limit". `retry_after`: seconds.
    """

    def __init__(
        self, status: int, message: str, *, field: str | None = None, type: str | None = None,
        retry_after: float | None = None,
    ) -> None:  # fmt: skip
        headers = {} if retry_after is None else {"Retry-After": str(max(1, math.ceil(retry_after)))}
        if status == 408:  # what still arrives of a late body would be taken for the next request
            headers["Connection"] = "close"
        super().__init__(status, message, headers)
        self.status, self.message, self.field, self.type = status, message, field, type

    def __str__(self) -> str:
        return self.message


class Fault(BaseModel):
    """What went wrong, and what helps; `field` names the part of the request that is at fault, where one is."""

    type: str = Field(examples=["InputError"])
    message: str = Field(examples=["body.limit: Input should be greater than or equal to 1"])
    field: str | None = Field(None, examples=["body.limit"])


class ErrorAnswer(BaseModel):
    """The answer to every request that could not be served."""

    error: Fault


class Answer(JSONResponse):
    """JSON, in UTF-8 where its texts allow that: a lone surrogate can only travel escaped.

    >>> Answer(["é"]).body, Answer(["\\ud800"]).body
    (b'["\\xc3\\xa9"]', b'["\\\\ud800"]')
    """

    def render(self, content: Any) -> bytes:
        """Write the body."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class Failure(Answer):
    """An answer that says what went wrong; its type is left in the trace of the request, for log and metrics."""

    kind: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        trace_of(scope).error = self.kind
        await super().__call__(scope, receive, send)


def failure(
    status: int, message: str, type: str | None = None, headers: Mapping[str, str] | None = None,
    field: str | None = None,
) -> Failure:  # fmt: skip
    """The answer that says so; a message that repeats a long text is cut.

    >>> failure(404, "no document has the id 'a'").body
    b'{"error":{"type":"NotFoundError","message":"no document has the id \\'a\\'","field":null}}'
    """
    short = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
    name = type or TYPES.get(status, "ServerError" if status >= 500 else "RequestError")
    answer = Failure({"error": {"type": name, "message": short, "field": field}}, status, headers)
    answer.kind = name
    return answer


async def of_library(request: Request, error: Exception) -> Answer:
    """Answer for an error that Benzer raised on purpose; 503 means that a later try may succeed."""
    assert isinstance(error, BenzerError)
    status = status_of(error)
    headers = {"Retry-After": "1"} if status == 503 else None
    message = request.app.state.shared.catalog.without_places(str(error))
    return failure(status, message, type(error).__name__, headers)


def status_of(error: BenzerError) -> int:
    """The status of an error of the library.

    >>> status_of(StorageError("another process is writing"))
    503
    """
    return next(status for kind, status in STATUSES if isinstance(error, kind))


async def of_cut(request: Request, error: Exception) -> Answer:
    """Answer for a connection that was cut before the body was there; nobody reads it, but the log."""
    return failure(400, "the connection was cut before the whole body had come")


async def of_protocol(request: Request, error: Exception) -> Answer:
    """Answer for a status that a route, or the framework, raised."""
    assert isinstance(error, HTTPException)
    message = str(error.detail)
    if error.status_code == 404 and message == "Not Found":
        message = f"there is no {request.url.path}: /openapi.json lists what there is"
    elif error.status_code == 400 and message == UNREADABLE:
        message = "the body cannot be read as JSON: send UTF-8, and no nesting thousands deep"
    return failure(error.status_code, message, headers=error.headers)


async def of_validation(request: Request, error: Exception) -> Answer:
    """Answer for a body or a parameter of the wrong shape: where it is wrong first, and how."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return failure(422, f"the body is no JSON: {first['ctx']['error']}, at character {first['loc'][-1]}")
    place = ".".join(map(str, first["loc"]))
    return failure(422, f"{place}: {first['msg'].removeprefix('Value error, ')}", field=place)


async def of_refusal(request: Request, error: Exception) -> Answer:
    """Answer for what a route, or the work below it, refused."""
    assert isinstance(error, Refusal)
    return answer_of(error)


def answer_of(refused: Refusal) -> Answer:
    """The answer to a request that is refused."""
    return failure(refused.status, refused.message, refused.type, refused.headers, refused.field)


async def of_bug(request: Request, error: Exception) -> Answer:
    """Answer for what nobody foresaw."""
    return bug()


def bug() -> Failure:
    """The answer for it: the server logs its traceback, the client is told no details."""
    return failure(500, "this is a bug in Benzer, not in the request; the server's log has the traceback")


HANDLERS: dict[type[Exception], Any] = {
    Refusal: of_refusal,
    BenzerError: of_library,
    HTTPException: of_protocol,
    ClientDisconnect: of_cut,
    RequestValidationError: of_validation,
    Exception: of_bug,
}
