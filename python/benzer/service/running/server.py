"""How does the server run, and end? A signal lets it answer what has begun, for a while; then it ends in any case."""

from __future__ import annotations

import gc
import os
import resource
import sys
import threading
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from benzer.service.running.connections import Connection
from benzer.service.state import State
from benzer.service.telemetry.logs import forward

SWITCH_SECONDS = 0.0005
"""How long a thread keeps the interpreter from others that want it; see docs/decisions/0028-loading-apart.md. Python's
own 5 ms are waited for at each step of a search, which lets the interpreter go for native work."""
LAST_SECONDS = 2.0
"""After the time of grace: for the last answers to be sent, and the indexes to be closed."""


class Server(uvicorn.Server):
    """The server of an application. Once it is told to end, `/ready` says so, and nothing new is begun."""

    def __init__(self, app: FastAPI) -> None:
        self.state: State = app.state.shared
        self.limits = self.state.limits
        sys.setswitchinterval(SWITCH_SECONDS)
        allow_files()
        super().__init__(
            uvicorn.Config(
                app, http=Connection, log_config=None, log_level=None, access_log=False, lifespan="off",
                ws="none", proxy_headers=False, server_header=False,
                timeout_graceful_shutdown=max(1, round(self.limits.grace_seconds)),
            )
        )  # fmt: skip
        forward(self.state.log, "uvicorn", "uvicorn.error", "benzer.service")
        # What is there now stays. To look through all of it again and again held everybody up for 50 ms: with 16
        # connections the p99 of a search was 51 ms, and is 11.
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the end, on a signal."""
        if not self.state.life.closing:
            self.state.life.closing = True
            self.state.log.write("info", "closing", signal=sig)
            last = threading.Timer(self.limits.grace_seconds + LAST_SECONDS, self.give_up, [sig])
            last.daemon = True
            last.start()
        super().handle_exit(sig, frame)

    def give_up(self, sig: int) -> None:
        """End the process, whatever still runs. What was acknowledged is durable; what was not is undone."""
        self.state.log.write("error", "gave up", message="work that did not end in time was broken off")
        with suppress(Exception):
            self.state.log.close()
        os._exit(128 + sig)


def allow_files() -> None:
    """Let the process open as many files as the system allows: each connection is one, and 1,024 is a usual limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
