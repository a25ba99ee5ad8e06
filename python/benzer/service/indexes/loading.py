"""Why does a search stay fast while a million documents are loaded? They are read and written by another process.

What reads JSON in Python keeps the interpreter to itself, a thousand documents at a time; a search beside it would wait
for it at each of its steps. So an upload of more than a block has a process of its own: `loader`. It is started
when it is first needed, ends when it is not used for a while, and when the service ends, however that ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from benzer import errors
from benzer.errors import BenzerError, StorageError
from benzer.service.indexes.written import Written
from benzer.service.settings import Limits

END_SECONDS = 30.0


class LoaderError(StorageError):
    """The process that loads documents has ended; the next upload starts another."""


class Loader:
    """The process that loads documents into one index. One thread at a time may talk to it; the others wait."""

    def __init__(self, location: str | os.PathLike[str], timeout: float) -> None:
        self._location, self._timeout = os.fspath(location), timeout
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._blocks = 0  # that were sent to be read
        self._held = 0  # the number of the one whose documents the process keeps; 0 for none

    def read(self, block: bytes, first: int, skip: bool, limits: Limits) -> int:
        """Have it read a block of lines; it keeps the documents until `write`, or the next `read`.

        Gives the number by which `write` asks for them.
        """
        with self._lock:
            self._held = 0
            self._told({"do": "read", "first": first, "skip": skip, "limits": asdict(limits)}, block)
            self._blocks += 1
            self._held = self._blocks
            return self._held

    def write(self, number: int) -> Written:
        """Have it write and commit what it has read; never another block in its place, or nothing."""
        with self._lock:
            held, self._held = self._held, 0
            if held != number:
                raise LoaderError("the process that loads documents has let a block go: send the rest again")
            return Written.of_json(self._told({"do": "write"}))

    def close(self) -> None:
        """Let it end what it does, and end."""
        with self._lock:
            process, self._process, self._held = self._process, None, 0
            if process is not None:
                ended(process, END_SECONDS)

    def _told(self, order: Mapping[str, Any], block: bytes = b"") -> dict[str, Any]:
        """What it answers to an order; the caller holds the lock."""
        process = self._process = self._process or self._started()
        try:
            send(process, order, block)
            answer = process.stdout.readline() if process.stdout else b""
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            self._process = None
            status = ended(process, 0)
            raise LoaderError(
                f"the process that loads documents ended with status {status}: send the rest again"
            )
        told: dict[str, Any] = json.loads(answer)
        if "error" in told:
            raise error_of(told["error"])
        return told

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "benzer.service.uploads.loader"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # Not in the command line, which all may read: a URL may hold a password.
        send(process, {"location": self._location, "timeout": self._timeout})
        return process


def ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Its exit status, when it has been told that there are no more orders, and had some time for the last one."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # it has gone, with what was about to be sent
            if pipe is not None:
                pipe.close()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def send(process: subprocess.Popen[bytes], order: Mapping[str, Any], block: bytes = b"") -> None:
    """Send an order, a line of JSON, and the bytes that belong to it."""
    if process.stdin is not None:
        process.stdin.write(json.dumps({**order, "bytes": len(block)}).encode() + b"\n" + block)
        process.stdin.flush()


def error_of(told: Mapping[str, str]) -> Exception:
    """The error that the process met, as if it had been met here.

    >>> error_of({"type": "StoreLockedError", "message": "another process is writing"})
    StoreLockedError('another process is writing')
    """
    kind = getattr(errors, told["type"], None)
    if isinstance(kind, type) and issubclass(kind, BenzerError):
        return kind(told["message"])
    return RuntimeError(f"in the process that loads documents: {told['message']}")
