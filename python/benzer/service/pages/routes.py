"""All pages as one router, which is not part of the OpenAPI description."""

from __future__ import annotations

from fastapi import APIRouter

from benzer.service.pages import assets, duplicates, indexes, login, reference, search, tune

PAGES = [assets, search, duplicates, tune, indexes, login, reference]

router = APIRouter(include_in_schema=False)
for page in PAGES:
    router.include_router(page.router)
