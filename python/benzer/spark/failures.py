"""Errors of tasks: an error of Benzer in a task is raised again without Spark's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from benzer import errors

RAISED = re.compile(r"^(?:\S+: )?benzer\.errors\.(\w+): (.*)$", re.MULTILINE)
TELL_OF_TASKS = ("pyspark", "py4j")


@contextmanager
def raised_plainly() -> Iterator[None]:
    """Raise the error of a task if it is one of `benzer.errors`; other exceptions are not changed.

    Used as a decorator of functions that wait for tasks.
    """
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in TELL_OF_TASKS:
            raise
        match = RAISED.search(str(error))
        kind = getattr(errors, match[1], None) if match else None
        if match is None or not (isinstance(kind, type) and issubclass(kind, errors.BenzerError)):
            raise
        raise kind(match[2]) from error
