"""Limits for requests without a key if the service requires keys: few per address, small and short."""

from __future__ import annotations

from collections import Counter

from starlette.types import Scope

STRANGER_BYTES = 4096
"""Maximum bytes of a body. Only the session routes accept a body without a key."""
STRANGER_SECONDS = 5.0
"""Maximum time for such a body to arrive."""
MOST_STRANGERS = 32
"""Maximum concurrent requests without a key per address. They take no slots of requests with a key."""
WRONG_KEYS = 100.0
"""Maximum wrong keys per minute and address."""


class Strangers:
    """The running requests without a key, by address.

    >>> strangers = Strangers(2)
    >>> [strangers.enter("192.0.2.1") for _ in range(3)], strangers.enter("192.0.2.2")
    ([True, True, False], True)
    >>> strangers.leave("192.0.2.1")
    >>> strangers.enter("192.0.2.1")
    True
    """

    def __init__(self, most: int = MOST_STRANGERS) -> None:
        self._most = most
        self._number: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a request of an address; returns False without counting if the address is at its limit."""
        if self._number[address] >= self._most:
            return False
        self._number[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Remove a counted request."""
        self._number[address] -= 1
        if not self._number[address]:
            del self._number[address]


def is_stranger(scope: Scope) -> bool:
    """Whether the service requires keys and this request has none; set by the guard `Access`."""
    return not scope.get("benzer.access", {}).get("scopes", True)
