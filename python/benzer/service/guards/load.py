"""How much may the service do at a time? A bounded number of requests, each for a bounded time.

What is over the bound is refused at once, never queued. The clock of a request stands while it waits its turn in a
`ServedIndex`, too; when it strikes, work that has not begun is dropped, and work that has goes on to its end without
anyone who waits for it.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import Refusal, answer_of
from benzer.service.guards.requests import brings_body, is_upload
from benzer.service.state import State

ALWAYS = frozenset({"/health", "/ready", "/metrics"})
"""What those who watch a service ask; it is answered when the service is full, too."""

SLOWEST = 1000.0
"""Bytes a second at which an upload must arrive in the long run."""


class Load:
    """Lets in so many requests at a time, and gives each its time: to arrive, to be worked on, to be answered."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app, self.state, self.limits = app, state, state.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of the ASGI protocol."""
        if scope["type"] != "http" or scope["path"] in ALWAYS:
            await self.app(scope, receive, send)
            return
        life = self.state.life
        if (refused := self.refusal()) is not None:
            await answer_of(refused)(scope, receive, send)
            return
        life.working += 1
        try:
            await self.timed(scope, receive, send)
        finally:
            life.working -= 1

    def refusal(self) -> Refusal | None:
        """Why a request is not let in now; None where it is."""
        if self.state.life.closing:
            return CLOSING
        if self.state.life.working >= self.limits.max_concurrent:
            return Refusal(
                503,
                f"the service works on {self.limits.max_concurrent:,} requests, as many as it takes at a time: "
                "ask again, or start it with a larger --max-concurrent",
                retry_after=1,
            )
        return None

    async def timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        upload = is_upload(scope, headers)
        clock = Clock()
        answer = Watched(clock, self.limits.max_body_seconds, receive, send)
        if not upload:
            seconds = self.limits.max_body_seconds if brings_body(headers) else self.limits.max_seconds
            clock.allow(seconds, BODY if brings_body(headers) else WORK)
        try:
            taken = self.patient(receive) if upload else answer.receive(self.limits.max_seconds)
            await self.app(scope, taken, answer.send)
        except asyncio.CancelledError:
            ended = self.state.life.closing and clock.struck is None
            if clock.struck is None and not ended:
                raise
            clock.forgive()
            if not answer.begun:
                refused = CLOSING if clock.struck is None else self.out_of_time(clock.struck)
                await answer_of(refused)(scope, receive, send)
        finally:
            clock.stop()

    def out_of_time(self, what: str) -> Refusal:
        if what == BODY:
            return slow_body(self.limits.max_body_seconds)
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
                raise slow_body(limit) from None
            waited += loop.time() - start
            seen += len(message.get("body", b""))
            return message

        return wait


CLOSING = Refusal(503, "the service is being stopped: ask again later", type="ClosingError", retry_after=5)
BODY, WORK, ANSWER = "body", "work", "answer"


class Clock:
    """Cancels the task that it was made in when the time allowed is over."""

    def __init__(self) -> None:
        self.loop, self.task = asyncio.get_running_loop(), asyncio.current_task()
        self.timer: asyncio.TimerHandle | None = None
        self.struck: str | None = None

    def allow(self, seconds: float, what: str) -> None:
        """From now, so many seconds for `what`."""
        self.stop()
        self.timer = self.loop.call_later(seconds, self.strike, what)

    def strike(self, what: str) -> None:
        """End the task: `what` took too long."""
        self.struck = what
        if self.task is not None:
            self.task.cancel()

    def stop(self) -> None:
        """Allow any time."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def forgive(self) -> None:
        """Let the task go on after the end of its time; Python 3.11 counts how often a task is cancelled."""
        uncancel = getattr(self.task, "uncancel", None)
        if uncancel is not None:
            uncancel()


class Watched:
    """The two ends of a request, which wind its clock: a body arrives, is worked on, its answer is taken."""

    def __init__(self, clock: Clock, seconds: float, receive: Receive, send: Send) -> None:
        self.clock, self.seconds, self.taken, self.given = clock, seconds, receive, send
        self.begun = False

    def receive(self, work_seconds: float) -> Receive:
        """`receive`; with the last of the body the time to work on it begins."""
        whole = False

        async def take() -> Message:
            nonlocal whole
            message = await self.taken()
            if not whole and not message.get("more_body"):
                whole = True
                if not self.begun:
                    self.clock.allow(work_seconds, WORK)
            return message

        return take

    async def send(self, message: Message) -> None:
        """Send; the next part is not made before the client has taken this one, so that it has a time, too."""
        if not self.begun:
            self.begun = True
            self.clock.stop()
        if message["type"] == "http.response.body" and message.get("more_body"):
            self.clock.allow(self.seconds, ANSWER)
            await self.given(message)
            self.clock.stop()
        else:
            await self.given(message)


def slow_body(seconds: float) -> Refusal:
    return Refusal(
        408,
        f"the body did not arrive within {seconds:g} s: send it faster, in parts, or start the service with a "
        "larger --max-body-seconds",
        type="SlowBodyError",
    )
