"""Similarity of tunes, with a custom field type: a melody is the set of its runs of intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benzer.fields import ValueSet

VALUES = ValueSet()  # converts strings to hashes


@dataclass(frozen=True)
class Melody:
    """A sequence of notes (MIDI numbers), as the set of all runs of `run` intervals; transposing changes nothing."""

    run: int = 3
    weight: float = 1.0

    kind = "values"  # sources read it as a list
    reader = None  # the native core does not read it

    def runs(self, notes: Sequence[int] | None) -> list[str]:
        """The runs of intervals as strings, in order: the elements of a content."""
        steps = [after - before for before, after in pairwise(notes or ())]
        return [" ".join(map(str, steps[i : i + self.run])) for i in range(len(steps) - self.run + 1)]

    def sets(self, contents: Sequence[Any], threads: int = 1) -> Any:
        return VALUES.sets([self.runs(content) for content in contents])

    def encode(self, content: Any) -> bytes:
        return json.dumps(list(content)).encode()

    def decode(self, data: bytes) -> Any:
        return json.loads(data)

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Any:
        return self.sets([None if data is None else self.decode(data) for data in contents])

    def shared(self, a: Any, b: Any) -> list[str]:
        runs_b = set(self.runs(b))
        return [run for run in dict.fromkeys(self.runs(a)) if run in runs_b]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "melody", "run": self.run, "weight": self.weight}
