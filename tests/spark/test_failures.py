"""What a task raises is told in one sentence where it is an error of Benzer's own."""

from __future__ import annotations

import pytest

from benzer.errors import InputError
from benzer.spark.failures import raised_plainly

TRACE = """Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times:
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "workers.py", line 52, in read
    raise InputError(
benzer.errors.InputError: 3 documents can no longer be read: run again
\tat org.apache.spark.api.python.BasePythonRunner
"""


def raised_by(module: str, said: str) -> Exception:
    kind: type[Exception] = type("Raised", (Exception,), {"__module__": module})
    return kind(said)


@pytest.mark.parametrize("module", ["pyspark.errors.exceptions.captured", "py4j.protocol"])
def test_an_error_of_a_task_is_that_error_again(module: str) -> None:
    with (
        pytest.raises(InputError, match=r"^3 documents can no longer be read: run again$") as caught,
        raised_plainly(),
    ):
        raise raised_by(module, TRACE)
    assert str(caught.value.__cause__) == TRACE


@pytest.mark.parametrize(
    "module, said",
    [
        ("builtins", TRACE),
        ("pyspark.errors", "Job aborted"),
        ("pyspark.errors", "x\nbenzer.errors.os: no error"),
        ("pyspark.errors", "x\nbenzer.errors.annotations: nor this"),
    ],
)
def test_another_error_stays_as_it_was_raised(module: str, said: str) -> None:
    error = raised_by(module, said)
    with pytest.raises(type(error)) as caught, raised_plainly():
        raise error
    assert caught.value is error
