"""Queries to a remote index: documents are read with the schema of the index locally and sent as fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from benzer.client.connection import ClientConnection
from benzer.client.requests import given
from benzer.client.wire import fields_as_json
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.index.documents import as_query, check_limit
from benzer.wording import count

MOST = 1000
"""Maximum number of matches in a response."""
Result = TypeVar("Result")


class QueryFields(NamedTuple):
    """A query: fields as JSON, and the id of a `Document`, which is excluded from the result."""

    fields: Mapping[str, Any]
    itself: str | int | None

    @classmethod
    def of(cls, document: Any, schema: Schema) -> QueryFields:
        """Create the query for a document."""
        query = as_query(document, schema)
        fields = fields_as_json(query.document.fields, schema)
        return cls(fields, query.document.id if query.identified else None)

    def wanted(self, limit: int | None) -> int:
        """The number of matches to request.

        >>> QueryFields({}, "a").wanted(10), QueryFields({}, None).wanted(None)
        (10, 1000)
        """
        check_limit(limit)
        wanted = MOST if limit is None else limit
        if wanted > MOST:
            raise SettingsError(
                f"limit must be at most {count(MOST)} for a service, got {count(wanted)}: use a lower limit"
            )
        return wanted

    def question(self) -> dict[str, Any]:
        """The query as JSON."""
        return {"fields": self.fields, **given({"itself": self.itself})}

    def kept(self, results: list[Result], limit: int | None) -> list[Result]:
        """At most `limit` matches; raises an error if all matches were requested and some are missing."""
        if limit is None and len(results) >= MOST:
            raise InputError(
                f"there may be more than {count(MOST)} matches, the maximum of a service: set limit"
            )
        return results[:limit]


async def answered(
    connection: ClientConnection, path: str, query: QueryFields, limit: int | None, key: str,
    read: Callable[[Any], Result], **options: Any,
) -> tuple[Any, list[Result]]:  # fmt: skip
    """Run one query; returns the complete response and its matches."""
    body = {**query.question(), "limit": query.wanted(limit), **given(options)}
    answer = (await connection.ask("POST", path, body)).json()
    return answer, query.kept([read(item) for item in answer[key]], limit)
