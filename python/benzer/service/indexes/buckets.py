"""How many documents share a bucket? A histogram, counted once and kept until the index changes."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, Field

from benzer.index import Index
from benzer.service.indexes.served import ServedIndex


class Buckets(BaseModel):
    """The buckets of an index by size. Every document in a bucket is compared with whoever asks for one of them."""

    buckets: int = Field(description="How many there are.", examples=[38_120])
    largest: int = Field(description="Documents in the largest.", examples=[41])
    histogram: list[tuple[int, int]] = Field(
        description="Pairs of a size and how many buckets have it, by size.",
        examples=[[[1, 37_000], [2, 1_120]]],
    )
    as_of: str = Field(description="When they were counted.", examples=["2026-01-01T12:00:00+00:00"])


_KEPT: WeakKeyDictionary[ServedIndex, tuple[tuple[Any, ...], dict[str, Any]]] = WeakKeyDictionary()


async def buckets_of(served: ServedIndex) -> dict[str, Any]:
    """The buckets of an index by size; reads all its postings unless nothing has changed since the last time."""
    state = (served.writes, *await served.read(state_of))
    kept = _KEPT.get(served)
    if kept is None or kept[0] != state:
        kept = state, as_json(await asyncio.to_thread(counted, served))
        _KEPT[served] = kept
    return kept[1]


def last_counted(served: ServedIndex) -> dict[str, Any] | None:
    """The buckets of an index as they were counted last; None where they never were."""
    kept = _KEPT.get(served)
    return None if kept is None else kept[1]


def counted(served: ServedIndex) -> dict[int, int]:
    """Count with an index of its own: those who read the shared one would wait."""
    with served.again() as index:
        return index.bucket_sizes()


def state_of(index: Index) -> tuple[Any, ...]:
    """What changes when another process writes."""
    known = index.info()
    return known["documents"], known["removed"], known["postings"], known["bytes"]


def as_json(sizes: dict[int, int]) -> dict[str, Any]:
    """How the buckets are answered.

    >>> as_json({3: 1, 1: 10})["histogram"], as_json({3: 1, 1: 10})["largest"]
    ([[1, 10], [3, 1]], 3)
    """
    return {
        "buckets": sum(sizes.values()),
        "largest": max(sizes, default=0),
        "histogram": [[size, sizes[size]] for size in sorted(sizes)],
        "as_of": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
