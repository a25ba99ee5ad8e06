"""The login page: a form without scripts, handled by `POST /login`."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from benzer.service.access import Shared
from benzer.service.pages.rendering import access_of, page

router = APIRouter()


@router.get("/login")
async def login_page(request: Request, shared: Shared, next: str = "/", failed: str = "") -> HTMLResponse:
    """The form; or a note if no key is required or the browser is logged in."""
    needed = shared.keys is not None
    return page(
        request, "login.html", next=next, failed=bool(failed), needed=needed, known=access_of(request)["name"]
    )
