"""Reads the body of a request before the request takes a slot, so that slow clients occupy no slots."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import CUT_SHORT, Refusal, answer_of, failure
from benzer.service.guards.clock import Clock
from benzer.service.guards.refusing import CLOSING, slow_body
from benzer.service.guards.requests import brings_body, is_upload
from benzer.service.guards.strangers import STRANGER_SECONDS, is_stranger
from benzer.service.state import State
from benzer.wording import count


class Bodies:
    """Passes a request on when its body is complete. Uploads are passed on at once: their routes read them."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app, self.life, self.limits = app, state.life, state.limits
        self.most_bytes = self.limits.max_concurrent * self.limits.max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if brings_body(headers) and not is_upload(scope, headers):
                seconds = self.limits.max_body_seconds
                await self.read(
                    scope, receive, send, min(seconds, STRANGER_SECONDS) if is_stranger(scope) else seconds
                )
                return
        await self.app(scope, receive, send)

    async def read(self, scope: Scope, receive: Receive, send: Send, seconds: float) -> None:
        """Read the body within a time limit, then pass the request on or reject it."""
        clock = Clock()
        clock.allow(seconds)
        try:
            body = await self.body(receive)
        except asyncio.CancelledError:
            if not (clock.struck or self.life.closing):
                raise
            clock.forgive()
            refused = slow_body(seconds, self.limits) if clock.struck else CLOSING
            await answer_of(refused)(scope, receive, send)
        except Refusal as refused:
            await answer_of(refused)(scope, receive, send)
        else:
            clock.stop()
            if body is None:  # only the log reads this
                await failure(400, CUT_SHORT)(scope, receive, send)
            else:
                await self.app(scope, again(body, receive), send)
        finally:
            clock.stop()

    async def body(self, receive: Receive) -> bytes | None:
        """The whole body; None if the connection is closed before its end."""
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            return bytes(message.get("body", b""))
        body = bytearray()
        try:
            while message["type"] == "http.request":
                part = message.get("body", b"")
                body += part
                self.life.arriving += len(part)
                if not message.get("more_body"):
                    return bytes(body)
                if self.life.arriving > self.most_bytes:
                    raise Refusal(
                        503,
                        f"incomplete bodies have more than {count(self.most_bytes)} bytes in total: retry later",
                        retry_after=1,
                    )
                message = await receive()
            return None
        finally:
            self.life.arriving -= len(body)


def again(body: bytes, receive: Receive) -> Receive:
    """`receive` of a request whose body was already read."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def take() -> Message:
        return first.pop() if first else await receive()

    return take
