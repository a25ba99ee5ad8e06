"""Prometheus metrics of the service and of its indexes: `GET /metrics`."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from benzer.service.access import Shared
from benzer.service.indexes.buckets import last_counted
from benzer.service.indexes.served import ServedIndex

router = APIRouter(tags=["health"])
PATIENCE_SECONDS = 2.0


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(shared: Shared) -> Response:
    """Return metrics in the Prometheus text format; an index that cannot be read now has `benzer_index_up` 0."""
    numbers, indexes = shared.metrics, dict(shared.catalog)
    known = await asyncio.gather(*map(information, indexes.values()))
    numbers.forget_indexes()
    for (name, served), info in zip(indexes.items(), known, strict=True):
        numbers.show_index(name, info)
        buckets = last_counted(served)
        if buckets is not None:
            numbers.show_buckets(name, buckets)
    numbers.show_jobs(job.state for job in shared.jobs)
    numbers.working.set(shared.life.working)
    return Response(numbers.text(), media_type=CONTENT_TYPE_LATEST)


async def information(served: ServedIndex) -> dict[str, Any] | None:
    """The statistics of an index; None if it does not respond in time."""
    try:
        return await asyncio.wait_for(served.read(lambda index: index.info()), PATIENCE_SECONDS)
    except Exception:  # an unreachable server raises errors of its client library
        return None
