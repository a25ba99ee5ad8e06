"""Adds many documents in parts. Each part is durable when its response arrives, and can be sent again safely."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from benzer.client.connection import ClientConnection
from benzer.client.given import SOURCE, Row, Rows
from benzer.client.requests import Request
from benzer.errors import BenzerError, ServiceError
from benzer.sources import MalformedRow
from benzer.wording import count

NDJSON = "application/x-ndjson"
Progress = Callable[[int], object]
"""Called with the number of documents that the service has added so far."""


class Added(int):
    """The number of documents read, with details as attributes.

    Attributes:
        new: Number of documents with new ids.
        documents: Number of documents in the index now; None if nothing was sent.
        malformed: Rows skipped by `on_error="skip"`, numbered from 1 (at most 1,000 per part).
        malformed_count: Number of malformed rows.

    >>> added = Added(3, new=2, documents=10)
    >>> added, added.new
    (3, 2)
    """

    new: int
    documents: int | None
    malformed: Sequence[MalformedRow]
    malformed_count: int

    def __new__(  # noqa: PYI034 (Self needs Python 3.11)
        cls, read: int, new: int = 0, documents: int | None = None,
        malformed: Sequence[MalformedRow] = (), malformed_count: int = 0,
    ) -> Added:  # fmt: skip
        added = super().__new__(cls, read)
        added.new, added.documents = new, documents
        added.malformed, added.malformed_count = malformed, malformed_count
        return added


async def add(
    connection: ClientConnection, path: str, rows: Rows, batch_size: int, progress: Progress | None
) -> Added:
    """Send all rows to the documents of an index."""
    read = new = malformed = 0
    documents: int | None = None
    part: list[Row] = []
    try:
        while part := await rows.part(connection.draw, batch_size):
            answer = await _sent(connection, path, part, rows.skips)
            read, new, documents = read + answer["read"], new + answer["new"], answer["documents"]
            malformed += answer["malformed_count"]
            rows.malformed += [
                MalformedRow(SOURCE, part[item["row"] - 1].number, item["message"])
                for item in answer["malformed"]
            ]
            part = []
            if progress is not None:
                progress(read)
    except BenzerError as error:
        raise partial_error(error, part, read) from error.__cause__
    malformed += rows.refused
    return Added(read, new, documents, sorted(rows.malformed, key=lambda item: item.row), malformed)


async def _sent(connection: ClientConnection, path: str, part: Sequence[Row], skips: bool) -> Any:
    body = b"".join(row.line for row in part)
    parameters = {"on_error": "skip" if skips else "stop"}
    return (await connection.send(Request("POST", path, parameters, body, NDJSON))).json()


DURABLE = re.compile(r"; ([\d,]+) documents of this upload are durable$")
ROW = re.compile(r"^row (\d+): ")


def partial_error(error: BenzerError, part: Sequence[Row], read: int) -> BenzerError:
    """The error with row numbers and durable documents counted from the start of the input, not of the part.

    >>> lines = [Row(2001, b""), Row(2002, b"")]
    >>> partial_error(BenzerError("row 2: no text; 1 documents of this upload are durable"), lines, 2000)
    BenzerError('row 2002: no text; 2,001 documents are durable')
    """
    message = str(error)
    match = DURABLE.search(message)
    if match:  # a message of the service
        message = message[: match.start()]
        read += int(match[1].replace(",", ""))
        row = ROW.match(message)
        if row and int(row[1]) <= len(part):
            message = f"row {part[int(row[1]) - 1].number}: {message[row.end() :]}"
    error.args = (f"{message}; {count(read)} documents are durable",)
    if isinstance(error, ServiceError):
        error.message = error.args[0]
    return error
