"""What a corpus takes from sources, in plain Python: it keeps all it is given, and reads JSON lines with `json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class RecordedCorpus:
    """Keeps each document as (source, row, id, values, extra), and the size of each batch."""

    documents: list[tuple[int, int, Any, tuple[Any, ...], bytes | None]] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.documents)

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Sequence[str | int],
        fields: Sequence[Sequence[Any]],
        extras: Sequence[bytes] | None = None,
    ) -> None:
        assert all(len(values) == len(rows) == len(ids) for values in fields)
        self.batches.append(len(rows))
        extras = [None] * len(rows) if extras is None else extras
        for row, identity, values, extra in zip(rows, ids, zip(*fields, strict=True), extras, strict=True):
            self.documents.append((source, row, identity, values, extra))

    def add_jsonl(
        self,
        source: int,
        name: str,
        path: str | None,
        data: bytes | None,
        columns: Sequence[str],
        id_column: str | None,
        id_required: bool,
        extra_column: str | None,
        first_row: int,
        stop_on_error: bool,
        threads: int,
    ) -> tuple[int, list[tuple[int, str]]]:
        content = Path(path).read_bytes() if path is not None else data
        rows_read, malformed = 0, []
        for number, line in enumerate(content.split(b"\n"), start=first_row):
            if not line.strip(b" \t\r"):
                continue
            rows_read += 1
            try:
                row = json.loads(line)
                identity = row[id_column] if id_required else row.get(id_column, f"{name}:{number}")
                values = tuple(row[column] for column in columns)
                if not all(value is None or isinstance(value, str) for value in values):
                    raise TypeError("not text")
                extra = json.dumps(row.get(extra_column)).encode() if extra_column else None
            except (ValueError, KeyError, TypeError) as error:
                malformed.append((number, str(error)))
                if stop_on_error:
                    break
            else:
                self.documents.append((source, number, identity, values, extra))
        return rows_read, malformed

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
