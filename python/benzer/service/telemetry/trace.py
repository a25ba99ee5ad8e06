"""The trace of a request: values that guards and errors collect for its log line."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, cast

PLACE = "benzer.trace"


@dataclass(slots=True)
class Trace:
    """The id of a request, the name of its key, and the type of its error."""

    id: str = ""
    key: str | None = None
    error: str | None = None


def trace_of(scope: MutableMapping[str, Any]) -> Trace:
    """The trace of a request, created on first access."""
    return cast(Trace, scope.setdefault(PLACE, Trace()))
