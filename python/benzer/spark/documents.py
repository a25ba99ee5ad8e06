"""How are the rows of a DataFrame documents? By named columns: an id, the fields, and where it stands in the input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from benzer.clusters import Keep
from benzer.errors import DuplicateIdError, InputError, SettingsError
from benzer.fields import Schema
from benzer.pipeline.reading import columns as columns_of
from benzer.sources.arrow import WANTED
from benzer.sources.base import MalformedRow, missing_column
from benzer.spark import columns
from benzer.spark.frames import DOCUMENTS
from benzer.spark.session import session_of
from benzer.spark.tasks import Task

NO_ID, NO_PLACE = "no id", "no place in the order"
"""Reasons of workers, which do not know the columns' names."""
MOST_BROADCAST = 1_000_000
"""Rows of `members` up to which they are sent to all who read: some 60 bytes a row."""


class Documents(ABC):
    """Documents of a run, wherever they lie: rows of a DataFrame, or of files that are read natively.

    schema: their fields. keep: the rule that `extra` is read for. columns: types of the columns `id` and `place`, by
    name, as Spark writes them.
    fields: the column that each field is read from, by name. name: what messages call the input.
    """

    spark: Any
    schema: Schema
    keep: Keep
    columns: dict[str, str]
    fields: Mapping[str, str]
    name: str
    id_form: ClassVar[Literal["plain", "json"]] = "plain"
    unique: ClassVar[Literal["number", "id"]] = "number"
    """The column that no two documents may share."""

    @abstractmethod
    def through(self, worker: Any, schema: str) -> Any:
        """What `worker` (see `DataFrame.mapInArrow`) makes of batches of the columns `DOCUMENTS` and `field_0` …"""

    @abstractmethod
    def wanted(self, members: Any, extra_columns: Sequence[str] = (), *, count: int | None = None) -> Any:
        """The documents whose `number` is in `members`, a row for each of its: its columns, `DOCUMENTS`, `field_0` …

        extra_columns: further columns of the input. count: of the rows of `members`, where it is known: few are sent
        to where the documents lie, so that these stay there.
        """

    @abstractmethod
    def wanted_through(self, worker: Any, schema: str, members: Any, *, count: int | None = None) -> Any:
        """What `worker` makes of batches of the rows of `wanted`."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What tells this input from another, JSON-able, as far as that can be told without reading it."""

    @abstractmethod
    def check_same(self, sketches: Any) -> None:
        """Refuse documents that are not those of `sketches`, which a checkpoint holds; for what `facts` cannot tell."""

    @abstractmethod
    def malformed(self, number: int | None, id: Any, source: int, reason: str) -> MalformedRow:
        """How a row that makes no document is told of."""

    @abstractmethod
    def duplicate(self, rows: Sequence[Mapping[str, Any]]) -> DuplicateIdError:
        """The error for rows (number, id) that share what must be `unique`."""


@dataclass(frozen=True)
class FrameDocuments(Documents):
    """The rows of a DataFrame. `df` is as it was given; `rows` has `DOCUMENTS` and the fields."""

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
        """`DOCUMENTS` and the fields; only what is selected of it is read."""
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
            columns.content(name, types[name]).alias(f"field_{at}")
            for at, name in enumerate(self.fields.values())
        ]
        return [*(known[name].alias(name) for name in DOCUMENTS), *fields]

    def through(self, worker: Any, schema: str) -> Any:
        """See `Documents.through`."""
        return self.rows.mapInArrow(Task(worker), schema)

    def wanted(self, members: Any, extra_columns: Sequence[str] = (), *, count: int | None = None) -> Any:
        """See `Documents.wanted`."""
        from pyspark.sql import functions as F

        own = [name for name in DOCUMENTS if name != "number"]
        fields = [f"field_{at}" for at in range(len(self.fields))]
        rows = self.df.select(*self._columns(), *(columns.column(name) for name in extra_columns))
        few = F.broadcast(members) if count is not None and count <= MOST_BROADCAST else members
        order = [*members.columns, *own, *fields, *extra_columns]
        return rows.join(few, "number").select(*map(columns.column, order))

    def wanted_through(self, worker: Any, schema: str, members: Any, *, count: int | None = None) -> Any:
        """See `Documents.wanted_through`."""
        return self.wanted(members, count=count).mapInArrow(Task(worker), schema)

    def facts(self) -> dict[str, Any]:
        """The columns and their types, how they are read, and which files lie below, where any do."""
        import hashlib

        from pyspark.errors import PySparkException

        try:
            files = sorted(self.df.inputFiles())
        except PySparkException:  # not every service tells
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
        """By the numbers of the rows: what is read again is the column of ids."""
        from pyspark.sql import functions as F

        def told(rows: Any) -> Any:
            total = F.sum(F.col("number").cast("decimal(38,0)"))  # of hashes, which 64 bits cannot hold
            return rows.agg(F.count(F.lit(1)).alias("rows"), total.alias("total")).first()

        there, here = told(sketches), told(self.df.select(self.number.alias("number")))
        if there != here:
            other = f"{here['rows']:,}" if there["rows"] != here["rows"] else "others"
            raise SettingsError(
                f"the checkpoint is of {there['rows']:,} rows, and {self.name} has {other}: give the same rows, or "
                f"another folder"
            )

    def malformed(self, number: int | None, id: Any, source: int, reason: str) -> MalformedRow:
        """By its id: a DataFrame's rows have no places."""
        reasons = {NO_ID: f'no id in column "{self.id}"', NO_PLACE: f'null in column "{self.order_by}"'}
        for field, column in self.fields.items():
            reason = reason.replace(f'column "{field}"', f'column "{column}"')
        row: Any = "null" if id is None else id
        return MalformedRow(self.name, row, reasons.get(reason, reason), unit=self.id)

    def duplicate(self, rows: Sequence[Mapping[str, Any]]) -> DuplicateIdError:
        """The same id twice, or two ids of one hash."""
        ids = list(dict.fromkeys(row["id"] for row in rows))
        if len(ids) == 1:
            return DuplicateIdError(
                f"the id {ids[0]!r} stands in {len(rows)} rows of {self.name}: make ids unique, or name another "
                f"id column"
            )
        return DuplicateIdError(
            f"the ids {ids[0]!r} and {ids[1]!r} have the same 64-bit hash: name an id column of integers, which "
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
    """The rows of a DataFrame as documents; `InputError` where its columns cannot be read so.

    text: the column of the text field, or a mapping of fields to columns; by default the fields' own names.
    id: the column of ids, strings or integers; by default "id". It must be there: rows of a DataFrame have no places of
    which ids could be made. order_by: the column that says where a document stands in the input, integers, texts,
    dates or times; by default the id. Rows equal in it stand in the order of their ids' numbers; a row without
    it, or without an id, is malformed.

    The DataFrame is evaluated more than once, and must give the same rows each time: one that is sampled, limited
    without an order, or numbered by Spark is to be written, or cached, first.
    """
    keep = keep or Keep()
    spark = session_of(df)
    if on_error not in ("stop", "skip"):
        raise SettingsError(f'on_error must be "stop" or "skip", got "{on_error}"')
    if keep.rule == "source":
        raise SettingsError(
            f"keep {keep} names sources, and a DataFrame has none: give a column, as in keep='priority:source=a,b'"
        )
    if id is None and "id" not in df.columns:
        raise SettingsError(
            'the DataFrame has no column "id", and its rows have no places of which ids could be made: name the '
            "column of ids, as in id='url'"
        )
    fields, name = columns_of(schema, text), "the DataFrame"
    id = id or "id"
    types = {field.name: field.dataType for field in df.schema}
    for column in dict.fromkeys([*fields.values(), id, order_by, keep.column]):
        if column is not None:
            _check_there(spark, name, column, df.columns)
    for field, column in fields.items():
        _check_reads_as(name, column, types[column], schema.fields[field].kind)
    found = {"id": columns.id_type(types[id])}
    if found["id"] is None:
        raise InputError(
            f'column "{id}" of {name} holds {types[id].simpleString()}; ids are strings or integers of 64 bits: '
            f"cast it to string"
        )
    place = columns.place_type(types[order_by or id])
    if place is None:
        raise InputError(
            f'column "{order_by}" of {name} holds {types[order_by or id].simpleString()}, which gives no order here: '
            f"integers, strings, dates and timestamps do; cast it to one of these"
        )
    if keep.column is not None and not columns.ranks(types[keep.column]):
        raise InputError(
            f'keep {keep} cannot rank column "{keep.column}", which holds {types[keep.column].simpleString()}: choose '
            f"a column of numbers, texts, dates or times"
        )
    return FrameDocuments(
        df, spark, schema, {"id": str(found["id"]), "place": place}, fields, name, id, order_by, keep
    )


def _check_there(spark: Any, name: str, column: str, present: Sequence[str]) -> None:
    count = list(present).count(column)
    if not count:
        raise missing_column(name, column, present)
    if count > 1:
        raise InputError(f'{name} has {count} columns "{column}": rename all but one')
    others = [one for one in present if one != column and one.lower() == column.lower()]
    if others and str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() != "true":
        raise InputError(
            f'{name} has the columns "{column}" and "{others[0]}", which Spark does not tell apart: rename one, or set '
            f"spark.sql.caseSensitive to true"
        )


def _check_reads_as(name: str, column: str, found: Any, kind: str) -> None:
    if not columns.reads_as(found, kind):
        raise InputError(
            f'column "{column}" of {name} holds {found.simpleString()}, not {WANTED[kind]}: choose another '
            f"column"
        )
