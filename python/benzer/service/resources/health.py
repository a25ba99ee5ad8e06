"""Is the service well? `GET /health` answers while the process lives, `GET /ready` when its indexes can be read."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from benzer._native import __version__
from benzer.service.access import Shared
from benzer.service.errors import Answer

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The service is well, and of this version."""

    status: Literal["ok"]
    version: str


@router.get("/health", response_model=Health)
async def health() -> Answer:
    """Say that the process lives."""
    return Answer({"status": "ok", "version": __version__})


@router.get("/ready", response_model=Health)
async def ready(shared: Shared) -> Answer:
    """Read from every index, and say that it went well."""
    for served in shared.catalog.values():
        await served.read(len)
    return Answer({"status": "ok", "version": __version__})
