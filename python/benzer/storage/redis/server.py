"""How is a script run in the server, and what if the connection breaks? It is sent again: each is done once.

Every reply begins with a code. A script that changes something carries a number, so that the server knows one that
it has done already; so sending again is always safe.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from benzer.errors import StorageError, StoreFormatError
from benzer.registry import require
from benzer.storage.redis.address import Address

TRIES = 8  # the pauses between them add up to about 5 seconds
_FIRST_PAUSE = 0.04
_READS = ("find", "piece", "alive", "fetch", "numbers", "walk", "expired", "facts", "shards")
_CHANGES = ("add", "post", "remove", "commit", "forget", "clean", "purge", "purged", "release")
_WITH_IDS = ("add", "remove")
_WITH_FILING = ("add", "post", "purge", "purged")


class LeaseLostError(StorageError):
    """Another writer has taken the lease: what was not committed is gone."""


class RewrittenError(Exception):
    """The shards were rewritten while a long one was read in pieces: begin again."""


@cache
def script(name: str) -> tuple[str, str]:
    """The text of a script, with what it stands on, and its SHA-1, by which a server knows it."""
    parts = ["shared"]
    if name in _READS:
        parts.append("view")
    if name in _CHANGES:
        parts.append("turn")
    if name in _WITH_IDS:
        parts.append("ids")
    if name in _WITH_FILING:
        parts.append("filing")
    folder = files("benzer.storage.redis") / "lua"
    text = "\n".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in [*parts, name])
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class Server:
    """A Redis server as seen by one index in it. Threads may share it; a forked child makes its own."""

    def __init__(self, address: Address, tries: int = TRIES) -> None:
        self.address, self.tries = address, tries
        self._errors = require("redis", extra="redis", purpose="Indexes in Redis").exceptions
        self._client: Any = None

    def run(self, name: str, *arguments: Any, tries: int | None = None) -> list[Any]:
        """Run a script and give its reply without the code 0; any other code is raised as what it means.

        Raises:
            StorageError: the server cannot be reached, or refuses; the message has the tries and the seconds.
        """
        reply = self._repeated(lambda: self._once(name, arguments), self.tries if tries is None else tries)
        if reply[0] == 0:
            return reply[1:]  # type: ignore[no-any-return]
        raise self.meaning(reply[0])

    def run_raw(self, name: str, *arguments: Any) -> list[Any]:
        """`run`, with the code."""
        return self._repeated(lambda: self._once(name, arguments), self.tries)  # type: ignore[no-any-return]

    def records(self, numbers: Sequence[int]) -> list[bytes | None]:
        """The records of documents as they lie there, whoever may see them; None for one that is not there."""
        start = self.address.key[:-1] + b"d"
        names = [b"%s%d" % (start, number) for number in numbers]
        return self._repeated(  # type: ignore[no-any-return]
            lambda: self._connected().execute_command("MGET", *names), self.tries
        )

    def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            if self.address.cluster:
                client.disconnect_connection_pools()  # which close() leaves open
            client.close()

    def facts(self) -> dict[str, Any]:
        """What the server tells of itself (INFO); empty where the user may not ask."""
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
            except (self._errors.RedisError, OSError) as error:
                if attempt == tries or not self._passing(error):
                    raise self._told(error, attempt, time.monotonic() - start) from error
                if (
                    attempt > 1
                ):  # the first failure may be of a connection that the server had closed long ago
                    time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))
        raise AssertionError("tries must be 1 or more")

    def _once(self, name: str, arguments: tuple[Any, ...]) -> list[Any]:
        text, digest = script(name)
        client, key = self._connected(), self.address.key
        try:
            return client.execute_command("EVALSHA", digest, 1, key, *arguments)  # type: ignore[no-any-return]
        except self._errors.NoScriptError:  # a new server, or one that was started again
            return client.execute_command("EVAL", text, 1, key, *arguments)  # type: ignore[no-any-return]

    def _passing(self, error: Exception) -> bool:
        """May the same work a moment later?"""
        errors = self._errors
        if isinstance(error, errors.AuthenticationError | errors.AuthorizationError):
            return False
        if isinstance(error, errors.ConnectionError | errors.TimeoutError | OSError):
            return True
        if isinstance(error, errors.RedisClusterException | errors.ReadOnlyError | errors.TryAgainError):
            return True
        return isinstance(error, errors.MasterDownError) or str(error).startswith("BUSY")

    def _told(self, error: Exception, tries: int, seconds: float) -> StorageError:
        if "WRONGTYPE" in str(error):
            return StoreFormatError(
                f"{self.address!r}: another program's keys are in the way ({error}): choose another prefix"
            )
        if self._passing(error):
            return StorageError(
                f"{self.address!r} gave no answer in {tries} tries and {seconds:.1f} s ({error}): "
                f"see that the server runs and can be reached"
            )
        return StorageError(f"{self.address!r} refuses: {error}")

    def meaning(self, code: int) -> Exception:
        if code == 1:
            return StorageError(
                f"there is no index at {self.address!r}: mode='write' with settings makes one"
            )
        if code == 2:
            return LeaseLostError(
                f"the changes since the last commit are not stored: another writer has taken over "
                f"{self.address!r}, or the server has lost what it held: make them again"
            )
        if code == 3:
            return StorageError(
                f"what this snapshot of {self.address!r} saw has been deleted meanwhile: ask again in a new one"
            )
        if code == 5:
            return RewrittenError()
        return StorageError(
            f"{self.address!r} has a bucket of more than 10 million documents: remove some and compact()"
        )
