"""What is known of one request beside its message? A few words that guards and errors leave for its log line."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, cast

PLACE = "benzer.trace"


@dataclass(slots=True)
class Trace:
    """Of one request: its id, the name of the key that it came with, and the type of the error it was answered with."""

    id: str = ""
    key: str | None = None
    error: str | None = None


def trace_of(scope: MutableMapping[str, Any]) -> Trace:
    """The trace of a request, which it gets when it is first asked for."""
    return cast(Trace, scope.setdefault(PLACE, Trace()))
