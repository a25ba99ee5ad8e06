"""Contents stored for later comparison, encoded as in an index, whatever the types of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.document import FieldValue
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.fields.base import described
from benzer.sources.rows import BadRow, read_image, read_values
from benzer.spark.documents import Documents


def contents_schema(schema: Schema, columns: Mapping[str, str]) -> str:
    """The Spark schema of contents."""
    fields = ", ".join(f"field_{number} binary" for number in range(len(schema.fields)))
    return f"number bigint, id {columns['id']}, place {columns['place']}, {fields}"


def contents_of(documents: Documents) -> Any:
    """The contents of documents, encoded as in an index."""
    return documents.through(Encode(documents.schema), contents_schema(documents.schema, documents.columns))


@dataclass(frozen=True)
class Encode:
    """Converts documents to numbers, ids, places and encoded contents; malformed rows are omitted."""

    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        fields = [f"field_{number}" for number in range(len(self.schema.fields))]
        for batch in batches:
            encoded, bad = encode(self.schema, [batch.column(name) for name in fields])
            bad |= batch.column("number").is_null().to_numpy(zero_copy_only=False)
            columns = [batch.column(name) for name in ("number", "id", "place")]
            columns += [pa.array(item, pa.binary()) for item in encoded]
            made = pa.record_batch(columns, names=["number", "id", "place", *fields])
            yield made.filter(pa.array(~bad)) if bad.any() else made


def encode(schema: Schema, columns: Sequence[Any]) -> tuple[list[list[bytes | None]], NDArray[np.bool_]]:
    """The encoded contents of Arrow columns, one per field, and which rows cannot be read (bool, n).

    A text is stored as it is, an image as its description.
    """
    import pyarrow as pa

    rows = len(columns[0])
    bad = np.zeros(rows, dtype=bool)
    columns_encoded: list[list[bytes | None]] = []
    for (name, field), column in zip(schema.fields.items(), columns, strict=True):
        if field.kind == "text":
            columns_encoded.append(column.cast(pa.large_binary()).to_pylist())
            continue
        read = partial(read_values if field.kind == "values" else read_image, name)
        given = [_read(read, value) for value in column.to_pylist()]
        present = [
            number for number, item in enumerate(given) if item is not None and not isinstance(item, BadRow)
        ]
        kept: list[bytes | None] = [None] * rows
        answers = described(field, [given[number] for number in present], 1)
        for position, answer in zip(present, answers, strict=True):
            if isinstance(answer, InputError):
                bad[position] = True
            else:
                kept[position] = answer
        bad |= np.array([isinstance(item, BadRow) for item in given], dtype=bool)
        columns_encoded.append(kept)
    return columns_encoded, bad


def _read(read: Callable[[Any], FieldValue], value: Any) -> Any:
    try:
        return read(value)
    except BadRow as reason:
        return reason
