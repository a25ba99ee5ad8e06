"""The histogram of bucket sizes, counted once and cached until the index changes."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, Field

from benzer.index import Index
from benzer.service.indexes.served import ServedIndex


class Buckets(BaseModel):
    """The buckets of an index by size. A query that shares a bucket is compared with every document in it."""

    buckets: int = Field(description="Number of buckets.", examples=[38_120])
    largest: int = Field(description="Documents in the largest bucket.", examples=[41])
    histogram: list[tuple[int, int]] = Field(
        description="Pairs of a size and the number of buckets with this size, sorted by size.",
        examples=[[[1, 37_000], [2, 1_120]]],
    )
    as_of: str = Field(description="When they were counted.", examples=["2026-01-01T12:00:00+00:00"])


_KEPT: WeakKeyDictionary[ServedIndex, tuple[tuple[Any, ...], dict[str, Any]]] = WeakKeyDictionary()


async def buckets_of(served: ServedIndex) -> dict[str, Any]:
    """The buckets of an index by size; reads all its postings if the index has changed since the last count."""
    state = (served.writes, *await served.read(state_of))
    kept = _KEPT.get(served)
    if kept is None or kept[0] != state:
        kept = state, as_json(await asyncio.to_thread(counted, served))
        _KEPT[served] = kept
    return kept[1]


def last_counted(served: ServedIndex) -> dict[str, Any] | None:
    """The last count of the buckets of an index; None if they were never counted."""
    kept = _KEPT.get(served)
    return None if kept is None else kept[1]


def counted(served: ServedIndex) -> dict[int, int]:
    """Count with a separate handle, because readers of the shared one would wait."""
    with served.again() as index:
        return index.bucket_sizes()


def state_of(index: Index) -> tuple[Any, ...]:
    """A value that changes when another process writes."""
    known = index.info()
    return known["documents"], known["removed"], known["postings"], known["bytes"]


def as_json(sizes: dict[int, int]) -> dict[str, Any]:
    """The buckets as part of a response.

    >>> as_json({3: 1, 1: 10})["histogram"], as_json({3: 1, 1: 10})["largest"]
    ([[1, 10], [3, 1]], 3)
    """
    return {
        "buckets": sum(sizes.values()),
        "largest": max(sizes, default=0),
        "histogram": [[size, sizes[size]] for size in sorted(sizes)],
        "as_of": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
