"""What is served? `GET /index`: counts, settings and their fingerprint."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from benzer.service.access import Served
from benzer.service.errors import Answer

router = APIRouter(prefix="/index", tags=["index"])


class Information(BaseModel):
    """Facts and figures of an index; where it lies is the server's own business."""

    home: str
    documents: int
    settings: dict[str, Any]
    fingerprint: str


@router.get("", response_model=Information)
async def show(served: Served) -> Answer:
    """Describe the index: how many documents it holds, and by which settings they are compared."""
    known = await served.read(lambda index: index.info())
    return Answer({name: known[name] for name in Information.model_fields})
