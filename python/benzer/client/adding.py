"""How are many documents added? Part by part: each is durable when it is answered, and can be sent again unharmed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from benzer.client.given import SOURCE, Row, Rows
from benzer.client.steps import Request, Steps
from benzer.errors import BenzerError, InputError
from benzer.sources import MalformedRow

NDJSON = "application/x-ndjson"
Progress = Callable[[int], object]
"""Is told how many documents the service has so far."""


class Added(int):
    """How many documents were read; a number, which also says what came of them.

    new: those whose ids were not held. documents: how many the index holds now.
    malformed: the rows that were set aside, which `on_error="skip"` allows; rows count from 1.

    >>> added = Added(3, new=2, documents=10)
    >>> added, added.new
    (3, 2)
    """

    new: int
    documents: int | None
    malformed: Sequence[MalformedRow]

    def __new__(
        cls, read: int, new: int = 0, documents: int | None = None, malformed: Sequence[MalformedRow] = ()
    ) -> Added:  # noqa: PYI034 (Self needs Python 3.11)
        added = super().__new__(cls, read)
        added.new, added.documents, added.malformed = new, documents, malformed
        return added


def add(path: str, rows: Rows, batch_size: int, progress: Progress | None, skips: bool) -> Steps[Added]:
    """Send all rows to the documents of an index."""
    read = new = sent = 0
    held: int | None = None
    while part := (yield from rows.part(batch_size)):
        try:
            answer = yield from _sent(path, part, skips)
        except BenzerError as error:
            raise _told(error, part, sent) from error
        read, new, held = read + answer["read"], new + answer["new"], answer["documents"]
        rows.malformed.extend(
            MalformedRow(SOURCE, part[one["row"] - 1].number, one["message"])
            for one in answer.get("malformed", [])
        )
        sent = part[-1].number
        if progress is not None:
            progress(read)
    return Added(read, new, held, sorted(rows.malformed, key=lambda one: one.row))


def _sent(path: str, part: Sequence[Row], skips: bool) -> Steps[Any]:
    body = b"".join(row.line for row in part)
    parameters = {"on_error": "skip" if skips else "stop"}
    answer = yield Request("POST", path, parameters, body, NDJSON)
    return answer.json()


def _told(error: BenzerError, part: Sequence[Row], sent: int) -> BenzerError:
    """The error of a part, with rows that count in the whole input, not in the part."""
    message = re.sub(
        r"\b(row|line) (\d+)", lambda found: f"{found[1]} {part[int(found[2]) - 1].number}", str(error), count=1
    ) if isinstance(error, InputError) else str(error)
    return error
