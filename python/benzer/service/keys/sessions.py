"""Which browser has shown a key? One that brings the secret of a session, which ends by itself."""

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
    """A session: the id of the key that was shown, and when it ends by the clock."""

    key: str
    ends: float


class Sessions:
    """The sessions of a process, in memory: they end after half a day, by a logout, with their key, or at a restart.

    Of one key the last 64 are held. A session is known by the hash of its secret, so that the time of a look-up
    tells nothing of the secret.

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
        self._held: dict[str, Session] = {}

    def begin(self, key: str) -> str:
        """Begin a session of a key; its secret."""
        now = self._clock()
        self._held = {one: session for one, session in self._held.items() if session.ends > now}
        mine = [one for one, session in self._held.items() if session.key == key]
        for one in mine[: max(0, len(mine) - MOST_OF_A_KEY + 1)]:
            del self._held[one]
        secret = secrets.token_urlsafe(32)
        self._held[digest(secret)] = Session(key, now + SECONDS)
        return secret

    def key_of(self, secret: str) -> str | None:
        """The id of the key that was shown for a session; None where it has ended, or never was."""
        session = self._held.get(digest(secret))
        return session.key if session is not None and session.ends > self._clock() else None

    def end(self, secret: str) -> None:
        """End a session, if there is one."""
        self._held.pop(digest(secret), None)

    def __len__(self) -> int:
        return len(self._held)
