"""Which pages are there? Each is a module with a `router`; here they become one, which OpenAPI leaves out."""

from __future__ import annotations

from fastapi import APIRouter

from benzer.service.pages import assets, indexes, login, reference, search

PAGES = [assets, search, indexes, login, reference]

router = APIRouter(include_in_schema=False)
for page in PAGES:
    router.include_router(page.router)
