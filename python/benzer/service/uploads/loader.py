"""`python -m benzer.service.uploads.loader`: the process that writes uploads, controlled by commands on stdin.

A command is a line of JSON followed by the number of bytes it states. The reply is a line of JSON. If the service dies,
stdin ends: the running command is completed and the process exits.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from benzer.errors import BenzerError
from benzer.index import Index
from benzer.service.indexes.served import committed
from benzer.service.pictures.thumbnails import Thumbnails, thumbnails_beside
from benzer.service.settings import Limits
from benzer.service.uploads.upload import Batch, read_block, write_batch

NICENESS = 10
"""The nice value relative to the process that serves requests."""


def main() -> None:
    """Run commands until stdin ends."""
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # they are sent to all processes of a terminal or a service
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not be read as a reply
    orders = received(sys.stdin.buffer)
    start, _ = next(orders)
    hand = Hand(start["location"], start["timeout"])
    for order, block in orders:
        try:
            answer = hand.do(order, block)
        except BenzerError as error:
            answer = {"error": {"type": type(error).__name__, "message": str(error)}}
        except BaseException:
            answer = {"error": {"type": "", "message": traceback.format_exc()}}
        try:
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
        except BrokenPipeError:  # the service died meanwhile; written data is durable
            break
    hand.close()
    with suppress(BrokenPipeError):
        answers.close()


def received(orders: BinaryIO) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The commands with their bytes; an incomplete one is ignored."""
    while (line := orders.readline()).endswith(b"\n"):
        order = json.loads(line)
        block = orders.read(order["bytes"])
        if len(block) < order["bytes"]:
            return
        yield order, block


class Hand:
    """Runs commands on an index, which is opened by the first one, and keeps the last parsed batch."""

    def __init__(self, location: str, timeout: float) -> None:
        self.location, self.timeout = location, timeout
        self.index: Index | None = None
        self.thumbnails: Thumbnails = thumbnails_beside(location)
        self.batch, self.skip = Batch(), False

    def opened(self) -> Index:
        """The index, which is not created again if it was deleted."""
        if self.index is None:
            Index.open(self.location, mode="read").close()
            self.index = Index.open(self.location, timeout=self.timeout)
        return self.index

    def do(self, order: dict[str, Any], block: bytes) -> dict[str, Any]:
        """Run one command and return the reply."""
        index = self.opened()
        if order["do"] == "read":
            self.skip, limits = order["skip"], Limits(**order["limits"])
            self.batch = read_block(block, order["first"], index.settings.schema, limits, self.skip)
            return {}
        batch, self.batch = self.batch, Batch()
        return committed(lambda index: write_batch(index, self.thumbnails, batch, self.skip))(index).as_json()

    def close(self) -> None:
        """Close the index."""
        self.thumbnails.close()
        if self.index is not None:
            self.index.close()


if __name__ == "__main__":
    main()
