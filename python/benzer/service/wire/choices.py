"""Rules between the parts of a body as JSON schema; null counts as missing."""

from __future__ import annotations

from typing import Any

Rule = dict[str, Any]


def exactly_one(*names: str) -> Rule:
    """Require one of these parts.

    >>> exactly_one("id", "text")["oneOf"][0]
    {'required': ['id'], 'properties': {'id': {'not': {'type': 'null'}}}}
    """
    return {
        "oneOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]
    }


def never_both(item: str, other: str) -> Rule:
    """Allow at most one of these parts."""
    return {"anyOf": [{"properties": {name: {"type": "null"}}} for name in (item, other)]}


def both_or_neither(item: str, other: str) -> Rule:
    """Require these parts together."""
    given = {name: {"not": {"type": "null"}} for name in (item, other)}
    return {
        "anyOf": [
            {"properties": {name: {"type": "null"} for name in (item, other)}},
            {"required": [item, other], "properties": given},
        ]
    }
