"""How is an index asked from afar? What is given is read by the index's schema here, and asked for as fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from benzer.client.steps import Steps, ask, given
from benzer.client.wire import fields_as_json
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.index.answers import check_limit
from benzer.index.given import as_query

MOST = 1000
"""How many matches a service gives at most."""
Found = TypeVar("Found")


class Asked(NamedTuple):
    """What is asked for: fields as JSON, and the id of a `Document`, which is not offered as like itself."""

    fields: Mapping[str, Any]
    itself: str | int | None

    @classmethod
    def of(cls, document: Any, schema: Schema) -> Asked:
        """What an index would be asked for."""
        query = as_query(document, schema)
        fields = fields_as_json(query.document.fields, schema)
        return cls(fields, query.document.id if query.identified else None)

    def wanted(self, limit: int | None) -> int:
        """How many matches to ask the service for.

        >>> Asked({}, "a").wanted(10), Asked({}, None).wanted(None)
        (10, 1000)
        """
        check_limit(limit)
        wanted = MOST if limit is None else limit
        if wanted > MOST:
            raise SettingsError(
                f"a service gives {MOST:,} matches at most, got limit {limit:,}: ask for fewer"
            )
        return wanted

    def question(self) -> dict[str, Any]:
        """The question as JSON."""
        return {"fields": self.fields, **given({"itself": self.itself})}

    def kept(self, found: list[Found], limit: int | None) -> list[Found]:
        """The matches, `limit` at most; refuses to cut what was asked for whole."""
        if limit is None and len(found) >= MOST:
            raise InputError(
                f"there may be more than {MOST:,} matches, which a service does not give: set limit"
            )
        return found[:limit]


def answered(
    path: str, asked: Asked, limit: int | None, key: str, read: Callable[[Any], Found], **options: Any
) -> Steps[tuple[Any, list[Found]]]:
    """Ask one question; gives the whole answer, and its matches."""
    body = {**asked.question(), "limit": asked.wanted(limit), **given(options)}
    answer = (yield from ask("POST", path, body)).json()
    return answer, asked.kept([read(one) for one in answer[key]], limit)
