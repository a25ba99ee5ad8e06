"""What the tests of the doors stand on: a working folder, an index in it, a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.doors.shell import DOCUMENTS, FOX, FOX_AGAIN, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser."""
    from tests.doors.browsing import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `docs.jsonl`, `broken.jsonl`, `a.txt` and `b.txt`."""
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(document) for document in DOCUMENTS]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "broken.jsonl").write_text(
        "\n".join([lines[0], '{"text": ', *lines[1:]]) + "\n", encoding="utf-8"
    )
    (tmp_path / "a.txt").write_text(FOX, encoding="utf-8")
    (tmp_path / "b.txt").write_text(FOX_AGAIN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def index(folder: Path) -> str:
    run("index", "docs.benzer", "docs.jsonl", "--threshold", "0.5")
    return "docs.benzer"
