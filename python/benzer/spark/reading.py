"""Converts batches of documents to a corpus in workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus
from benzer.corpus import corpus_of
from benzer.fields import Schema
from benzer.sources.arrow import ArrowSource
from benzer.sources.base import ReadOptions


class ReadBatch(NamedTuple):
    """Documents of some rows.

    corpus: a `benzer.corpus` with the documents in row order. rows: the row of each document (int64, n).
    malformed: the reasons of the other rows, by row.
    """

    corpus: DocumentCorpus
    rows: NDArray[np.int64]
    malformed: dict[int, str]


def corpus_of_batch(schema: Schema, table: Any) -> ReadBatch:
    """The documents of an Arrow table (or record batch) with the columns `field_0` … and possibly others.

    Texts are passed without copying. Reasons name a field, because its column is called `field_0`. The caller checks
    ids and places.
    """
    import pyarrow as pa

    names = [f"field_{number}" for number in range(len(schema.fields))]
    if any(is_encoded(table.column(name).type) for name in names):
        return corpus_of_encoded(schema, [table.column(name) for name in names])
    contents = pa.table([table.column(name) for name in names], names=list(schema.fields))
    options = ReadOptions(
        fields={name: name for name in schema.fields},
        kinds={name: field.kind for name, field in schema.fields.items()},
        id_plan=(None, False),  # a field may be named "id"
        on_error="skip",
        threads=1,
    )
    corpus = corpus_of(schema, threads=1)
    report = ArrowSource(contents).read_into(corpus, 0, options)
    malformed = {item.row - 1: item.reason for item in report.malformed}
    there = np.ones(table.num_rows, dtype=np.bool_)
    there[list(malformed)] = False
    return ReadBatch(corpus, np.flatnonzero(there), malformed)


def is_encoded(kind: Any) -> bool:
    """Whether a column has contents encoded by their fields, as columns of files do."""
    import pyarrow as pa

    return bool(pa.types.is_struct(kind)) and [part.name for part in kind] == ["encoded"]


def corpus_of_encoded(schema: Schema, columns: Sequence[Any]) -> ReadBatch:
    """Return the documents of columns, some of them encoded; malformed rows are reported elsewhere."""
    corpus = corpus_of(schema, threads=1)
    contents = [
        [None if item is None else field.decode(item["encoded"]) for item in column.to_pylist()]
        if is_encoded(column.type)
        else column.to_pylist()
        for field, column in zip(schema.fields.values(), columns, strict=True)
    ]
    count = len(columns[0])
    corpus.add(0, range(1, count + 1), range(count), contents)
    return ReadBatch(corpus, np.arange(count), {})
