"""The keys of a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benzer.views.tables import TableView, headed_table
from benzer.wording import decimal, plain

NO_KEYS = "no keys"


def keys_table(keys: Sequence[Mapping[str, Any]]) -> TableView:
    """The keys with their scopes and rates.

    >>> one = {"id": "0a1b2c3d", "name": "ci", "scopes": ["read", "write"], "rate": 90.0, "created": "2026-01-31T12:00"}
    >>> keys_table([one]).rows
    (('ci', '0a1b2c3d', 'write', '90 per minute', '2026-01-31'),)
    """
    rows = [
        (
            plain(key["name"]),
            key["id"],
            key["scopes"][-1],
            "" if key["rate"] is None else f"{decimal(key['rate'])} per minute",
            key["created"][:10],
        )
        for key in keys
    ]
    return headed_table(["name", "id", "scope", "rate", "created"], rows)


def created(name: str) -> str:
    """The line before a new key.

    >>> created("ci")
    'the key ci, shown only once:'
    """
    return f"the key {plain(name)}, shown only once:"


def removed(key: Mapping[str, Any]) -> str:
    """The outcome of removing a key.

    >>> removed({"name": "ci", "id": "0a1b2c3d"})
    'removed ci (0a1b2c3d)'
    """
    return f"removed {plain(key['name'])} ({key['id']})"
