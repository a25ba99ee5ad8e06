"""Rows of a DataFrame as documents, by named columns: an id, the fields, and the place in the input order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from benzer.checks import check_on_error
from benzer.clusters import Keep
from benzer.errors import DuplicateIdError, InputError, SettingsError
from benzer.fields import Schema
from benzer.pipeline.reading import columns as columns_of
from benzer.sources.arrow import WANTED
from benzer.sources.base import MalformedRow, check_repeated, missing_column
from benzer.spark import columns
from benzer.spark.frames import DOCUMENTS
from benzer.spark.session import session_of
from benzer.spark.tasks import ArrowTask

NO_ID, NO_PLACE = "no id", "no place in the order"
"""Reasons reported by workers, which do not know the names of the columns."""
MOST_BROADCAST = 1_000_000
"""Maximum rows of `members` that are broadcast to all readers, at about 60 bytes per row."""


class Documents(ABC):
    """Documents of a run: rows of a DataFrame, or files.

    schema: their fields. keep: the keep rule that `extra` is read for. columns: Spark types of the columns `id` and
    `place`, by name.
    fields: the source column of each field, by name. name: the name of the input in messages.
    """

    spark: Any
    schema: Schema
    keep: Keep
    columns: dict[str, str]
    fields: Mapping[str, str]
    name: str
    id_form: ClassVar[Literal["plain", "json"]] = "plain"
    unique: ClassVar[Literal["number", "id"]] = "number"
    """The column whose values must be unique."""

    @abstractmethod
    def through(self, worker: Any, schema: str) -> Any:
        """The output of `worker` (see `DataFrame.mapInArrow`) for batches of the columns `DOCUMENTS` and `field_0` …"""

    @abstractmethod
    def wanted(self, members: Any, extra_columns: Sequence[str] = (), *, count: int | None = None) -> Any:
        """The documents whose `number` is in `members`, one row for each: its columns, `DOCUMENTS`, `field_0` …

        extra_columns: further columns of the input. count: the number of rows of `members`, if known: few rows are
        broadcast to the documents, so that these are not moved.
        """

    @abstractmethod
    def wanted_through(self, worker: Any, schema: str, members: Any, *, count: int | None = None) -> Any:
        """The output of `worker` for batches of the rows of `wanted`."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """JSON-able facts that identify this input, as far as possible without reading it."""

    @abstractmethod
    def check_same(self, sketches: Any) -> None:
        """Reject documents that differ from the `sketches` of a checkpoint in ways that `facts` cannot detect."""

    @abstractmethod
    def malformed(self, number: int | None, id: Any, source: int, reason: str) -> MalformedRow:
        """The description of a malformed row."""

    @abstractmethod
    def duplicate(self, rows: Sequence[Mapping[str, Any]]) -> DuplicateIdError:
        """The error for rows (number, id) with the same value in the column `unique`."""


@dataclass(frozen=True)
class FrameDocuments(Documents):
    """The rows of a DataFrame. `df` is the original; `rows` has `DOCUMENTS` and the fields."""

    df: Any
    spark: Any
    schema: Schema
    columns: dict[str, str]
    fields: Mapping[str, str]
    name: str
    id: str
    order_by: str | None
    keep: Keep

    @property
    def number(self) -> Any:
        """The number of a row of `df`, as an expression."""
        return columns.number(self.id, self.columns["id"])

    @property
    def rows(self) -> Any:
        """`DOCUMENTS` and the fields; only selected columns are read."""
        return self.df.select(*self._columns())

    def _columns(self) -> list[Any]:
        from pyspark.sql import functions as F

        types = {field.name: field.dataType for field in self.df.schema}
        ranked, ordered = self.keep.column, self.order_by or self.id
        known = {
            "number": self.number,
            "id": columns.column(self.id).cast(self.columns["id"]),
            "place": columns.place(ordered, types[ordered]),
            "extra": (F.lit(None) if ranked is None else columns.as_json(ranked, types[ranked])).cast(
                "string"
            ),
            "source": F.lit(0),
        }
        fields = [
            columns.content(name, types[name]).alias(f"field_{position}")
            for position, name in enumerate(self.fields.values())
        ]
        return [*(known[name].alias(name) for name in DOCUMENTS), *fields]

    def through(self, worker: Any, schema: str) -> Any:
        """See `Documents.through`."""
        return self.rows.mapInArrow(ArrowTask(worker), schema)

    def wanted(self, members: Any, extra_columns: Sequence[str] = (), *, count: int | None = None) -> Any:
        """See `Documents.wanted`."""
        from pyspark.sql import functions as F

        own = [name for name in DOCUMENTS if name != "number"]
        fields = [f"field_{number}" for number in range(len(self.fields))]
        rows = self.df.select(*self._columns(), *(columns.column(name) for name in extra_columns))
        few = F.broadcast(members) if count is not None and count <= MOST_BROADCAST else members
        order = [*members.columns, *own, *fields, *extra_columns]
        return rows.join(few, "number").select(*map(columns.column, order))

    def wanted_through(self, worker: Any, schema: str, members: Any, *, count: int | None = None) -> Any:
        """See `Documents.wanted_through`."""
        return self.wanted(members, count=count).mapInArrow(ArrowTask(worker), schema)

    def facts(self) -> dict[str, Any]:
        """The columns and their types, how they are read, and the underlying files, if any."""
        import hashlib

        from pyspark.errors import PySparkException

        try:
            files = sorted(self.df.inputFiles())
        except PySparkException:  # not supported by all services
            files = []
        return {
            "columns": dict(self.df.dtypes),
            "fields": dict(self.fields),
            "id": self.id,
            "order_by": self.order_by,
            "files": {
                "count": len(files),
                "digest": hashlib.sha256("\n".join(files).encode()).hexdigest()[:32],
            },
        }

    def check_same(self, sketches: Any) -> None:
        """Compare the numbers of the rows, which reads the id column again."""
        from pyspark.sql import functions as F

        def listed(rows: Any) -> Any:
            total = F.sum(F.col("number").cast("decimal(38,0)"))  # a sum of hashes exceeds 64 bits
            return rows.agg(F.count(F.lit(1)).alias("rows"), total.alias("total")).first()

        there, here = listed(sketches), listed(self.df.select(self.number.alias("number")))
        if there != here:
            other = f"{here['rows']:,}" if there["rows"] != here["rows"] else "others"
            raise SettingsError(
                f"the checkpoint has {there['rows']:,} rows, but {self.name} has {other}: use the same rows or "
                f"another folder"
            )

    def malformed(self, number: int | None, id: Any, source: int, reason: str) -> MalformedRow:
        """By its id, because rows of a DataFrame have no position."""
        reasons = {NO_ID: f'no id in column "{self.id}"', NO_PLACE: f'null in column "{self.order_by}"'}
        for field, column in self.fields.items():
            reason = reason.replace(f'column "{field}"', f'column "{column}"')
        row: Any = "null" if id is None else id
        return MalformedRow(self.name, row, reasons.get(reason, reason), unit=self.id)

    def duplicate(self, rows: Sequence[Mapping[str, Any]]) -> DuplicateIdError:
        """The error for a repeated id, or for two ids with the same hash."""
        ids = list(dict.fromkeys(row["id"] for row in rows))
        if len(ids) == 1:
            return DuplicateIdError(
                f"the id {ids[0]!r} occurs in {len(rows)} rows of {self.name}: make ids unique, or use another "
                f"id column"
            )
        return DuplicateIdError(
            f"the ids {ids[0]!r} and {ids[1]!r} have the same 64-bit hash: use an id column of integers, which "
            f"are not hashed"
        )


def documents_of(
    df: Any,
    schema: Schema,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    order_by: str | None = None,
    keep: Keep | None = None,
    on_error: Literal["stop", "skip"] = "stop",
) -> FrameDocuments:
    """The rows of a DataFrame as documents; raises `InputError` if its columns do not fit.

    The DataFrame is evaluated more than once and must return the same rows each time: write or cache it first if it
    is sampled, limited without an order, or numbered by Spark.

    Args:
        text: The column of the text field, or a mapping of fields to columns; default: columns named after the fields.
        id: The column of ids, strings or integers; default: "id". It is required, because rows of a DataFrame have no
            positions to create ids from.
        order_by: The column of the input order: integers, texts, dates or times; default: the id. Equal rows are in
            the order of the numbers of their ids. A row without it or without an id is malformed.
    """
    keep = keep or Keep()
    spark = session_of(df)
    check_on_error(on_error)
    if keep.rule == "source":
        raise SettingsError(
            f"keep {keep} needs sources, but a DataFrame has none: use a column, as in keep='priority:source=a,b'"
        )
    if id is None and "id" not in df.columns:
        raise SettingsError("the DataFrame has no column \"id\": name the column of ids, as in id='url'")
    fields, name = columns_of(schema, text), "the DataFrame"
    id = id or "id"
    types = {field.name: field.dataType for field in df.schema}
    for column in dict.fromkeys([*fields.values(), id, order_by, keep.column]):
        if column is not None:
            _check_there(spark, name, column, df.columns)
    for field, column in fields.items():
        _check_reads_as(name, column, types[column], schema.fields[field].kind)
    types_found = {"id": columns.id_type(types[id])}
    if types_found["id"] is None:
        raise InputError(
            f'column "{id}" of {name} has the type {types[id].simpleString()}, but ids are strings or 64-bit integers: '
            f"cast it to string"
        )
    place = columns.place_type(types[order_by or id])
    if place is None:
        raise InputError(
            f'column "{order_by}" of {name} has the type {types[order_by or id].simpleString()}, which has no order: '
            f"cast it to integers, strings, dates or timestamps"
        )
    if keep.column is not None and not columns.ranks(types[keep.column]):
        raise InputError(
            f'keep {keep} cannot rank column "{keep.column}" of the type {types[keep.column].simpleString()}: choose '
            f"a column of numbers, texts, dates or times"
        )
    return FrameDocuments(
        df, spark, schema, {"id": str(types_found["id"]), "place": place}, fields, name, id, order_by, keep
    )


def _check_there(spark: Any, name: str, column: str, present: Sequence[str]) -> None:
    if column not in present:
        raise missing_column(name, column, present)
    check_repeated(name, column, present)
    others = [item for item in present if item != column and item.lower() == column.lower()]
    if others and str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() != "true":
        raise InputError(
            f'{name} has the columns "{column}" and "{others[0]}", which Spark does not distinguish: rename one or set '
            f"spark.sql.caseSensitive to true"
        )


def _check_reads_as(name: str, column: str, data_type: Any, kind: str) -> None:
    if not columns.reads_as(data_type, kind):
        raise InputError(
            f'column "{column}" of {name} has the type {data_type.simpleString()}, not {WANTED[kind]}: choose another '
            f"column"
        )
