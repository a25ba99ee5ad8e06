"""Errors of tasks: an error of Benzer in a task is raised again without Spark's trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from benzer import errors

RAISED = re.compile(r"^(?:\S+: )?benzer\.errors\.(\w+): (.*)$", re.MULTILINE)
TELL_OF_TASKS = ("pyspark", "py4j")


@contextmanager
def told_plainly() -> Iterator[None]:
    """Raise the error of a task if it is one of `benzer.errors`; other exceptions are not changed.

    Used as a decorator of functions that wait for tasks.
    """
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in TELL_OF_TASKS:
            raise
        found = RAISED.search(str(error))
        kind = getattr(errors, found[1], None) if found else None
        if found is None or not (isinstance(kind, type) and issubclass(kind, errors.BenzerError)):
            raise
        raise kind(found[2]) from error
