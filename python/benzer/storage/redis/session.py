"""The lease of the writer and the snapshots of readers."""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from benzer.errors import StorageError, StoreLockedError
from benzer.storage.base import read_only, within_snapshot
from benzer.storage.postings import Postings
from benzer.storage.redis.address import RedisAddress
from benzer.storage.redis.records import Record, grouped
from benzer.storage.redis.server import TRIES, IndexServer, LeaseLostError, MadeAnewError

_POLL = 0.02  # seconds between two looks at a lease that another writer holds
_SHARDS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class RedisLimits:
    """Limits from which removed documents are purged; they do not affect the results."""

    pending_postings: int = 2_000_000  # kept back by the writer until there are so many
    purge_documents: int = 1000  # dead documents are too few to rewrite everything for, below this
    grace: int = 60  # seconds for which what was removed or has expired stays for older snapshots; 60 at most
    tries: int = TRIES


@dataclass(frozen=True, slots=True)
class RedisView:
    """The state that a snapshot sees.

    These are the documents numbered from `expired` to `published`, except those removed by a commit up to
    `generation`; `documents` counts them, without those that expired recently.
    """

    published: int
    generation: int
    expired: int
    documents: int

    def arguments(self) -> tuple[Any, ...]:
        return "f", self.published, self.generation, self.expired


class RedisSession:
    """An open index. Threads wait for each other; a forked child connects again on first use.

    `next_number`, `shards` and `pending` (the postings of this transaction that the server does not have yet) are
    valid within `changing`. `documents` caches records that a search returned, for the duration of the snapshot.
    """

    def __init__(self, address: RedisAddress, mode: str, timeout: float, limits: RedisLimits) -> None:
        self.address, self.mode, self.timeout, self.limits = address, mode, timeout, limits
        self._closed = False
        self.undone = 0
        self._start()
        _SESSIONS.add(self)

    def _start(self, made: bytes = b"") -> None:
        self.server = IndexServer(self.address, self.limits.tries, made)
        self._lock = threading.RLock()
        self._token = uuid.uuid4().hex
        self._seq = 0
        self._keeper: threading.Thread | None = None
        self._closing = threading.Event()
        self._depth = 0
        self._view: RedisView | None = None
        self.documents: dict[int, Record] = {}
        self._end()

    def _end(self) -> None:
        self.writing = False
        self.changes = 0
        self.next_number, self.shards, self.id_shards = 0, 1, 1
        self.pending: list[Postings] = []

    def after_fork(self) -> None:
        """Do not use the parent's transaction and connections."""
        self._inherited = self.server  # closing sockets is the parent's business
        self.undone += 1
        self._start(self.server.made)

    def check_open(self) -> None:
        """Raise an error after `close`."""
        if self._closed:
            raise StorageError(f"{self.address!r} is closed: open it again")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Make all reads in the block see one state; other threads of this process wait, other processes do not."""
        with self._lock:
            self.check_open()
            lock = self._lock
            self._depth += 1
            try:
                yield
            finally:
                if self._lock is lock:  # else a child was forked within, and has begun anew
                    self._depth -= 1
                    if not self._depth:
                        self._view = None
                        self.documents.clear()

    def read(self, name: str, *arguments: Any) -> list[Any]:
        """Run a script that reads, within `reading`. Returns its reply without the view."""
        if self.writing:
            self.flush()
            view: tuple[Any, ...] = ("w", self._token, 0, 0)
        else:
            view = self._view.arguments() if self._view else ("n", 0, 0, 0)
        reply = self.server.run(name, *view, *arguments)
        if self._view is None or self.writing:
            self._view = RedisView(*map(int, reply[:4]))
        return reply[4:]

    @property
    def view(self) -> RedisView:
        """The state that this snapshot sees; known after its first read."""
        if self._view is None:
            self.read("alive", b"")
        assert self._view is not None
        return self._view

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Run a block in a transaction. A failure inside (a lost connection, an interrupt) undoes it as a whole."""
        with self._lock:
            self.check_open()
            if self.mode == "read":
                raise read_only(repr(self.address))
            if self._depth:
                raise within_snapshot()
            try:
                if not self.writing:
                    self._begin()
                yield
            except BaseException:
                self._undo()
                raise

    def write(self, name: str, *arguments: Any) -> int:
        """Run a script that makes changes, within `changing`. Returns its count."""
        self._seq += 1
        reply = self.server.run(name, self._token, self._seq, self._lease(), *arguments)
        self.next_number, self.shards, self.id_shards, count = map(int, reply)
        return count

    def flush(self) -> None:
        """Send the pending postings: many at once, so that a shard is rewritten once for several of them."""
        if not self.pending:
            return
        try:
            postings, self.pending = Postings.merged(self.pending), []
            if self.shards == 1:
                self.write("post", 1, b"", b"", 0, len(postings.keys))
            shards, left = (
                self.shards,
                0,
            )  # no shard may be split before all that are grouped for it are filed
            for groups, packed in grouped(postings, shards):
                left = self.write("post", shards, groups, packed, 0, 0)
            while left:
                left = self.write("post", "", b"", b"", _SHARDS_AT_ONCE, 0)
        except BaseException:
            self._undo()
            raise

    def _lease(self) -> int:
        return int(self.address.lease * 1000)

    def _begin(self) -> None:
        self._seq += 1
        deadline = time.monotonic() + self.timeout
        while (reply := self._read_reply())[0] == 4:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._locked(reply[1])
            time.sleep(min(_POLL, left))
        self.next_number, self.shards, self.id_shards, ready, published, _ = map(int, reply[1:])
        self.writing = True
        self._keep_lease()
        if published < self.next_number:
            self._forget()
        if ready:
            self._clean(ready)

    def _read_reply(self) -> list[Any]:
        grace = self.limits.grace
        reply = self.server.run_raw("begin", self._token, self._seq, self._lease(), grace)
        if reply[0] not in (0, 4):
            raise self.server.meaning(reply[0])
        return reply

    def _locked(self, left: int) -> StoreLockedError:
        return StoreLockedError(
            f"{self.address!r} is being written by another process or another open index (waited "
            f"{self.timeout:g} s): commit or close that one first, or open this one with mode='read'. If it "
            f"was killed, its lease ends in {max(0, int(left)) / 1000:.1f} s"
        )

    def _forget(self) -> None:
        """Undo the numbers between `published` and `next`: this transaction, or that of a writer that died."""
        while self.write("forget"):
            pass

    def _clean(self, generation: int) -> None:
        while self.write("clean", generation):
            pass

    def commit(self) -> None:
        """Publish the changes together by one script; postings are purged when it is due."""
        with self._lock:
            self.check_open()
            if self.writing:
                self._publish(self.limits.purge_documents)

    def _publish(self, bound: int) -> None:
        with self.changing():
            self.flush()
            due = self._tell("commit", bound, min(60, self.limits.grace))
        self.changes = 0
        if due:
            with (
                suppress(StorageError),
                self.changing(),
            ):  # the commit is stored; a purge is due again at the next
                self._purge()
                self.write("release")
        self._end()

    def _tell(self, name: str, *arguments: Any) -> int:
        try:
            return self.write(name, *arguments)
        except (LeaseLostError, MadeAnewError):
            raise
        except StorageError as error:
            message = f"the server did not confirm the last commit, which may or may not be stored: {error}"
            raise StorageError(message) from error

    def compact(self) -> None:
        """Commit, purge all removed documents, and join shards if the collection has become smaller."""
        with self.changing():
            self.flush()
            self._tell("commit", -1, 0)
            reply = self.server.run("renew", self._token, self._lease())
            self._clean(int(reply[0]))
            self._purge()
            self.write("release")
        self._end()

    def _purge(self) -> None:
        for kind, count in (("p", self.shards), ("i", self.id_shards)):
            least = self.next_number
            for first in range(0, count, _SHARDS_AT_ONCE):
                least = self.write("purge", kind, first, first + _SHARDS_AT_ONCE, least)
        while self.write("purged", least, _SHARDS_AT_ONCE):
            pass

    def rollback(self) -> None:
        """Undo the changes since the last commit."""
        with self._lock:
            self.check_open()
            if self.writing:
                self._undo()

    def _undo(self) -> None:
        """Undo the transaction. No reader sees it: without the server, the next writer removes it."""
        if not self.writing:
            return
        self.undone += 1
        tries, self.server.tries = self.server.tries, min(2, self.server.tries)
        try:
            self._forget()
            self.write("release")
        except StorageError:
            pass
        finally:
            self.server.tries = tries
            self._end()

    def close(self) -> None:
        """Close the connections and undo uncommitted changes."""
        with self._lock:
            if self._closed:
                return
            self._undo()
            self._closed = True
            self._closing.set()
            self.server.close()

    def _keep_lease(self) -> None:
        """Renew the lease while the caller is busy between two changes."""
        if self._keeper is None:
            self._keeper = threading.Thread(
                target=_keep, args=(weakref.ref(self), self._closing, self.address.lease / 3), daemon=True
            )
            self._keeper.start()

    def renew(self) -> None:
        """Renew the lease."""
        if self.writing:
            with suppress(StorageError):  # the next change finds out what it means
                self.server.run("renew", self._token, self._lease(), tries=1)


def _keep(session: weakref.ref[RedisSession], closing: threading.Event, pause: float) -> None:
    while not closing.wait(pause):
        opened = session()
        if opened is None:
            return
        opened.renew()
        del opened


_SESSIONS: weakref.WeakSet[RedisSession] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for session in list(_SESSIONS):
        session.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
