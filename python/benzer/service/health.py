"""Is the service well? `GET /health` answers 200 when the index can be read."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from benzer._native import __version__
from benzer.service.access import Served
from benzer.service.errors import Answer

router = APIRouter(prefix="/health", tags=["health"])


class Health(BaseModel):
    """The service is well, and of this version."""

    status: Literal["ok"]
    version: str


@router.get("", response_model=Health)
async def show(served: Served) -> Answer:
    """Read from the index, and say that it went well."""
    await served.read(len)
    return Answer({"status": "ok", "version": __version__})
