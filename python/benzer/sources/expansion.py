"""Limits the size of decompressed input, so that a small file cannot fill the memory."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, BinaryIO

from benzer.errors import InputError
from benzer.wording import amount

LEAST_IN_ALL, LEAST_AT_ONCE = 256_000_000, 64_000_000
MOST_TIMES, MOST_TIMES_AT_ONCE = 200, 20
AT_A_TIME = 1 << 17
"""Bytes that are looked at together: a line is measured to this precision."""
CURE = "decompress it first and use the decompressed file"


@dataclass(frozen=True)
class ExpansionLimits:
    """How many bytes a compressed file may expand to, and a line or document of it, which is in memory as a whole.

    >>> ExpansionLimits.of(2_000_000), ExpansionLimits.of(10_000_000_000).at_once
    (ExpansionLimits(in_all=400000000, at_once=64000000), 200000000000)
    """

    in_all: int
    at_once: int

    @classmethod
    def of(cls, size: int) -> ExpansionLimits:
        """The limits of a file of so many compressed bytes."""
        return cls(max(LEAST_IN_ALL, MOST_TIMES * size), max(LEAST_AT_ONCE, MOST_TIMES_AT_ONCE * size))

    def excess(self, name: str) -> InputError:
        """The error for a file that expands to more than is allowed."""
        return InputError(
            f"{name} expands to more than {amount(self.in_all)}, over {MOST_TIMES} times its size: {CURE}"
        )

    def excess_at_once(self, name: str, noun: str) -> InputError:
        """The error for a line or document that is too long.

        >>> print(ExpansionLimits.of(9).excess_at_once("a.jsonl.gz", "line"))
        a.jsonl.gz has a line of more than 64.0 MB: decompress it first and use the decompressed file
        """
        return InputError(f"{name} has a {noun} of more than {amount(self.at_once)}: {CURE}")


class Bounded(io.RawIOBase):
    """Decompressed content up to its limits; an `InputError` beyond them."""

    def __init__(self, content: BinaryIO, name: str, limits: ExpansionLimits) -> None:
        self._content, self._name, self._limits = content, name, limits
        self._read = self._line = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._content.read(min(len(buffer), AT_A_TIME))
        buffer[: len(data)] = data
        end = data.rfind(b"\n")
        self._read += len(data)
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        if self._read > self._limits.in_all:
            raise self._limits.excess(self._name)
        if self._line > self._limits.at_once:
            raise self._limits.excess_at_once(self._name, "line")
        return len(data)
