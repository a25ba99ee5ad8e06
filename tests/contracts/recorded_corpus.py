"""What a corpus takes from sources, in plain Python: it keeps what it is given, value sets as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RecordedCorpus:
    """Keeps each document as (source, row, id, values, extra), and the size of each batch."""

    documents: list[tuple[int, int, Any, tuple[Any, ...], bytes | None]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.documents)

    def name_source(self, source: int, name: str) -> None:
        self.names[source] = name

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Sequence[str | int | None],
        fields: Sequence[Sequence[Any]],
        extras: Sequence[bytes | None] | None = None,
    ) -> None:
        self.batches.append(len(rows))
        extras = [None] * len(rows) if extras is None else extras
        for row, identity, values, extra in zip(rows, ids, zip(*fields, strict=True), extras, strict=True):
            made = f"{self.names[source]}:{row}" if identity is None else identity
            self.documents.append((source, row, made, values, extra))

    def ids(self) -> list[str | int]:
        return [document[2] for document in self.documents]

    def rows(self) -> list[int]:
        return [document[1] for document in self.documents]

    def sources(self) -> list[int]:
        return [document[0] for document in self.documents]

    def text(self, position: int, field: int) -> Any:
        return self.documents[position][3][field]

    def extras(self) -> list[bytes | None]:
        return [document[4] for document in self.documents]
