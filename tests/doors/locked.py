"""A service that asks for keys, as tests ask it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
from fastapi import FastAPI

from benzer.document import Document
from benzer.index import Index
from benzer.service.keys import add_key
from tests.doors.service import serving
from tests.doors.shell import FOX, OTHER

DOCS = "/v1/indexes/docs"
FRIEND = "https://friend.example"
HTML = {"Accept": "text/html,application/xhtml+xml"}


class Locked(NamedTuple):
    """A service that asks for keys, its file of keys, and two of them."""

    client: httpx.Client
    file: Path
    reader: str
    writer: str


@contextmanager
def locked(folder: Path, forked: bool = True) -> Iterator[Locked]:
    """A service of one index, with keys, on an address that any machine reaches."""
    file = folder / "service.keys"
    reader, writer = add_key(file, "reader")[1], add_key(file, "writer", "write")[1]
    arguments = (two_documents(folder), "--keys", file, "--host", "0.0.0.0")
    with serving(*arguments, forked=forked) as (client, _):
        yield Locked(client, file, reader, writer)


def two_documents(folder: Path) -> Path:
    """An index that tests leave as it is."""
    with Index.open(folder / "docs.benzer") as index:
        index.add([Document("fox", {"text": FOX}), Document("other", {"text": OTHER})])
    return folder / "docs.benzer"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def ask(app: FastAPI, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    """What an application answers in this process."""

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(get())
