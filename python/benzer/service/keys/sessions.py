"""Browser sessions: a secret instead of a key, which expires."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from benzer.service.keys.keyring import digest

SECONDS = 12 * 3600.0
MOST_OF_A_KEY = 64


@dataclass(frozen=True)
class Session:
    """A session: the id of its key, and its end on the clock."""

    key: str
    ends: float


class Sessions:
    """The sessions of a process, in memory: they end after 12 hours, at logout, with their key, or at a restart.

    The last 64 sessions of a key are kept. They are stored by the hash of the secret, so that the time of a lookup
    reveals nothing about the secret.

    >>> now = 0.0
    >>> sessions = Sessions(clock=lambda: now)
    >>> secret = sessions.begin("4f3a9c1b")
    >>> sessions.key_of(secret), sessions.key_of("another")
    ('4f3a9c1b', None)
    >>> now = SECONDS
    >>> sessions.key_of(secret)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: dict[str, Session] = {}

    def begin(self, key: str) -> str:
        """Start a session of a key and return its secret."""
        now = self._clock()
        self._sessions = {entry: session for entry, session in self._sessions.items() if session.ends > now}
        mine = [entry for entry, session in self._sessions.items() if session.key == key]
        for item in mine[: max(0, len(mine) - MOST_OF_A_KEY + 1)]:
            del self._sessions[item]
        secret = secrets.token_urlsafe(32)
        self._sessions[digest(secret)] = Session(key, now + SECONDS)
        return secret

    def key_of(self, secret: str) -> str | None:
        """The id of the key of a session; None if it has ended or never existed."""
        session = self._sessions.get(digest(secret))
        return session.key if session is not None and session.ends > self._clock() else None

    def end(self, secret: str) -> None:
        """End a session if it exists."""
        self._sessions.pop(digest(secret), None)

    def __len__(self) -> int:
        return len(self._sessions)
