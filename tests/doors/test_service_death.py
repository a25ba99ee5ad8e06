"""What the service acknowledged survives its death."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from benzer.index import Index, IndexSettings
from tests.doors.operating import DOCS, NDJSON
from tests.doors.service import serving
from tests.doors.shell import FOX
from tests.redis_server import shared_server


class Writer(threading.Thread):
    """Writes until the service is gone, and keeps what was acknowledged."""

    def __init__(self, url: str, name: str, write: Callable[[httpx.Client, str, int], list[str]]) -> None:
        super().__init__()
        self.url, self.prefix, self.write = url, name, write
        self.acknowledged: list[str] = []

    def run(self) -> None:
        number = 0
        with httpx.Client(base_url=self.url, timeout=120, trust_env=False) as client:
            try:
                while True:
                    self.acknowledged += self.write(client, f"{self.prefix}-{number}", number)
                    number += 1
            except httpx.HTTPError:
                return


def text_of(id: str) -> str:
    return f"{FOX} {id}"


def put(client: httpx.Client, id: str, number: int) -> list[str]:
    response = client.put(f"{DOCS}/documents/{id}", json={"fields": {"text": text_of(id)}})
    assert response.status_code == 201, response.text
    return [id]


def post(client: httpx.Client, id: str, number: int) -> list[str]:
    ids = [f"{id}-{at}" for at in range(20)]
    batch = [{"id": one, "fields": {"text": text_of(one)}} for one in ids]
    response = client.post(f"{DOCS}/documents", json={"documents": batch})
    assert response.status_code == 200, response.text
    return ids


def upload(client: httpx.Client, id: str, number: int) -> list[str]:
    ids = [f"{id}-{at}" for at in range(1300)]  # more than a block
    body = "".join(json.dumps({"id": one, "fields": {"text": text_of(one)}}) + "\n" for one in ids)
    response = client.post(f"{DOCS}/documents", content=body.encode(), headers=NDJSON)
    assert response.status_code == 200, response.text
    return ids


def killed_in_the_midst(location: str | Path, seed: int) -> list[str]:
    """What a service had acknowledged that was killed in the midst of many writes of all kinds."""
    with serving(location, "--log-format", "off", end=signal.SIGKILL) as (client, process):
        url = str(client.base_url)
        writers = [
            Writer(url, f"{seed}-{kind.__name__}-{number}", kind)
            for kind in (put, post, upload)
            for number in (1, 2)
        ]
        for writer in writers:
            writer.start()
        deadline = time.monotonic() + 120
        kinds: set[str] = set()
        while len(kinds) < 3 and time.monotonic() < deadline:
            time.sleep(0.05 + 0.03 * seed)
            kinds = {writer.write.__name__ for writer in writers if writer.acknowledged}
        process.kill()
        for writer in writers:
            writer.join()
    assert kinds == {"put", "post", "upload"}
    return [id for writer in writers for id in writer.acknowledged]


def test_what_is_acknowledged_survives_the_death_of_the_service(tmp_path: Path) -> None:
    path = tmp_path / "docs.benzer"
    Index.open(path, IndexSettings(threshold=0.5)).close()
    acknowledged: list[str] = []
    for seed in range(3):
        acknowledged += killed_in_the_midst(path, seed)
        with Index.open(path, timeout=120) as index:
            index.check()
            assert [id for id in acknowledged if id not in index] == []
            document = index.get(acknowledged[-1])
            assert document is not None
            assert document.fields == {"text": text_of(acknowledged[-1])}


def test_what_is_acknowledged_in_redis_survives_the_death_of_the_service() -> None:
    location = f"{shared_server().url}?prefix=docs"
    Index.open(location, IndexSettings(threshold=0.5)).close()
    acknowledged = killed_in_the_midst(location, 0)
    with Index.open(location, timeout=120) as index:
        index.check()
        assert [id for id in acknowledged if id not in index] == []
