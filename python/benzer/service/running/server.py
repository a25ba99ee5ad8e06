"""The server and its shutdown: after a signal it completes running requests within a time limit."""

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
"""The switch interval of the interpreter lock; see docs/decisions/0028-separate-upload-process.md. With Python's
default of 5 ms, every step of a search that releases the lock for native work would wait that long."""
LAST_SECONDS = 2.0
"""Seconds after the grace period to send the last responses and close the indexes."""


class Server(uvicorn.Server):
    """The server of an application. During shutdown `/ready` returns 503 and new work is rejected."""

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
        # Existing objects are permanent. Scanning them in every collection blocked all requests for 50 ms: with 16
        # connections the p99 of a search was 51 ms, and is 11.
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start the shutdown on a signal."""
        if not self.state.life.closing:
            self.state.life.closing = True
            self.state.log.write("info", "closing", signal=sig)
            last = threading.Timer(self.limits.grace_seconds + LAST_SECONDS, self.give_up, [sig])
            last.daemon = True
            last.start()
        super().handle_exit(sig, frame)

    def give_up(self, sig: int) -> None:
        """End the process with all running work. Acknowledged changes are durable; others are rolled back."""
        self.state.log.write("error", "gave up", message="work that did not end in time was aborted")
        with suppress(Exception):
            self.state.log.close()
        os._exit(128 + sig)


def allow_files() -> None:
    """Raise the limit of open files to the maximum: each connection is a file, and 1,024 is a common limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
