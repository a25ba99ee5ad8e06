"""Tables and columns in memory, of any library: Arrow batches of some columns, and chosen rows in the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np

from benzer.errors import InputError
from benzer.registry import require
from benzer.sources.base import Keep

BATCH_ROWS = 10_000
TAKEN_ROWS = 20_000


class Frame(Protocol):
    """A table, or a column without a name.

    Attributes:
        names: Columns of the table; empty for a column without a name.
        alone: Whether it is a column without a name.
    """

    names: Sequence[str]
    alone: bool

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield `pyarrow.RecordBatch`es with these columns; of a column without a name, `pyarrow.Array`s."""
        ...

    def table(self, rows: Keep) -> Any:
        """The chosen rows with all columns as a `pyarrow.Table`."""
        ...

    def select(self, rows: Keep) -> Any:
        """The chosen rows in the kind that was given."""
        ...


class Unconvertible(Exception):
    """Some columns cannot be converted to Arrow. `rows` has the rows as mappings."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        super().__init__()
        self.rows = rows


def arrow() -> Any:
    return require("pyarrow", extra="parquet", purpose="Arrow tables")


def filtered(table: Any, rows: Keep) -> Any:
    """The chosen rows of a table, of whatever types its columns are."""
    pyarrow = arrow()
    try:
        return table.filter(pyarrow.array(rows))
    except pyarrow.ArrowNotImplementedError:  # string views, which polars has, cannot be filtered yet
        edges = np.flatnonzero(np.diff(rows.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
        runs = [table.slice(first, after - first) for first, after in edges.tolist()]
        return pyarrow.concat_tables([table.slice(0, 0), *runs])


class ArrowFrame:
    """A `pyarrow.Table`; `back` converts the chosen rows to the kind that was given."""

    alone = False

    def __init__(self, table: Any, back: Callable[[Any], Any] | None = None) -> None:
        self._table = table
        self._back = back
        self.names: Sequence[str] = table.schema.names

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        return iter(self._table.select(columns).to_batches(max_chunksize=BATCH_ROWS))

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        return filtered(self._table, rows)

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self.table(rows) if self._back is None else self._back(self.table(rows))


class DatasetFrame:
    """A `pyarrow.dataset.Dataset`, of which only the needed columns are loaded."""

    alone = False

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names: Sequence[str] = dataset.schema.names

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        return iter(self._dataset.to_batches(columns=list(columns), batch_size=BATCH_ROWS))

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        return filtered(self._dataset.to_table(), rows)

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        return _dataset_of(self.table(rows))


class PandasFrame:
    """A `pandas.DataFrame`; named levels of its index are columns."""

    alone = False

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._columns = [(str(name), frame.iloc[:, at]) for at, name in enumerate(frame.columns)]
        levels = [str(name) for name in frame.index.names if name is not None]
        known = {name for name, _ in self._columns}
        self._columns += [(name, frame.index.get_level_values(name)) for name in levels if name not in known]
        self.names: Sequence[str] = [name for name, _ in self._columns]

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        pyarrow, series = arrow(), dict(self._columns)
        try:
            arrays = {name: pyarrow.array(series[name], from_pandas=True) for name in columns}
        except (pyarrow.ArrowException, OverflowError) as error:
            raise Unconvertible(self._rows(columns)) from error
        return iter(pyarrow.table(arrays).to_batches(max_chunksize=BATCH_ROWS))

    def _rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        series = dict(self._columns)
        for values in zip(*(series[name] for name in columns), strict=True):
            held = [None if isinstance(value, float) and value != value else value for value in values]
            yield dict(zip(columns, held, strict=True))

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        pyarrow = arrow()
        try:
            return pyarrow.Table.from_pandas(self.select(rows))
        except (pyarrow.ArrowException, OverflowError) as error:
            raise InputError(
                f"the DataFrame cannot be written as Parquet ({error}): use result.apply(frame) instead"
            ) from error

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self._frame[rows]


class PolarsFrame:
    """A `polars.DataFrame`, or a `LazyFrame`, which is computed once."""

    alone = False

    def __init__(self, frame: Any) -> None:
        self._lazy = hasattr(frame, "collect")
        self._frame = frame.collect() if self._lazy else frame
        self.names: Sequence[str] = self._frame.columns

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        return iter(self._frame.select(columns).to_arrow().to_batches(max_chunksize=BATCH_ROWS))

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self._frame.filter(rows).to_arrow()

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        frame = self._frame.filter(rows)
        return frame.lazy() if self._lazy else frame


class HuggingFaceFrame:
    """A `datasets.Dataset` with its selections and filters."""

    alone = False

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names: Sequence[str] = dataset.column_names

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        indices = getattr(self._dataset, "_indices", None)
        if indices is not None:  # the public iterator slices each row by itself, which is many times slower
            rows, table = indices.column(0), self._dataset.data.table.select(list(columns))
            for start in range(0, len(rows), TAKEN_ROWS):
                yield from table.take(rows.slice(start, TAKEN_ROWS).combine_chunks()).to_batches()
            return
        part = self._dataset.select_columns(list(columns)).with_format("arrow")
        for table in part.iter(batch_size=BATCH_ROWS):
            yield from table.to_batches()

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self.select(rows).with_format("arrow")[:]

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self._dataset.select(np.flatnonzero(rows))


class HuggingFaceStream:
    """A `datasets.IterableDataset`, which is iterated again for a copy of its rows."""

    alone = False

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        names = dataset.column_names
        first = next(self._tables(dataset), None) if names is None else None
        self.names: Sequence[str] = names or ([] if first is None else first.column_names)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        for table in self._tables(self._dataset):
            missing = [name for name in columns if name not in table.column_names]
            for name in missing:
                table = table.append_column(name, arrow().nulls(table.num_rows))
            yield from table.select(list(columns)).to_batches()

    def _tables(self, dataset: Any) -> Iterator[Any]:
        return iter(dataset.with_format("arrow").iter(batch_size=BATCH_ROWS))

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        return arrow().concat_tables(self._tables(self.select(rows)), promote_options="permissive")

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self._dataset.filter(lambda _, at: bool(rows[at]), with_indices=True)


class ColumnFrame:
    """A column without a name, as Arrow arrays; `select` chooses of what was given."""

    alone = True
    names: Sequence[str] = ()

    def __init__(self, column: Any, select: Callable[[Keep], Any]) -> None:
        self._column = column
        self.select = select

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """See `Frame`."""
        for chunk in getattr(self._column, "chunks", [self._column]):
            for start in range(0, len(chunk), BATCH_ROWS):
                yield chunk.slice(start, BATCH_ROWS)

    def table(self, rows: Keep) -> Any:
        """See `Frame`."""
        table = arrow().table({"text": self._column})
        ids = arrow().array(np.arange(table.num_rows))
        return filtered(table.add_column(0, "id", ids), rows)


def _dataset_of(table: Any) -> Any:
    return require("pyarrow.dataset", extra="parquet", purpose="Arrow datasets").dataset(table)


def _record_batch(table: Any) -> Any:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else arrow().RecordBatch.from_pylist([], schema=table.schema)


def _arrow_column(given: Any) -> ColumnFrame:
    return ColumnFrame(given, lambda rows: given.filter(arrow().array(rows)))


def _pandas_column(series: Any) -> ColumnFrame:
    pyarrow = arrow()
    try:
        return ColumnFrame(pyarrow.array(series, from_pandas=True), lambda rows: series[rows])
    except (pyarrow.ArrowException, OverflowError) as error:
        raise InputError(f"the Series cannot be read as one column ({error}): use a DataFrame") from error


def _duckdb(relation: Any) -> ArrowFrame:
    import duckdb

    return ArrowFrame(arrow().table(relation), duckdb.from_arrow)


def _array(array: Any) -> Frame:
    """A NumPy array of strings or of records."""
    pyarrow = arrow()
    if array.dtype.names is not None:
        table = pyarrow.table({name: pyarrow.array(array[name].tolist()) for name in array.dtype.names})
        return _Records(table, array)
    return ColumnFrame(pyarrow.array(array), lambda rows: array[rows])


class _Records(ArrowFrame):
    """A NumPy array of records."""

    def __init__(self, table: Any, array: Any) -> None:
        super().__init__(table)
        self._array = array

    def select(self, rows: Keep) -> Any:
        """See `Frame`."""
        return self._array[rows]


ONE_SHOT = frozenset(("pyarrow.RecordBatchReader", "pyarrow.Scanner"))
"""Kinds that may be readable only once."""
KINDS: dict[str, Callable[[Any], Frame]] = {
    "pyarrow.Table": ArrowFrame,
    "pyarrow.RecordBatch": lambda batch: ArrowFrame(arrow().Table.from_batches([batch]), _record_batch),
    "pyarrow.RecordBatchReader": lambda reader: ArrowFrame(
        reader.read_all(), lambda table: table.to_reader()
    ),
    "pyarrow.Dataset": DatasetFrame,
    "pyarrow.Scanner": lambda scanner: ArrowFrame(
        scanner.to_table(), lambda table: _dataset_of(table).scanner()
    ),
    "pyarrow.Array": _arrow_column,
    "pyarrow.ChunkedArray": _arrow_column,
    "pandas.DataFrame": PandasFrame,
    "pandas.Series": _pandas_column,
    "polars.DataFrame": PolarsFrame,
    "polars.LazyFrame": PolarsFrame,
    "polars.Series": lambda series: ColumnFrame(series.to_arrow(), series.filter),
    "duckdb.DuckDBPyRelation": _duckdb,
    "datasets.Dataset": HuggingFaceFrame,
    "datasets.IterableDataset": HuggingFaceStream,
    "numpy.ndarray": _array,
}
"""How each kind is read, by the library and the name of its class; no library is imported for it."""


def kind_of(given: Any) -> str | None:
    """The kind of a table or column, None for anything else.

    >>> kind_of(np.array(["a"])), kind_of(["a"])
    ('numpy.ndarray', None)
    """
    for base in type(given).__mro__:
        name = f"{base.__module__.split('.')[0].lstrip('_')}.{base.__qualname__}"
        if name in KINDS:
            return name
    return "arrow stream" if hasattr(given, "__arrow_c_stream__") else None


def is_array(given: Any) -> bool:
    """Whether this is a NumPy array."""
    return isinstance(given, np.ndarray)


def is_frame(given: Any) -> bool:
    """Whether this is a table or column in memory."""
    if is_array(given):
        return given.ndim == 1 and (given.dtype.names is not None or given.dtype.kind in "US")
    return kind_of(given) is not None


def items_of(array: Any) -> list[Any]:
    """The contents of an array that is not a column: objects, texts, or images.

    >>> items_of(np.arange(3))
    Traceback (most recent call last):
    benzer.errors.InputError: an array of int64 of shape (3,) is not documents: use strings, records, or images
    """
    if (array.ndim == 1 and array.dtype.kind in "OT") or array.ndim >= 3:
        return list(array)
    raise InputError(
        f"an array of {array.dtype} of shape {array.shape} is not documents: use strings, records, or images"
    )


def frame_of(given: Any) -> Frame | None:
    """A table or column in memory; None for anything else."""
    kind = kind_of(given) if is_frame(given) else None
    if kind is None:
        return None
    if kind in KINDS:
        return KINDS[kind](given)
    pyarrow = arrow()
    try:
        return ArrowFrame(pyarrow.table(given))
    except (pyarrow.ArrowException, TypeError):
        return _arrow_column(pyarrow.chunked_array(given))


def first_and_all(batches: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    """The first batch, None if there is none, and all batches."""
    first = next(batches, None)
    return first, iter(()) if first is None else chain((first,), batches)
