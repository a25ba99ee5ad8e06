"""The result of a block of an upload: counts and malformed rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Written:
    """The number of written documents, the number of new ids, and the malformed rows with their messages.

    too_long: the row that exceeds the body limit, if there is one.

    >>> Written.of_json(Written(2, 1, [(7, "no id")]).as_json())
    Written(added=2, new=1, malformed=[(7, 'no id')], too_long=None)
    """

    added: int = 0
    new: int = 0
    malformed: list[tuple[int, str]] = field(default_factory=list)
    too_long: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Serialize for another process."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Written:
        """Deserialize from another process."""
        malformed = [(row, message) for row, message in values["malformed"]]
        return cls(values["added"], values["new"], malformed, values["too_long"])
