"""Limits for requests without a key, where the service asks for keys: few of an address at a time, small and short."""

from __future__ import annotations

from collections import Counter

from starlette.types import Scope

STRANGER_BYTES = 4096
"""Most bytes of a body. The only routes that take one without a key are those of the session."""
STRANGER_SECONDS = 5.0
"""Longest time for such a body to arrive."""
MOST_STRANGERS = 32
"""Most requests without a key of one address at a time. They take none of the places of requests with a key."""
WRONG_KEYS = 100.0
"""Wrong keys a minute that one address is told so; further ones are refused."""


class Strangers:
    """The requests without a key that are being answered, by address.

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
        """Count a request of an address; False, and not counted, if it has as many as it may."""
        if self._number[address] >= self._most:
            return False
        self._number[address] += 1
        return True

    def leave(self, address: str) -> None:
        """End a request that was counted."""
        self._number[address] -= 1
        if not self._number[address]:
            del self._number[address]


def is_stranger(scope: Scope) -> bool:
    """Whether the service asks for keys and this request has none; set by the guard `Access`."""
    return not scope.get("benzer.access", {}).get("scopes", True)
