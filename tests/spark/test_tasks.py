"""Where a task begins, what was imported is set aside; and each worker begins that way."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import benzer.spark
from benzer.spark import tasks
from benzer.spark.tasks import ArrowTask


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_a_task_hands_its_batches_to_the_worker() -> None:
    batch = pa.record_batch({"a": [1, 2]})
    assert list(ArrowTask(lambda batches: (one.slice(1) for one in batches))(iter([batch]))) == [
        batch.slice(1)
    ]


def test_objects_are_set_aside_once_for_each_time_that_modules_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.Imported, "count", 0)
    gc.unfreeze()
    tasks.set_aside()
    first = gc.get_freeze_count()
    assert first > 10_000  # all that the tests have imported
    held = [[at] for at in range(5000)]
    tasks.set_aside()
    assert gc.get_freeze_count() <= first
    monkeypatch.setitem(tasks.sys.modules, "benzer.no_such_module", tasks)
    tasks.set_aside()
    assert gc.get_freeze_count() >= first + len(held) // 2


def test_every_worker_is_a_task() -> None:
    """None is handed to Spark as it is: it would cost a search among all objects after each of its tasks."""
    folder = Path(benzer.spark.__file__).parent
    calls = [
        (path.name, call.lineno, call.args[0])
        for path in folder.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "mapInArrow"
    ]
    assert len(calls) > 20
    assert [(name, line) for name, line, worker in calls if not is_task(worker)] == []


def is_task(worker: Any) -> bool:
    return (
        isinstance(worker, ast.Call) and isinstance(worker.func, ast.Name) and worker.func.id == "ArrowTask"
    )
