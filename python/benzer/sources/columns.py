"""Passes columns of an Arrow batch to the corpus without a Python object for each row."""

from __future__ import annotations

from typing import Any

from benzer.columns import id_arrays, text_arrays
from benzer.sources.base import ReadOptions
from benzer.sources.rows import RowReader

FEW_ROWS = 16


def add_columns(corpus: Any, number: int, first_row: int, batch: Any, reader: RowReader) -> bool:
    """Add the rows of a record batch by its columns; False, and nothing added, where they must be looked at one by one.

    That is so where a text is no UTF-8, an id is missing that must be there, or a column is of a rarer type; and where
    there are so few rows that taking them one by one is faster.
    """
    if batch.num_rows < FEW_ROWS:
        return False
    texts = [text_arrays(_column(batch, column)) for column, _ in reader.fields]
    ids = None if reader.id_column is None else id_arrays(_column(batch, reader.id_column))
    found = [arrays for arrays in texts if arrays is not None]
    missing_id = reader.id_column is not None and (
        ids is None or (reader.id_required and ids[-1] is not None)
    )
    if len(found) < len(texts) or missing_id:
        return False
    return bool(corpus.add_columns(number, first_row, batch.num_rows, ids, found))


def takes_columns(corpus: Any, options: ReadOptions) -> bool:
    """Whether the corpus takes columns of these fields at all."""
    return (
        hasattr(corpus, "add_columns")
        and options.all_text
        and not options.html
        and options.extra_column is None
    )


def _column(batch: Any, name: str) -> Any:
    at = batch.schema.get_field_index(name)
    return None if at < 0 else batch.column(at)
