"""Access to the memory of Arrow columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.registry import require

Mask = NDArray[np.bool_] | None
TextArrays = tuple[NDArray[np.int64], NDArray[np.uint8], Mask]
IdArrays = TextArrays | tuple[NDArray[np.int64], Mask]

INTEGERS = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"))


def is_column(given: Any) -> bool:
    """Whether a value is an Arrow array of any library (pyarrow, polars, ...), in one or several chunks.

    >>> is_column(["a", "b"])
    False
    """
    return hasattr(given, "__arrow_c_array__") or hasattr(given, "__arrow_c_stream__")


def as_array(given: Any) -> Any:
    """Return a column as one pyarrow array; several chunks are copied into one.

    >>> import pyarrow
    >>> len(as_array(pyarrow.chunked_array([["a"], ["b", "c"]])))
    3
    """
    pyarrow = require("pyarrow", extra="parquet", purpose="Arrow arrays")
    if hasattr(given, "__arrow_c_array__"):
        return pyarrow.array(given)
    whole = pyarrow.chunked_array(given).combine_chunks()
    return whole if isinstance(whole, pyarrow.Array) else pyarrow.concat_arrays(whole.chunks)


def text_arrays(column: Any) -> TextArrays | None:
    """Return offsets, bytes and mask of a column of texts (no mask without nulls); None for another type.

    >>> import pyarrow
    >>> offsets, data, mask = text_arrays(pyarrow.array(["a", None, "bc"]))
    >>> offsets.tolist(), data.tobytes(), mask.tolist()
    ([0, 1, 1, 3], b'abc', [True, False, True])
    """
    pyarrow = require("pyarrow", extra="parquet", purpose="Arrow tables")
    if column is None:
        return None
    if pyarrow.types.is_null(column.type):
        column = column.cast(pyarrow.large_string())
    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    if not is_text(pyarrow.types, kind):
        return None
    try:
        column = column.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:  # bytes that are no UTF-8
        return None
    _, offsets, data = column.buffers()
    if offsets is None or not len(column):
        places = np.zeros(1, dtype=np.int64)
    else:
        places = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    content = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    content.flags.writeable = False  # the corpus keeps it as it is
    return places, content, _mask(column)


def id_arrays(column: Any) -> IdArrays | None:
    """Return the arrays of a column of ids, texts or integers; None if it has another type.

    >>> import pyarrow
    >>> id_arrays(pyarrow.array([7, 8], pyarrow.int32()))
    (array([7, 8]), None)
    """
    if column is None:
        return None
    if str(column.type) not in INTEGERS:
        return text_arrays(column) if str(column.type) in ("string", "large_string") else None
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return np.ascontiguousarray(numbers), _mask(column)


def _mask(column: Any) -> Mask:
    if not column.null_count:
        return None
    return np.ascontiguousarray(column.is_valid().to_numpy(zero_copy_only=False))


def is_text(types: Any, data_type: Any) -> bool:
    """Whether an Arrow type is text, or bytes that may be text; `types` is `pyarrow.types`.

    >>> import pyarrow
    >>> is_text(pyarrow.types, pyarrow.large_binary()), is_text(pyarrow.types, pyarrow.int8())
    (True, False)
    """
    names = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    checks = (getattr(types, f"is_{name}", None) for name in names)  # pyarrow 15 knows no views
    return any(check is not None and check(data_type) for check in checks)
