"""Which requests are let in? Those of a bounded size, in JSON, and not lured here by another site's page."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.addresses import is_loopback
from benzer.service.errors import failure
from benzer.service.state import State

DISCARDED_SECONDS = 5.0
DISCARDED_TIMES = 4  # the limit: so much of a body that is refused is read, for the client to get its answer


class Guard:
    """Stands before the application, and answers itself what is refused by its head alone.

    A page of any site can make a browser send requests to this machine. Those that it may send unasked carry
    no JSON content type; and when its name is made to resolve to this machine, the Host header gives it away.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.max_body_bytes = state.limits.max_body_bytes
        self.loopback_only = state.options.loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI protocol."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self.refusal(scope, headers)
        if refused is None:
            await self.app(scope, self.measured(receive), send)
            return
        if "expect" not in headers:  # then the client waits for our word before it sends the body
            await self.discard(receive)
        await failure(*refused)(scope, receive, send)

    def refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and message, when method, path and headers are enough to refuse a request."""
        if self.loopback_only and not is_loopback(host_of(headers)):
            return (
                403,
                f"the host {headers.get('host', '')!r} is not this machine: ask 127.0.0.1 or localhost",
            )
        try:
            unquote_to_bytes(scope["raw_path"]).decode()
        except UnicodeDecodeError:
            return 400, "the path is not percent-encoded UTF-8"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.max_body_bytes:
            return 413, self.too_large()
        if scope["method"] in ("POST", "PUT", "PATCH") and media_type(headers) != "application/json":
            return 415, "the body must be JSON: send it with the header Content-Type: application/json"
        return None

    def too_large(self) -> str:
        return (
            f"the body is larger than {self.max_body_bytes:,} bytes: send fewer documents at a time, "
            "or start the service with a larger --max-body"
        )

    def measured(self, receive: Receive) -> Receive:
        """`receive`, which refuses a body as soon as it is too large, whatever its head said."""
        seen = 0

        async def count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_body_bytes:
                if message.get("more_body"):
                    await self.discard(receive)
                raise HTTPException(413, self.too_large())
            return message

        return count

    async def discard(self, receive: Receive) -> None:
        """Read on for a while: a client that is still sending would lose an answer to a closed connection."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(
                read_to_end(receive, DISCARDED_TIMES * self.max_body_bytes), DISCARDED_SECONDS
            )


async def read_to_end(receive: Receive, at_most: int) -> None:
    message = await receive()
    while message.get("more_body") and at_most > 0:
        at_most -= len(message["body"])
        message = await receive()


def media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def host_of(headers: Headers) -> str:
    """The name in the Host header, without port and brackets; empty where there is none.

    >>> host_of(Headers({"host": "[::1]:8000"}))
    '::1'
    """
    try:
        return urlsplit("//" + headers.get("host", "")).hostname or ""
    except ValueError:
        return ""
