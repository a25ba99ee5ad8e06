"""How does a route come by its index? It asks for an argument of the type `Served`."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request

from benzer.service.served import ServedIndex


async def served_by(request: Request) -> ServedIndex:
    """The index that the application was made for."""
    return cast(ServedIndex, request.app.state.served)


Served = Annotated[ServedIndex, Depends(served_by)]
