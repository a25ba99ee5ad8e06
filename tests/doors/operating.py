"""What the tests of a service under load share: an index, small limits, and work that is held up on purpose."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.fields import Schema, Text
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.service import Limits, ServiceOptions, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.telemetry.logs import Log
from tests.doors.shell import FOX, FOX_AGAIN, OTHER

SETTINGS = IndexSettings(Schema(text=Text(), photo=Image()), threshold=0.5)
NDJSON = {"Content-Type": "application/x-ndjson"}
DOCS = "/v1/indexes/docs"
SMALL = (
    "--max-body", "1", "--max-upload", "2", "--max-batch", "5", "--max-text", "1000", "--max-compared", "1500",
    "--max-pixels", "10000",
    "--max-body-seconds", "0.5", "--log-format", "json",
)  # fmt: skip


def make(path: Path) -> Path:
    with Index.open(path, SETTINGS) as index:
        index.add([("fox", {"text": FOX}), ("fox/again", {"text": FOX_AGAIN}), (4711, {"text": OTHER})])
    return path


def lines(count: int, text: str = "a text") -> bytes:
    return b"".join(
        json.dumps({"id": f"line {n}", "fields": {"text": f"{text} {n}"}}).encode() + b"\n"
        for n in range(count)
    )


Ask = Callable[[httpx.AsyncClient], Awaitable[None]]


def within(path: Path, ask: Ask, limits: Limits | None = None, log: Log | None = None) -> None:
    """Ask an application in this process, where a test can hold its work up."""

    async def run() -> None:
        with Catalog() as catalog:
            catalog.open(path)
            app = create_app(catalog, ServiceOptions(limits or Limits()), log)
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=120
            ) as client:
                client.app = app  # type: ignore[attr-defined]
                await ask(client)

    asyncio.run(run())


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[tuple[threading.Event, threading.Event]]:
    """A method of indexes that waits: it says that it was called, and goes on when it may."""
    called, may_go = threading.Event(), threading.Event()
    plain = getattr(Index, name)

    def wait(*arguments: Any, **options: Any) -> Any:
        called.set()
        assert may_go.wait(120)
        return plain(*arguments, **options)

    monkeypatch.setattr(Index, name, wait)
    try:
        yield called, may_go
    finally:
        may_go.set()


async def until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 30)


QUESTION = {"fields": {"text": FOX}}
