"""Closes connections that send no request in time, with an error in the common shape.

The same applies to a request header without an end, which the server itself would buffer without a limit.
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
from benzer.wording import count, decimal

MOST_HEAD_BYTES = 1 << 16
"""Maximum bytes of a request line with its headers; the same amount may arrive in one piece with its end."""

MOST_WAITING = 256
"""Number of connections per address that may wait for a request header as long as for a body."""
CROWDED_SECONDS = 2.0
"""Maximum wait of each further connection."""


class Connection(HttpToolsProtocol):
    """A server connection with limits on the time between requests and on the time and size of a header.

    The server itself closes idle connections after a response, but waits forever for the rest of a header and of a
    discarded body.
    """

    _closing: asyncio.TimerHandle | None = None
    _address = ""
    _waiting: Counter[str]
    _headed = 0
    """Bytes received since the last part of a body or the last complete request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start waiting for the first header."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Receive bytes; the wait ends when a request has started."""
        self._headed += len(data)
        super().data_received(data)
        if self._headed > MOST_HEAD_BYTES:
            self._refuse(
                431,
                f"the request header is larger than {count(MOST_HEAD_BYTES)} bytes: send less, or use the body",
            )
        self._wait()

    def on_body(self, body: bytes) -> None:
        """Receive a part of a body."""
        self._headed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Mark the request as complete."""
        self._headed = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
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
        self._refuse(408, f"no request arrived within {decimal(seconds)} s: connect again")

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid HTTP."""
        self._refuse(400, "invalid HTTP request: send a header and a body length according to HTTP/1.1")

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        answer = failure(status, message, headers={"Connection": "close"})
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in answer.raw_headers)
        self.transport.write(head + lines + b"\r\n" + bytes(answer.body))
        self.transport.close()
