"""What if a connection brings no request? It is closed in time, and told so in the shape that all errors have.

So is one whose head has no end: the server itself keeps all of it that comes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from http import HTTPStatus
from math import inf
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from benzer.service.errors import failure
from benzer.service.guards.addresses import client_of
from benzer.service.state import State

MOST_HEAD_BYTES = 1 << 16
"""Of a request line with its headers; as much again may come in one piece with its end."""

MOST_WAITING = 256
"""Connections of one address that may wait for the head of a request as long as for a body."""
CROWDED_SECONDS = 2.0
"""How long each further one may wait."""


class Connection(HttpToolsProtocol):
    """The server's connection, with limits on the time between two requests, and on time and size of a head.

    The server itself closes a connection that says nothing after an answer, but waits for ever for the rest of a head,
    and of a body that nobody wanted.
    """

    _closing: asyncio.TimerHandle | None = None
    _address = ""
    _waiting: Counter[str]
    _headed = 0
    """Bytes that have come since a body last did, or a request was whole."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what came; the wait ends when a request has begun."""
        self._headed += len(data)
        super().data_received(data)
        if self._headed > MOST_HEAD_BYTES:
            self._refuse(
                431, f"the head of a request has at most {MOST_HEAD_BYTES:,} bytes: send less, or in the body"
            )
        self._wait()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._headed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take note that a request is whole."""
        self._headed = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._wait_no_more()

    def _wait(self) -> None:
        if self._answering():
            self._wait_no_more()
        elif self._closing is None:
            application: Any = self.config.app
            state: State = application.state.shared
            self._waiting, self._address = (
                state.life.waiting,
                client_of(self.client[0] if self.client else ""),
            )
            self._waiting[self._address] += 1
            crowded = self._waiting[self._address] > MOST_WAITING
            seconds = min(state.limits.max_body_seconds, CROWDED_SECONDS if crowded else inf)
            self._closing = self.loop.call_later(seconds, self._give_up, seconds)

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _wait_no_more(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
            self._waiting[self._address] -= 1
            if not self._waiting[self._address]:
                del self._waiting[self._address]

    def _give_up(self, seconds: float) -> None:
        self._refuse(408, f"no request came within {seconds:g} s: connect again")

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(
            400, "this is no HTTP request: send the head and the length of the body as HTTP/1.1 has it"
        )

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        answer = failure(status, message, headers={"Connection": "close"})
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in answer.raw_headers)
        self.transport.write(head + lines + b"\r\n" + bytes(answer.body))
        self.transport.close()
