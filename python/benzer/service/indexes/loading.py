"""Loads large uploads in a separate process, so that searches remain fast.

Parsing JSON in Python holds the interpreter lock for a thousand documents at a time, and a concurrent search would
wait for it at each of its steps. So an upload of more than one block has its own process: `loader`. It is started when
it is first needed and ends when it is idle for a while, and when the service ends for any reason.
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
    """The loading process has ended; the next upload starts another one."""


class Loader:
    """The process that loads documents into one index. One thread at a time communicates with it."""

    def __init__(self, location: str | os.PathLike[str], timeout: float) -> None:
        self._location, self._timeout = os.fspath(location), timeout
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._blocks = 0  # number of blocks sent for parsing
        self._kept_block = 0  # the number of the block whose documents the process keeps; 0 for none

    def read(self, block: bytes, first: int, skip: bool, limits: Limits) -> int:
        """Parse a block of lines; the process keeps the documents until `write` or the next `read`.

        Returns the number to pass to `write`.
        """
        with self._lock:
            self._kept_block = 0
            self._reply({"do": "read", "first": first, "skip": skip, "limits": asdict(limits)}, block)
            self._blocks += 1
            self._kept_block = self._blocks
            return self._kept_block

    def write(self, number: int) -> Written:
        """Write and commit the parsed block with this number; never another block."""
        with self._lock:
            pending, self._kept_block = self._kept_block, 0
            if pending != number:
                raise LoaderError("the loading process has dropped a block: send the rest again")
            return Written.of_json(self._reply({"do": "write"}))

    def close(self) -> None:
        """Complete the running command and end the process."""
        with self._lock:
            process, self._process, self._kept_block = self._process, None, 0
            if process is not None:
                ended(process, END_SECONDS)

    def _reply(self, order: Mapping[str, Any], block: bytes = b"") -> dict[str, Any]:
        """The reply to a command; the caller holds the lock."""
        process = self._process = self._process or self._started()
        try:
            send(process, order, block)
            answer = process.stdout.readline() if process.stdout else b""
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            self._process = None
            status = ended(process, 0)
            raise LoaderError(f"the loading process ended with status {status}: send the rest again")
        reply: dict[str, Any] = json.loads(answer)
        if "error" in reply:
            raise error_of(reply["error"])
        return reply

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "benzer.service.uploads.loader"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # Not on the command line, which is public: a URL may contain a password.
        send(process, {"location": self._location, "timeout": self._timeout})
        return process


def ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Close stdin, wait some time for the last command, and return the exit status."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # the process has ended
            if pipe is not None:
                pipe.close()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def send(process: subprocess.Popen[bytes], order: Mapping[str, Any], block: bytes = b"") -> None:
    """Send a command, a line of JSON, and its bytes."""
    if process.stdin is not None:
        process.stdin.write(json.dumps({**order, "bytes": len(block)}).encode() + b"\n" + block)
        process.stdin.flush()


def error_of(answer: Mapping[str, str]) -> Exception:
    """Recreate an error of the process.

    >>> error_of({"type": "StoreLockedError", "message": "another process is writing"})
    StoreLockedError('another process is writing')
    """
    kind = getattr(errors, answer["type"], None)
    if isinstance(kind, type) and issubclass(kind, BenzerError):
        return kind(answer["message"])
    return RuntimeError(f"in the loading process: {answer['message']}")
