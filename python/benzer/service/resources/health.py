"""Is the service well? `GET /health` answers while the process lives, `GET /ready` when its indexes can be read."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from benzer._native import __version__
from benzer.errors import BenzerError
from benzer.service.access import Shared
from benzer.service.errors import Answer, Refusal
from benzer.service.indexes.served import ServedIndex

router = APIRouter(tags=["health"])
PATIENCE_SECONDS = 2.0


class Health(BaseModel):
    """The service is well, and of this version."""

    status: Literal["ok"]
    version: str = Field(examples=["0.1.0"])


@router.get("/health", response_model=Health)
async def health() -> Answer:
    """Say that the process lives."""
    return Answer({"status": "ok", "version": __version__})


@router.get("/ready", response_model=Health)
async def ready(shared: Shared) -> Answer:
    """Read from every index, and say that it went well.

    503 while the service is being stopped, while it works on as many requests as it takes at a time, and while an
    index cannot be read, or not within 2 s.
    """
    if shared.life.closing:
        raise unready("the service is being stopped")
    if shared.life.working >= shared.limits.max_concurrent:
        raise unready(f"the service works on {shared.life.working:,} requests, as many as it takes at a time")
    indexes = dict(shared.catalog)
    answers = await asyncio.gather(*map(is_read, indexes.values()))
    away = [name for name, answered in zip(indexes, answers, strict=True) if not answered]
    if away:
        raise unready(f"of these indexes nothing can be read now: {', '.join(away)}")
    return Answer({"status": "ok", "version": __version__})


async def is_read(served: ServedIndex) -> bool:
    """Whether an index can be read, in time."""
    try:
        await asyncio.wait_for(served.read(len), PATIENCE_SECONDS)
    except (BenzerError, asyncio.TimeoutError):
        return False
    return True


def unready(why: str) -> Refusal:
    return Refusal(503, f"{why}: ask again later", type="NotReadyError", retry_after=1)
