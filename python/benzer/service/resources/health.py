"""Health checks: `GET /health` for the process, `GET /ready` for the indexes."""

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
from benzer.wording import count

router = APIRouter(tags=["health"])
PATIENCE_SECONDS = 2.0


class Health(BaseModel):
    """The status and the version of the service."""

    status: Literal["ok"]
    version: str = Field(examples=["0.1.0"])


@router.get("/health", response_model=Health)
async def health() -> Answer:
    """Confirm that the process is running."""
    return Answer({"status": "ok", "version": __version__})


@router.get("/ready", response_model=Health)
async def ready(shared: Shared) -> Answer:
    """Check that every index can be read.

    Returns 503 while the service is shutting down, while it is at its limit of concurrent requests, and while an index
    cannot be read within 2 s.
    """
    if shared.life.closing:
        raise unready("the service is shutting down")
    if shared.life.working >= shared.limits.max_concurrent:
        raise unready(f"the service is at its limit of {count(shared.life.working)} concurrent requests")
    indexes = dict(shared.catalog)
    answers = await asyncio.gather(*map(is_read, indexes.values()))
    away = [name for name, answered in zip(indexes, answers, strict=True) if not answered]
    if away:
        raise unready(f"these indexes cannot be read now: {', '.join(away)}")
    return Answer({"status": "ok", "version": __version__})


async def is_read(served: ServedIndex) -> bool:
    """Whether an index can be read in time."""
    try:
        await asyncio.wait_for(served.read(len), PATIENCE_SECONDS)
    except (BenzerError, asyncio.TimeoutError):
        return False
    return True


def unready(why: str) -> Refusal:
    return Refusal(503, f"{why}: retry later", type="NotReadyError", retry_after=1)
