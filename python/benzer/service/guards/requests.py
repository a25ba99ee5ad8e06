"""Which requests are let in? Those of a bounded size, with a path that can be read, in JSON."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import failure
from benzer.service.guards.refusing import discard, refuse
from benzer.service.state import State


class Guard:
    """Stands before the application, and answers itself what is refused by its head alone."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.max_body_bytes = state.limits.max_body_bytes

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
        await refuse(failure(*refused), scope, receive, send, self.max_body_bytes)

    def refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and message, when method, path and headers are enough to refuse a request."""
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
                    await discard(receive, self.max_body_bytes)
                raise HTTPException(413, self.too_large())
            return message

        return count


def media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
