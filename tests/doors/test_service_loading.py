"""Uploads are written by a process of their own, large bodies are read apart, the end of an index is told."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benzer.errors import StorageError
from benzer.index import Index
from benzer.service import Limits, ServiceOptions, create_app
from benzer.service.indexes.catalog import Catalog
from benzer.service.indexes.loading import Loader, LoaderError, send
from benzer.service.indexes.served import READING_THREADS
from benzer.service.wire import bodies
from tests.doors.operating import DOCS, NDJSON, QUESTION, lines, make, within
from tests.doors.service import refused
from tests.doors.shell import FOX

# Uploads


async def parts(body: bytes) -> AsyncIterator[bytes]:
    """A body as it comes over a network."""
    for start in range(0, len(body), 20_000):
        yield body[start : start + 20_000]


def test_a_long_upload_is_written_by_a_process_of_its_own(tmp_path: Path) -> None:
    path = make(tmp_path / "docs.benzer")

    async def ask(client: httpx.AsyncClient) -> None:
        served = client.app.state.shared.catalog["docs"]  # type: ignore[attr-defined]
        bad = b'{"id": "bad", "fields": {"text": 7}}\n'
        body = lines(1500) + bad + lines(3000)
        sent = await client.post(f"{DOCS}/documents?on_error=skip", content=parts(body), headers=NDJSON)
        assert sent.json()["new"] == 3000
        assert [one["row"] for one in sent.json()["malformed"]] == [1501]
        assert served._loader._process.poll() is None
        found = await client.post(f"{DOCS}/similar", json={"fields": {"text": "a text 2999"}})
        assert found.json()["matches"][0]["id"] == "line 2999"
        served._loader._process.kill()
        again = await client.post(f"{DOCS}/documents", content=parts(lines(3000, "another")), headers=NDJSON)
        assert re.search(r"; 1,\d\d\d documents of this upload are durable", refused(again, 503))
        assert (again.json()["error"]["type"], again.headers["retry-after"]) == ("LoaderError", "1")
        once_more = await client.post(
            f"{DOCS}/documents", content=parts(lines(3000, "another")), headers=NDJSON
        )
        assert (once_more.json()["read"], once_more.json()["new"]) == (3000, 0)

    within(path, ask)
    with Index.open(path) as index:
        index.check()
        assert len(index) == 3003


def test_a_locked_index_is_told_through_the_process_that_loads(tmp_path: Path) -> None:
    path = make(tmp_path / "docs.benzer")
    with Index.open(path) as other:

        async def ask(client: httpx.AsyncClient) -> None:
            served = client.app.state.shared.catalog["docs"]  # type: ignore[attr-defined]
            other.add([("theirs", {"text": FOX})])
            block = await asyncio.to_thread(served._loader.read, lines(3), 1, False, Limits())
            with pytest.raises(StorageError, match="is being written by another process"):
                await asyncio.to_thread(served._loader.write, block)
            other.commit()
            block = await asyncio.to_thread(served._loader.read, lines(3), 1, False, Limits())
            assert (await asyncio.to_thread(served._loader.write, block)).new == 3

        within(path, ask)


def test_the_process_that_loads_writes_the_block_that_was_asked_for_or_none(tmp_path: Path) -> None:
    path = make(tmp_path / "docs.benzer")
    loader = Loader(path, timeout=1.0)
    try:
        first = loader.read(lines(3), 1, False, Limits())
        loader.close()
        with pytest.raises(LoaderError, match="send the rest again"):
            loader.write(first)
        second = loader.read(lines(3, "second"), 1, False, Limits())
        third = loader.read(lines(2, "third"), 1, False, Limits())
        with pytest.raises(LoaderError, match="send the rest again"):
            loader.write(second)
        with pytest.raises(LoaderError, match="send the rest again"):
            loader.write(third)
    finally:
        loader.close()
    with Index.open(path) as index:
        assert len(index) == 3


def test_the_process_that_loads_ends_quietly_when_nobody_takes_its_answer(tmp_path: Path) -> None:
    path = make(tmp_path / "docs.benzer")
    loader = Loader(path, timeout=1.0)
    process = loader._process = subprocess.Popen(
        [sys.executable, "-m", "benzer.service.uploads.loader"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    send(process, {"location": str(path), "timeout": 1.0})
    block = loader.read(lines(3), 1, False, Limits())
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # as if the service had died
    send(process, {"do": "write"})
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0
    with pytest.raises(LoaderError):
        loader.write(block)
    with Index.open(path) as index:
        assert len(index) == 6


def test_uploads_side_by_side_share_a_process_that_does_not_end_under_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benzer.service.indexes.served.IDLE_SECONDS", 0.01)
    path = make(tmp_path / "docs.benzer")

    async def ask(client: httpx.AsyncClient) -> None:
        sent = await asyncio.gather(*(
            client.post(f"{DOCS}/documents", content=parts(lines(4000, name)), headers=NDJSON)
            for name in ("one", "two", "three")
        ))  # fmt: skip
        assert [(one.status_code, one.json()["read"]) for one in sent] == [(200, 4000)] * 3
        served = client.app.state.shared.catalog["docs"]  # type: ignore[attr-defined]
        while served._loader._process is not None:
            await asyncio.sleep(0.01)

    within(path, ask)
    with Index.open(path) as index:
        assert len(index) == 4003  # the same ids


def test_questions_that_wait_when_their_index_is_deleted_are_told_so(tmp_path: Path) -> None:
    async def ask() -> None:
        with Catalog(tmp_path) as catalog:
            app = create_app(catalog, ServiceOptions())
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                await client.post("/v1/indexes", json={"name": "docs"})
                served, go = catalog["docs"], threading.Event()
                held = [
                    asyncio.ensure_future(served.read(lambda _: go.wait())) for _ in range(READING_THREADS)
                ]
                asked = [
                    asyncio.ensure_future(client.post(f"{DOCS}/similar", json={"text": FOX}))
                    for _ in range(3)
                ]
                await asyncio.sleep(0.2)
                deleted = asyncio.ensure_future(client.delete(DOCS))
                while not served._closed:
                    await asyncio.sleep(0.01)
                go.set()
                for answer in await asyncio.gather(*asked):
                    assert "was deleted while the request was queued" in refused(answer, 404)
                assert (await deleted).status_code == 204
                await asyncio.gather(*held, return_exceptions=True)

    asyncio.run(ask())


# Large bodies


def test_a_large_body_is_read_off_the_event_loop_and_refused_for_its_number_before_it_is_validated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "docs.benzer")
    threads, read = [], bodies.read_model

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return read(*given)

    monkeypatch.setattr(bodies, "read_model", noted)

    async def ask(client: httpx.AsyncClient) -> None:
        for rest, what in (
            ("documents", "documents"), ("similar/batch", "questions"), ("remove", "ids"), ("touch", "ids"),
        ):  # fmt: skip
            wrong = await client.post(f"{DOCS}/{rest}", json={what: [None] * 20_000})
            assert refused(wrong, 413).startswith(f"a body can have at most 10,000 {what}, got 20,000")
        assert threading.main_thread() not in threads
        assert (await client.post(f"{DOCS}/similar", json=QUESTION)).status_code == 200
        assert threads[-1] is threading.main_thread()

    within(path, ask)
    assert len(threads) == 5
