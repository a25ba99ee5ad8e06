"""Every home for an index, each with a new storage in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benzer.storage import Storage
from tests.contracts.storages import HOMES, Home


@pytest.fixture(params=HOMES, ids=lambda home: home.name)
def home(request: pytest.FixtureRequest) -> Home:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def storage(home: Home, tmp_path: Path) -> Iterator[Storage]:
    opened = home.open(tmp_path)
    yield opened
    opened.close()
