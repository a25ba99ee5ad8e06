"""What schemathesis is told of this service: how bodies are written whose content types it does not know."""

from __future__ import annotations

import json
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Leave out JSON lines of a wrong type: a number in their place is a line of text as well, and a bad document."""
    return case.media_type != "application/x-ndjson" or isinstance(case.body, str)
