"""Runs scripts in the server; repeats them after connection errors, with each applied once.

Every reply begins with a code. A script that makes changes carries a number, by which the server recognizes a script
that it has already run; so sending it again is always safe.
"""

from __future__ import annotations

import hashlib
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from benzer.errors import StorageError, StoreFormatError
from benzer.registry import require
from benzer.storage.base import MAKE_ONE
from benzer.storage.redis.address import RedisAddress

TRIES = 8  # the pauses between them add up to about 5 seconds
_FIRST_PAUSE = 0.04
_PATIENCE = 60.0  # seconds after which nothing is tried again: a hung server takes a socket_timeout each time
_PART = re.compile(r"^--! (\w+)(?:: ([\w, ]+))?\n", re.MULTILINE)
_SCRIPT_FAILED = re.compile(
    r"(?<!@)user_script:\d+: "
)  # not a command in a script, as in "on @user_script:12."


class LeaseLostError(StorageError):
    """Another writer has the lease: uncommitted changes are lost."""


class MadeAnewError(StorageError):
    """The opened index was deleted, and another one has its name."""


class RewrittenError(Exception):
    """The shards were rewritten while a long one was read in pieces: begin again."""


@cache
def parts() -> dict[str, tuple[list[str], str]]:
    """Return the parts of the files in `lua/` by name: the parts that must come before each, and its text.

    A line `--! add: shared, turn` begins the part "add".
    """
    parts_by_name: dict[str, tuple[list[str], str]] = {}
    for file in (files("benzer.storage.redis") / "lua").iterdir():
        if file.name.endswith(".lua"):
            _, *pieces = _PART.split(file.read_text(encoding="utf-8"))
            for name, before, text in zip(*(pieces[number::3] for number in range(3)), strict=True):
                parts_by_name[name] = (before.split(", ") if before else [], text.rstrip("\n") + "\n")
    return parts_by_name


@cache
def script(name: str) -> tuple[str, str]:
    """Return the text of a script with the parts that it uses, and its SHA-1, which identifies it in a server."""
    before, own = parts()[name]
    text = "\n".join([*(parts()[part][1] for part in before), own])
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class IndexServer:
    """A connection to one index in a Redis server. Threads may share it; a forked child connects again.

    `made` identifies the index since its creation: every script compares it.
    """

    def __init__(self, address: RedisAddress, tries: int = TRIES, made: bytes = b"") -> None:
        self.address, self.tries, self.made = address, tries, made
        self._errors = require("redis", extra="redis", purpose="Indexes in Redis").exceptions
        self._client: Any = None
        self._line: Any = None
        self._line_taken = threading.Lock()

    def run(self, name: str, *arguments: Any, tries: int | None = None) -> list[Any]:
        """Run a script and return its reply without the code 0; any other code raises the error that it represents.

        Raises:
            StorageError: The server cannot be reached, or rejects the script; the message has the tries and the
                seconds.
        """
        reply = self._repeated(lambda: self._once(name, arguments), self.tries if tries is None else tries)
        if reply[0] == 0:
            return reply[1:]  # type: ignore[no-any-return]
        raise self.meaning(reply[0])

    def run_raw(self, name: str, *arguments: Any) -> list[Any]:
        """Run a script and return its reply with the code."""
        return self._repeated(lambda: self._once(name, arguments), self.tries)  # type: ignore[no-any-return]

    def records(self, numbers: Sequence[int]) -> list[bytes | None]:
        """Return the stored records of documents, visible or not; None for a missing one."""
        start = self.address.key[:-1] + b"d"
        names = [b"%s%d" % (start, number) for number in numbers]
        return self._repeated(  # type: ignore[no-any-return]
            lambda: self._connected().execute_command("MGET", *names), self.tries
        )

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            if self._line is not None:
                line, self._line = self._line, None
                line.disconnect()
                client.connection_pool.release(line)
            if self.address.cluster:
                client.disconnect_connection_pools()  # which close() leaves open
            client.close()

    def facts(self) -> dict[str, Any]:
        """Return the server's INFO; empty if the user has no permission."""
        answer = self._repeated(self._info, self.tries)
        return answer if isinstance(answer, dict) else {}

    def _info(self) -> Any:
        try:
            return self._connected().execute_command("INFO")
        except self._errors.NoPermissionError:
            return {}

    def _connected(self) -> Any:
        if self._client is None:
            self._client = self.address.client()
        return self._client

    def _repeated(self, work: Callable[[], Any], tries: int) -> Any:
        start = time.monotonic()
        for attempt in range(1, tries + 1):
            try:
                return work()
            except (self._errors.RedisError, self._errors.RedisClusterException, OSError) as error:
                seconds = time.monotonic() - start
                if attempt == tries or seconds > _PATIENCE or not self._passing(error):
                    raise self._error_of(error, attempt, seconds) from error
                if (
                    attempt > 1
                ):  # the first failure may be of a connection that the server had closed long ago
                    time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))
        raise AssertionError("tries must be 1 or more")

    def _once(self, name: str, arguments: tuple[Any, ...]) -> list[Any]:
        text, digest = script(name)
        key = self.address.key
        keys = 2, key, key[:-1] + self.made
        try:
            return self._send("EVALSHA", digest, *keys, *arguments)  # type: ignore[no-any-return]
        except self._errors.NoScriptError:  # a new server, or one that was started again
            return self._send("EVAL", text, *keys, *arguments)  # type: ignore[no-any-return]

    def _send(self, *command: Any) -> Any:
        """Send a command and return the reply, on a connection that is kept.

        Taking one from the pool each time took a fifth of the time of a search (173 instead of 140 microseconds,
        measured). A thread that finds it in use takes one from the pool.
        """
        client = self._connected()
        if self.address.cluster or not self._line_taken.acquire(blocking=False):
            return client.execute_command(*command)
        try:
            if self._line is None:
                self._line = client.connection_pool.get_connection()
            self._line.send_command(*command)
            return self._line.read_response()
        except self._errors.ResponseError:  # an answer, if no welcome one
            raise
        except BaseException:  # what is left of a reply must not be taken for that of the next command
            if self._line is not None:
                self._line.disconnect()
            raise
        finally:
            self._line_taken.release()

    def _passing(self, error: Exception) -> bool:
        """Whether the same command may succeed a moment later."""
        errors = self._errors
        if isinstance(error, errors.AuthenticationError | errors.AuthorizationError) or _no_cluster(error):
            return False
        if isinstance(error, errors.ConnectionError | errors.TimeoutError | OSError):
            return True
        if isinstance(error, errors.RedisClusterException | errors.ReadOnlyError | errors.TryAgainError):
            return True
        return isinstance(error, errors.MasterDownError) or str(error).startswith("BUSY")

    def _error_of(self, error: Exception, tries: int, seconds: float) -> StorageError:
        if "WRONGTYPE" in str(error):
            return StoreFormatError(
                f"{self.address!r}: the keys of another program use this prefix ({error}): choose another prefix"
            )
        if _SCRIPT_FAILED.search(str(error)):
            return StoreFormatError(
                f"{self.address!r} is damaged (a script cannot read it: {error}): restore it from a copy, or create "
                f"the index again"
            )
        if _no_cluster(error):
            return StorageError(f"{self.address!r} is not a cluster: remove cluster=true")
        if isinstance(error, self._errors.ReadOnlyError):
            return StorageError(
                f"{self.address!r} is a replica, which is read-only: use the address of its master"
            )
        if isinstance(error, self._errors.OutOfMemoryError) or "used memory > 'maxmemory'" in str(error):
            return StorageError(
                f"{self.address!r} is out of memory (used memory is above maxmemory; committed changes are kept): "
                f"raise maxmemory, or delete another index"
            )
        if self._passing(error):
            return StorageError(
                f"{self.address!r} did not respond in {tries} tries and {seconds:.1f} s ({error}): "
                f"make sure that the server runs and can be reached"
            )
        return StorageError(f"{self.address!r} rejected the request: {error}")

    def meaning(self, code: int) -> Exception:
        """Return the error for the code at the beginning of a reply."""
        if code == 1:
            return StorageError(f"there is no index at {self.address!r}: {MAKE_ONE}")
        if code == 2:
            return LeaseLostError(
                f"the changes since the last commit are not stored: another writer has taken over "
                f"{self.address!r}, or the server has lost data: repeat them"
            )
        if code == 3:
            return StorageError(
                f"data of this snapshot of {self.address!r} has been deleted: use a new snapshot"
            )
        if code == 7:
            return MadeAnewError(
                f"the index at {self.address!r} was deleted and created again: open it again"
            )
        if code == 5:
            return RewrittenError()
        return StorageError(
            f"{self.address!r} has a bucket of more than 10 million documents: remove some and compact()"
        )


def _no_cluster(error: Exception) -> bool:
    return "cluster mode is not enabled" in f"{error} {error.__cause__}".lower()
