"""Starts services for tests as forks of one process that has imported their packages.

A process of its own takes one to two seconds of processor time to import them; this one does it once for all tests
of a worker. `Forked` stands for one of its services as `subprocess.Popen` would.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]


class Forked:
    """A service that was forked: its number, its errors, and its status once it has ended."""

    def __init__(self, arguments: list[str]) -> None:
        errors, theirs = os.pipe()
        status, told = os.pipe()
        socket.send_fds(nursery(), [json.dumps(arguments).encode() + b"\n"], [theirs, told])
        os.close(theirs)
        os.close(told)
        self.args = arguments
        self.stderr = os.fdopen(errors, encoding="utf-8")
        self._status = os.fdopen(status)
        self.pid = int(self._status.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = int(self._status.readline())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended."""
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        status = self.poll()
        assert status is not None
        return status

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stderr.close()
        self.wait()
        self._status.close()


@cache
def nursery() -> socket.socket:
    """The connection to the process that forks; it ends with this one."""
    ours, theirs = socket.socketpair()
    # Newer versions of Python warn of each fork beside threads, and NumPy has some.
    options = ["-W", "error", "-W", "ignore:This process:DeprecationWarning:__main__"]
    command = [sys.executable, *options, "-m", "tests.doors.nursery", str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def fork_services(connection: socket.socket) -> None:
    """Fork a service for each line of arguments, until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which end their services
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # reaps those that watch
    while True:
        given, descriptors, *_ = socket.recv_fds(connection, 1 << 16, 2)
        if not given:
            return
        assert given.endswith(b"\n")
        if os.fork() == 0:
            connection.close()
            watch(json.loads(given), *descriptors)
        for one in descriptors:
            os.close(one)


def watch(arguments: list[str], errors: int, told: int) -> None:
    """Start the service in a child; tell its number, and then its exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(told)
        serve(arguments, errors)
    os.close(errors)
    os.write(told, b"%d\n" % child)
    _, status = os.waitpid(child, 0)
    os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def serve(arguments: list[str], errors: int) -> None:
    """Become `benzer serve`."""
    from benzer.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(errors, 2)
    os.close(errors)
    status: Any = 1
    try:
        main(["serve", "--port", "0", *arguments], prog_name="benzer")
    except SystemExit as ended:
        status = ended.code or 0
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    import benzer.service.app
    import benzer.service.running  # noqa: F401

    fork_services(socket.socket(fileno=int(sys.argv[1])))
