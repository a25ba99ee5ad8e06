"""Rejects a request before it reaches a route: sends the response and discards the rest of the body."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from benzer.service.errors import Refusal
from benzer.service.settings import Limits
from benzer.wording import decimal

DISCARDED_SECONDS = 5.0
DISCARDED_TIMES = (
    4  # times the body limit: how much of a rejected body is read, so that the client gets its response
)

CLOSING = Refusal(503, "the service is shutting down: retry later", type="ClosingError", retry_after=5)


def slow_body(seconds: float, limits: Limits) -> Refusal:
    """The refusal of a body that did not arrive in time; `limits` determine whether an option allows more."""
    cure = ", in parts, or start the service with a larger --max-body-seconds"
    return Refusal(
        408,
        f"the body did not arrive within {decimal(seconds)} s: send it faster"
        f"{cure * (seconds >= limits.max_body_seconds)}",
        type="SlowBodyError",
    )


async def refuse(answer: ASGIApp, scope: Scope, receive: Receive, send: Send, max_body_bytes: int) -> None:
    """Respond to a request whose body is not needed."""
    if "expect" not in Headers(scope=scope):  # such a client waits for a response before it sends the body
        await discard(receive, max_body_bytes)
    await answer(scope, receive, send)


async def discard(receive: Receive, max_body_bytes: int) -> None:
    """Read on for a while: a client that is still sending would lose the response if the connection closed."""
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(read_to_end(receive, DISCARDED_TIMES * max_body_bytes), DISCARDED_SECONDS)


async def read_to_end(receive: Receive, at_most: int) -> None:
    message = await receive()
    while message.get("more_body") and at_most > 0:
        at_most -= len(message["body"])
        message = await receive()
