"""Limits the number of concurrent requests and the time of each request.

A request above the limit is rejected at once, never queued. A request takes a slot when its body is complete
(`bodies`). Streamed uploads have the same number of separate slots, and requests without a key take none. The time
limit includes waiting in a `ServedIndex`. When it expires, work that has not started is dropped; work that has
started runs to its end in the background.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import Refusal, answer_of
from benzer.service.guards.clock import Clock
from benzer.service.guards.refusing import CLOSING, slow_body
from benzer.service.guards.requests import is_upload
from benzer.service.guards.strangers import is_stranger
from benzer.service.state import State
from benzer.wording import count, decimal

ALWAYS = frozenset({"/health", "/ready", "/metrics"})
"""Paths for monitoring, which are served even when the service is at its limit."""

SLOWEST = 1000.0
"""Minimum average bytes per second of an upload."""


class Load:
    """Limits the concurrent requests, the run time of each, and the time to send its response."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app, self.state, self.limits = app, state, state.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http" or scope["path"] in ALWAYS:
            await self.app(scope, receive, send)
            return
        upload = is_upload(scope, Headers(scope=scope))
        life = self.state.life
        if (refused := self.refusal(scope, upload)) is not None:
            await answer_of(refused)(scope, receive, send)
        elif is_stranger(scope):
            await self.timed(scope, receive, send, upload=upload)
        elif upload:
            life.uploads += 1
            try:
                await self.timed(scope, receive, send, upload=True)
            finally:
                life.uploads -= 1
        else:
            life.working += 1
            try:
                await self.timed(scope, receive, send, upload=False)
            finally:
                life.working -= 1

    def refusal(self, scope: Scope, upload: bool) -> Refusal | None:
        """Why a request is rejected now; None if it is accepted."""
        life, most = self.state.life, self.limits.max_concurrent
        if life.closing:
            return CLOSING
        if (life.uploads if upload else life.working) < most or is_stranger(scope):
            return None
        return Refusal(
            503,
            f"the service is at its limit of {count(most)} concurrent {'uploads' if upload else 'requests'}: "
            "retry later, or start it with a larger --max-concurrent",
            retry_after=1,
        )

    async def timed(self, scope: Scope, receive: Receive, send: Send, *, upload: bool) -> None:
        clock = Clock()
        answer = Watched(clock, self.limits.max_body_seconds, send)
        if not upload:
            clock.allow(self.limits.max_seconds)
        try:
            await self.app(scope, self.patient(receive) if upload else receive, answer.send)
        except asyncio.CancelledError:
            if not (clock.struck or self.state.life.closing):
                raise
            clock.forgive()
            if not answer.begun:
                refused = self.out_of_time() if clock.struck else CLOSING
                await answer_of(refused)(scope, receive, send)
        finally:
            clock.stop()

    def out_of_time(self) -> Refusal:
        return Refusal(
            503,
            f"the request took longer than {decimal(self.limits.max_seconds)} s and was cancelled; a change that had "
            "started may still be applied: request less, retry, or start the service with a larger --max-seconds",
            type="OutOfTimeError",
            retry_after=5,
        )

    def patient(self, receive: Receive) -> Receive:
        """`receive` of an upload, which has no total time limit but must keep arriving.

        It raises instead of ending the request, so that the route can report how much of the upload is durable.
        """
        loop = asyncio.get_running_loop()
        waited, seen = 0.0, 0

        async def wait() -> Message:
            nonlocal waited, seen
            limit = self.limits.max_body_seconds
            left = limit + seen / SLOWEST - waited
            start = loop.time()
            try:
                message = await asyncio.wait_for(receive(), min(limit, max(left, 0.001)))
            except asyncio.TimeoutError:
                raise slow_body(limit, self.limits) from None
            waited += loop.time() - start
            seen += len(message.get("body", b""))
            return message

        return wait


class Watched:
    """Sends a response; the client must read each part within a time limit."""

    def __init__(self, clock: Clock, seconds: float, send: Send) -> None:
        self.clock, self.seconds, self.given = clock, seconds, send
        self.begun = False

    async def send(self, message: Message) -> None:
        """Send one part; the next part is not created before the client has read this one."""
        if not self.begun:
            self.begun = True
            self.clock.stop()
        if message["type"] == "http.response.body" and message.get("more_body"):
            self.clock.allow(self.seconds)
            await self.given(message)
            self.clock.stop()
        else:
            await self.given(message)
