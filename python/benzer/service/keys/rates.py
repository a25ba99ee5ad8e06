"""Rate limits by token buckets that hold the requests of one minute."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable

MOST_BUCKETS = 10_000
MINUTE = 60.0
LONGEST = 1e9  # seconds between two requests: prevents infinity for tiny rates


class Rates:
    """One bucket per client: keys by id, others by address.

    Full buckets are equivalent to new ones. When there are many buckets, the full ones and a tenth of the others are
    dropped.

    >>> now = 0.0
    >>> rates = Rates(clock=lambda: now)
    >>> [rates.wait("ci", 2) for _ in range(3)]
    [0.0, 0.0, 30.0]
    >>> now = 30.0
    >>> rates.wait("ci", 2), rates.wait("other", 2)
    (0.0, 0.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: dict[str, float] = {}

    def wait(self, who: str, rate: float) -> float:
        """Count a request at `rate` per minute; returns 0 if it may pass, otherwise the seconds until one may."""
        now = self._clock()
        each = min(MINUTE / rate, LONGEST)
        full_at = max(now, self._full_at.get(who, now)) + each
        over = full_at - now - max(MINUTE, each)  # at least one request fits, however low the rate
        if over > 1e-9:
            return over
        if who not in self._full_at and len(self._full_at) >= MOST_BUCKETS:
            self._forget(now)
        self._full_at[who] = full_at
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop full buckets and the tenth that will be full first, so that few requests pay for a pass over all."""
        kept = heapq.nlargest(MOST_BUCKETS * 9 // 10, self._full_at.items(), key=lambda bucket: bucket[1])
        self._full_at = {who: full_at for who, full_at in kept if full_at > now}
