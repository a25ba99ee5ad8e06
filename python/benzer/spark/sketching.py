"""Sketches documents in workers: keys, content hashes and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.corpora import DocumentCorpus
from benzer.errors import MalformedRowError
from benzer.sketcher import Sketcher
from benzer.sources.base import MalformedRow
from benzer.spark.documents import NO_ID, NO_PLACE, Documents
from benzer.spark.frames import DOCUMENTS, EMPTY, MALFORMED, SHORT, SKETCHES, WHOLE
from benzer.spark.reading import corpus_of_batch
from benzer.spark.repeats import Repeats, hashed, repeats
from benzer.spark.settings import SparkRun

TOGETHER_BYTES, TOGETHER_ROWS = 32 << 20, 1 << 16
"""Maximum bytes that are sketched at a time."""
MOST_LISTED = 1_000
"""Maximum number of listed malformed rows; all are counted."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """The counts of the input.

    documents: number of documents among the rows `read`. malformed: the first of the `malformed_rows` malformed rows.
    by_source: rows by (source, state). repeated: contents that may have copies.
    """

    repeated: Repeats
    read: int
    documents: int
    short: int
    empty: int
    malformed_rows: int
    malformed: list[MalformedRow] = field(default_factory=list)
    by_source: Mapping[tuple[int, int], int] = field(default_factory=dict)


def sketch(run: SparkRun, documents: Documents, with_identities: bool = True) -> Any:
    """A row of `SKETCHES` for each row of the documents."""
    worker = SketchRows(run.sketcher, run.keep.rule == "longest", with_identities)
    return documents.through(worker, run.typed(SKETCHES))


@dataclass(frozen=True)
class SketchRows:
    """A worker that sketches batches of documents; batch boundaries do not matter."""

    sketcher: Sketcher
    with_lengths: bool = False
    with_identities: bool = True

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for table in together(batches):
            yield from self.rows(table).to_batches()

    def rows(self, table: Any) -> Any:
        """The sketches of some rows, in their order."""
        import pyarrow as pa

        read = corpus_of_batch(self.sketcher.schema, table)
        sketches = self.sketcher.sketch(read.corpus, threads=1)
        faults = {**read.malformed, **faults_of(table), **given_reasons(table)}
        state = np.full(table.num_rows, WHOLE, dtype=np.int32)
        state[read.rows[self.sketcher.short(sketches)]] = SHORT
        state[read.rows[sketches.empty]] = EMPTY
        state[list(faults)] = MALFORMED
        content = sketches.content.view(np.int64)
        made = {
            "length": self._lengths(read.corpus, read.rows, state),
            "state": pa.array(state),
            "reason": reasons(faults, len(state)),
            "content_a": spread(content[:, 0], read.rows, state),
            "content_b": spread(content[:, 1], read.rows, state),
            **self._identities(read.corpus, read.rows, state),
            "keys": packed(sketches.keys, read.rows, state),
        }
        rows = pa.table({**{name: table.column(name) for name in DOCUMENTS}, **made})
        return rows.combine_chunks()  # columns of documents have one chunk per batch

    def _identities(self, corpus: DocumentCorpus, rows: Rows, state: NDArray[np.int32]) -> dict[str, Any]:
        import pyarrow as pa

        if not self.with_identities:
            return {name: pa.nulls(len(state), pa.int64()) for name in ("identity_a", "identity_b")}
        identity = corpus.identities(np.arange(len(rows), dtype=np.uint32), 1).view(np.int64)
        return {
            "identity_a": spread(identity[:, 0], rows, state),
            "identity_b": spread(identity[:, 1], rows, state),
        }

    def _lengths(self, corpus: DocumentCorpus, rows: Rows, state: NDArray[np.int32]) -> Any:
        import pyarrow as pa

        if not self.with_lengths:
            return pa.nulls(len(state), pa.int64())
        lengths = corpus.text_lengths(np.arange(len(rows), dtype=np.uint32), 1)
        return spread(lengths.astype(np.int64), rows, state)


def together(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches combined to tables that are large enough for a native call."""
    import pyarrow as pa

    pending: list[Any] = []
    size = rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        pending.append(batch)
        size, rows = size + batch.nbytes, rows + batch.num_rows
        if size >= TOGETHER_BYTES or rows >= TOGETHER_ROWS:
            yield pa.Table.from_batches(pending)
            pending, size, rows = [], 0, 0
    if pending:
        yield pa.Table.from_batches(pending)


def faults_of(table: Any) -> dict[int, str]:
    """The reasons of rows with an invalid id or place, by row."""
    import pyarrow as pa

    faults: dict[int, str] = {}
    for name, reason in (("place", NO_PLACE), ("id", NO_ID)):
        column = table.column(name)
        if column.null_count:
            missing = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
            faults.update(dict.fromkeys(missing.tolist(), reason))
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            for row, value in enumerate(column.cast(pa.binary()).to_pylist()):
                if value is not None and not is_utf8(value):
                    faults[row] = f"the {name} is not valid UTF-8"
    return faults


def given_reasons(table: Any) -> dict[int, str]:
    """The reasons of rows that have a `reason`, as those of files, by row."""
    if "reason" not in table.schema.names or table.column("reason").null_count == table.num_rows:
        return {}
    reasons = enumerate(table.column("reason").to_pylist())
    return {row: reason for row, reason in reasons if reason is not None}


def is_utf8(value: bytes) -> bool:
    """Whether bytes are valid UTF-8.

    >>> is_utf8(b"caf\\xc3\\xa9"), is_utf8(b"caf\\xe9")
    (True, False)
    """
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def reasons(faults: Mapping[int, str], count: int) -> Any:
    """The reason of each row, mostly null, as a column."""
    import pyarrow as pa

    if not faults:
        return pa.nulls(count, pa.string())
    return pa.array([faults.get(row) for row in range(count)], pa.string())


def spread(values: NDArray[np.int64], rows: Rows, state: NDArray[np.int32]) -> Any:
    """Values (int64) of the documents in their rows; null for other rows."""
    import pyarrow as pa

    whole = np.zeros(len(state), dtype=np.int64)
    whole[rows] = values
    return pa.array(whole, mask=state == MALFORMED)


def packed(keys: NDArray[np.uint64], rows: Rows, state: NDArray[np.int32]) -> Any:
    """The band keys of the documents as bytes in their rows; null if there are none."""
    import pyarrow as pa

    there = (state != MALFORMED) & (state != EMPTY)
    chosen = there[rows]
    data = np.ascontiguousarray(keys if chosen.all() else keys[chosen], dtype="<u8")
    offsets = np.zeros(len(state) + 1, dtype=np.int32)
    np.cumsum(there * np.int32(keys.shape[1] * 8), out=offsets[1:])
    bits = np.packbits(there, bitorder="little")
    buffers = [pa.py_buffer(bits), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(state), buffers)


def counted(run: SparkRun, stages: Any, documents: Documents, sketches: Any) -> Counts:
    """Count the rows by state and find repeated values.

    Raises:
        MalformedRowError: A row is malformed and `on_error` is "stop".
        DuplicateIdError: Two documents have the same id or number, or a document and a malformed row, which could not
            be distinguished in the result.
        InputError: The keep rule cannot rank its column.
    """
    by_source, kinds = _counted(run, sketches)
    by_state = [0, 0, 0, 0]
    for (_, state), count in by_source.items():
        by_state[state] += count
    malformed = _malformed(documents, sketches) if by_state[MALFORMED] else []
    if malformed and run.settings.on_error == "stop":
        more = f" (and {by_state[MALFORMED] - 1} more)" if by_state[MALFORMED] > 1 else ""
        raise MalformedRowError(
            f"{malformed[0]}{more}. Fix the row, or skip malformed rows with on_error='skip'."
        )
    if "str" in kinds and len(kinds) > 1:  # no single task sees all of them
        raise run.keep.mixed(kinds)
    total = sum(by_state)
    repeated = repeats(run, stages, sketches, documents.unique, total)
    refuse_twice(documents, sketches, repeated.unique)
    return Counts(
        repeated=repeated,
        read=total,
        documents=total - by_state[MALFORMED],
        short=by_state[SHORT],
        empty=by_state[EMPTY],
        malformed_rows=by_state[MALFORMED],
        malformed=malformed,
        by_source=by_source,
    )


def refuse_twice(documents: Documents, sketches: Any, hashes: Rows) -> None:
    """Raise `DuplicateIdError` if two documents, or a document and a malformed row, have the same id or number.

    Args:
        documents: The documents.
        sketches: Their sketches.
        hashes: Hashes (see `repeats.hashed`) of more than one row; some may belong to two values.
    """
    from pyspark.sql import functions as F

    if not len(hashes):
        return
    unique = documents.unique
    rows = sketches.where(hashed(unique).isin(hashes[:MOST_LISTED].tolist()))
    counts = rows.groupBy(unique).agg(
        F.count(F.lit(1)).alias("count"), F.count_if(F.col("state") != MALFORMED).alias("sound")
    )
    first = (
        counts.where("count > 1 AND sound > 0").select(_text(unique).alias("twice")).orderBy("twice").limit(1)
    )
    if twice := first.collect():
        same = rows.where(_text(unique) == twice[0].twice).select("number", "id", "source")
        repeated = same.orderBy("source", "number", "id").limit(MOST_LISTED).collect()
        raise documents.duplicate([row.asDict() for row in repeated])
    if len(hashes) > MOST_LISTED:
        refuse_twice(documents, sketches, hashes[MOST_LISTED:])


def _counted(run: SparkRun, sketches: Any) -> tuple[dict[tuple[int, int], int], set[str]]:
    """Rows by (source, state), and the types of the values to rank."""
    from pyspark.sql import functions as F

    kind = kind_of_json("extra") if run.keep.rule in ("largest", "smallest") else F.lit(None).cast("string")
    kind = F.when(F.col("state") != MALFORMED, kind).alias("kind")
    by_source: Counter[tuple[int, int]] = Counter()
    kinds: set[str] = set()
    for row in sketches.groupBy("source", "state", kind).count().collect():
        by_source[row.source, row["state"]] += row["count"]
        kinds |= set() if row.kind is None else {row.kind}
    return dict(by_source), kinds


def _malformed(documents: Documents, sketches: Any) -> list[MalformedRow]:
    from pyspark.sql import functions as F

    order = [F.col(name).asc_nulls_last() for name in ("source", "number", "id", "reason")]
    rows = sketches.where(f"state = {MALFORMED}").orderBy(*order).limit(MOST_LISTED)
    # An id that is not valid UTF-8 becomes text through a Java string.
    text = F.when(F.col("id").isNotNull(), _text("id")).alias("id")
    listed = rows.select("number", text, "source", "reason").collect()
    return [documents.malformed(row.number, row.id, row.source, row.reason) for row in listed]


def kind_of_json(name: str) -> Any:
    """The Python type of a JSON value that can be ranked; null for others."""
    from pyspark.sql import functions as F

    value = F.col(name)
    return (
        F.when(value.startswith('"'), "str")
        .when(value.isin("true", "false"), "bool")
        .when(value.rlike("^-?[0-9]+$"), "int")
        .when(value.rlike("^-?[0-9]"), "float")
    )


def _text(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.format_string("%s", F.col(name))
