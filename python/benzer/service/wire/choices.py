"""Rules between the parts of a body, as a JSON schema says them: null is as good as left out."""

from __future__ import annotations

from typing import Any

Rule = dict[str, Any]


def exactly_one(*names: str) -> Rule:
    """One of these parts is given.

    >>> exactly_one("id", "text")["oneOf"][0]
    {'required': ['id'], 'properties': {'id': {'not': {'type': 'null'}}}}
    """
    return {
        "oneOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]
    }


def never_both(one: str, other: str) -> Rule:
    """Of these parts at most one is given."""
    return {"anyOf": [{"properties": {name: {"type": "null"}}} for name in (one, other)]}


def both_or_neither(one: str, other: str) -> Rule:
    """These parts are given together."""
    given = {name: {"not": {"type": "null"}} for name in (one, other)}
    return {
        "anyOf": [
            {"properties": {name: {"type": "null"} for name in (one, other)}},
            {"required": [one, other], "properties": given},
        ]
    }
