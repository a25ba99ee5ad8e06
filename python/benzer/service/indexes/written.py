"""What came of a block of an upload? Figures, and the rows that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Written:
    """How many documents were written, how many of their ids are new, and the malformed rows with their messages.

    too_long: the row that is longer than a body may be, where one was met.

    >>> Written.of_json(Written(2, 1, [(7, "no id")]).as_json())
    Written(added=2, new=1, malformed=[(7, 'no id')], too_long=None)
    """

    added: int = 0
    new: int = 0
    malformed: list[tuple[int, str]] = field(default_factory=list)
    too_long: int | None = None

    def as_json(self) -> dict[str, Any]:
        """For another process."""
        return asdict(self)

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Written:
        """As another process told it."""
        malformed = [(row, message) for row, message in told["malformed"]]
        return cls(told["added"], told["new"], malformed, told["too_long"])
