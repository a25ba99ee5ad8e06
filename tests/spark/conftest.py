"""One session of Spark for all its tests, on two threads of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.spark.processes import JAVA

SETTINGS = {
    "spark__sql__shuffle__partitions": "2",
    "spark__default__parallelism": "2",
    "spark__sql__adaptive__enabled": "true",
    "spark__sql__session__timeZone": "Asia/Kathmandu",  # an answer that depends on it is a defect
    "spark__driver__extraJavaOptions": JAVA,
    "spark__connect__grpc__binding__address": "127.0.0.1",
    "spark__connect__grpc__binding__port": "0",  # any free port
}


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session that starts in some seconds, once."""
    from benzer.spark.session import local_session

    session = local_session("local[2]", memory="768m", **SETTINGS)
    yield session
    session.stop()
