"""What is known of one request beside its message? A few words that guards and errors leave for its log line."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, cast

PLACE = "benzer.trace"


@dataclass(slots=True)
class Trace:
    """Of one request: its id, and the type of the error that it was answered with."""

    id: str = ""
    error: str | None = None


def trace_of(scope: MutableMapping[str, Any]) -> Trace:
    """The trace of a request, which it gets when it is first asked for."""
    return cast(Trace, scope.setdefault(PLACE, Trace()))
