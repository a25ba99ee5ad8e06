"""How much may the service do at a time? A bounded number of requests, each for a bounded time.

What is over the bound is refused at once, never queued. A request takes its place when its body is there (`bodies`).
Uploads, which are read as they come, have as many places of their own, and requests without a key take none. The
clock of a request runs while it waits its turn in a `ServedIndex`, too; when it strikes, work that has not begun is
dropped, and work that has goes on to its end without anyone who waits for it.
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

ALWAYS = frozenset({"/health", "/ready", "/metrics"})
"""What those who watch a service ask; it is answered when the service is full, too."""

SLOWEST = 1000.0
"""Bytes a second at which an upload must arrive in the long run."""


class Load:
    """Lets in so many requests at a time, and gives each its time: to be worked on, and to be answered."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app, self.state, self.limits = app, state, state.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI protocol."""
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
        """Why a request is not let in now; None where it is."""
        life, most = self.state.life, self.limits.max_concurrent
        if life.closing:
            return CLOSING
        if (life.uploads if upload else life.working) < most or is_stranger(scope):
            return None
        return Refusal(
            503,
            f"the service works on {most:,} {'uploads' if upload else 'requests'}, as many as it takes at a time: "
            "ask again, or start it with a larger --max-concurrent",
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
            f"the request took longer than {self.limits.max_seconds:g} s, and was given up; a change that had begun "
            "may still be made: ask for less, ask again, or start the service with a larger --max-seconds",
            type="OutOfTimeError",
            retry_after=5,
        )

    def patient(self, receive: Receive) -> Receive:
        """`receive` of an upload, which may take its time, but must go on arriving.

        It raises, instead of ending the request: the route then says how much of the upload is durable.
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
    """Sends an answer; each part of it must be taken in time."""

    def __init__(self, clock: Clock, seconds: float, send: Send) -> None:
        self.clock, self.seconds, self.given = clock, seconds, send
        self.begun = False

    async def send(self, message: Message) -> None:
        """Send; the next part is not made before the client has taken this one, so that it has a time, too."""
        if not self.begun:
            self.begun = True
            self.clock.stop()
        if message["type"] == "http.response.body" and message.get("more_body"):
            self.clock.allow(self.seconds)
            await self.given(message)
            self.clock.stop()
        else:
            await self.given(message)
