"""Columns of a DataFrame become ids, places and contents, or are refused with what to do."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import benzer
from benzer.clusters import Keep, parsed
from benzer.errors import InputError, SettingsError
from benzer.fields import Image, Schema, Text, ValueSet
from benzer.sources.rows import json_bytes
from benzer.spark import find_duplicates
from benzer.spark.documents import documents_of
from benzer.spark.frames import SHORT
from benzer.spark.reading import corpus_of_batch
from benzer.spark.session import to_arrow
from benzer.spark.sketching import sketch
from tests.images import as_file, scene
from tests.spark import made

UTC = dt.timezone.utc
KINDS = (
    "id bigint, text string, n smallint, d double, f float, m decimal(10,2), b boolean, day date, at timestamp, "
    "clock timestamp_ntz, s string, nothing void"
)
ROWS = [
    (1, "oak", 3, 1.5, 0.1, Decimal("1.10"), True, dt.date(2020, 2, 29),
     dt.datetime(2020, 1, 2, 3, 4, 5, 600, UTC), dt.datetime(1950, 1, 2, 23, 4, 5), 'a "quoted"\n\\ é 😀 \x01', None),
    (2, "elm", None, float("nan"), float("inf"), None, None, None, None, None, None, None),
    (3, "fir", -7, -0.0, 1e20, Decimal("-3"), False, dt.date(1, 1, 1),
     dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), dt.datetime(2020, 3, 1, 0, 0, 0, 1), "", None),
    (4, "ash", 0, 1e-7, -1.5, Decimal("0.01"), False, dt.date(9999, 12, 31),
     dt.datetime(2020, 1, 2, tzinfo=UTC), dt.datetime(1999, 12, 31, 12, 0, 0, 100), "10", None),
]  # fmt: skip


def of(df: Any, **how: Any) -> Any:
    return documents_of(df, how.pop("fields", Schema()), **how)


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.createDataFrame(ROWS, KINDS)


def test_a_column_of_any_type_is_ranked_as_in_a_local_run(spark: Any, rows: Any) -> None:
    names = [name for name in rows.columns if name != "text"]
    values = to_arrow(rows)
    found = [of(rows, keep=Keep.parse(f"largest:{name}")).rows.select("extra") for name in names]
    joined = found[0]
    for one in found[1:]:
        joined = joined.union(one)
    extras = joined.toPandas()["extra"].tolist()
    for at, name in enumerate(names):
        column = values.column(name)
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp("us", "UTC"))
        expected = [json_bytes(value) for value in column.to_pylist()]
        told = extras[at * len(ROWS) : (at + 1) * len(ROWS)]
        assert [None if one is None else parsed(one.encode()) for one in told] == [
            None if one is None else parsed(one) for one in expected
        ], name


@pytest.mark.parametrize("column", ["n", "day", "at", "clock", "s"])
def test_places_have_the_order_of_their_column(rows: Any, column: str) -> None:
    found = to_arrow(of(rows, order_by=column).rows)
    values = dict(zip((row[0] for row in ROWS), to_arrow(rows).column(column).to_pylist(), strict=True))
    places = dict(zip(found.column("id").to_pylist(), found.column("place").to_pylist(), strict=True))
    known = [one for one in values if values[one] is not None]
    assert [one for one in values if places[one] is None] == [2]
    assert sorted(known, key=lambda one: places[one]) == sorted(known, key=lambda one: values[one])


def test_times_that_differ_in_a_microsecond_have_places_that_do(spark: Any) -> None:
    df = spark.sql(
        "SELECT id, '' AS text, timestamp_ntz'1965-04-05 06:07:08.000009' + make_dt_interval(0, 0, 0, id / 1e6) AS at "
        "FROM range(3)"
    )
    places = [row.place for row in of(df, order_by="at").rows.orderBy("id").collect()]
    since = dt.datetime(1965, 4, 5, 6, 7, 8, 9) - dt.datetime(1970, 1, 1)
    assert places == [since // dt.timedelta(microseconds=1) + at for at in range(3)]


def test_without_an_order_documents_stand_in_that_of_their_ids(spark: Any) -> None:
    numbers = of(made.frame(spark, [(7, "oak")], "id tinyint, text string"))
    texts = of(made.frame(spark, [("é", "oak")], "id string, text string"))
    (seven,), (word,) = to_arrow(numbers.rows).to_pylist(), to_arrow(texts.rows).to_pylist()
    assert (seven["number"], seven["id"], seven["place"], numbers.columns) == (
        7,
        7,
        7,
        {"id": "bigint", "place": "bigint"},
    )
    assert (word["id"], word["place"], texts.columns) == ("é", "é", {"id": "string", "place": "string"})
    assert word["number"] not in (None, 42)
    assert (word["extra"], word["source"], word["field_0"]) == (None, 0, "oak")


def test_an_id_that_is_missing_gives_no_number(spark: Any) -> None:
    df = made.frame(spark, [(None, "oak")], "id string, text string")
    assert [row.number for row in of(df).rows.collect()] == [None]


@pytest.mark.parametrize(
    "schema, how, error, said",
    [
        ("doc string, text string", {}, SettingsError, r"no column \"id\": name the column of ids"),
        ("id string, text string", {"id": "url"}, InputError, r'no column "url": use one of \(id, text\)'),
        ("id string, body string", {}, InputError, r'no column "text": use one of \(id, body\)'),
        ("id string, Text string", {}, InputError, r'no column "text": use one of \(id, Text\)'),
        ("id string, text int", {}, InputError, 'column "text" of the DataFrame has the type int, not text'),
        ("id string, text array<string>", {}, InputError, "has the type array<string>, not text"),
        (
            "id decimal(20,0), text string", {}, InputError,
            r"has the type decimal\(20,0\), but ids are strings or 64-bit integers",
        ),
        ("id double, text string", {}, InputError, "has the type double, but ids are strings"),
        ("id int, text string, x double", {"order_by": "x"}, InputError, "has the type double, which has no order"),
        ("id int, text string", {"order_by": "x"}, InputError, 'no column "x"'),
        ("id int, text string", {"keep": Keep.parse("largest:x")}, InputError, 'no column "x"'),
        ("id int, text string, x binary", {"keep": Keep.parse("largest:x")}, InputError, "cannot rank column"),
        ("id int, text string", {"keep": Keep.parse("source:a")}, SettingsError, "a DataFrame has none: use a column"),
        ("id int, text string", {"on_error": "ignore"}, SettingsError, 'must be "stop" or "skip"'),
        ("id int, tags array<double>", {"fields": Schema(tags=ValueSet())}, InputError, "array<double>, not lists"),
        (
            "id int, p int", {"fields": Schema(p=Image())}, InputError,
            "has the type int, not paths or contents of images",
        ),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_read_are_refused(
    spark: Any, schema: str, how: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        of(spark.createDataFrame([], schema), **dict(how))


@pytest.mark.parametrize(
    "schema, fields",
    [
        ("id int, text binary", Schema()),
        ("id int, text void", Schema()),
        ("id int, tags array<string>", Schema(tags=ValueSet())),
        ("id int, tags array<bigint>", Schema(tags=ValueSet())),
        ("id int, p string", Schema(p=Image())),
        ("id int, p struct<bytes: binary, path: string>", Schema(p=Image())),
    ],
)
def test_columns_that_can_be_read_are_taken(spark: Any, schema: str, fields: Schema) -> None:
    assert of(spark.createDataFrame([], schema), fields=fields).columns["id"] == "bigint"


def test_two_columns_of_one_name_are_refused(spark: Any) -> None:
    df = spark.sql("SELECT 1 AS id, 'a' AS text, 'b' AS text")
    with pytest.raises(InputError, match='the DataFrame has 2 columns "text": rename all but one'):
        of(df)


def test_names_with_dots_and_quotes_are_read_as_they_are(spark: Any) -> None:
    df = spark.sql("SELECT 1 AS `a.id`, 'oak' AS `the ``text``.x`, date'2020-01-01' AS `d.d`")
    documents = of(df, id="a.id", text="the `text`.x", order_by="d.d", keep=Keep.parse("largest:d.d"))
    (row,) = documents.rows.collect()
    assert (row.id, row.field_0, row.extra) == (1, "oak", '"2020-01-01"')
    assert documents.df.select(documents.number).collect()[0][0] == 1


def test_wanted_documents_come_once_for_each_row_that_wants_them(spark: Any) -> None:
    df = made.frame(spark, [(at, f"text {at}", at * 2) for at in range(5)], "id int, text string, more int")
    members = made.frame(spark, [(8, 3), (9, 3), (8, 1), (8, 77)], "block bigint, number bigint")
    documents = of(df)
    for count in (None, 4):
        found = documents.wanted(members, ["more"], count=count)
        assert found.columns == ["block", "number", "id", "place", "extra", "source", "field_0", "more"]
        rows = sorted((row.block, row.number, row.field_0, row.more) for row in found.collect())
        assert rows == [(8, 1, "text 1", 2), (8, 3, "text 3", 6), (9, 3, "text 3", 6)]


def test_only_the_columns_that_are_needed_are_read(
    spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    made.frame(spark, [(1, "oak", "x")], "id int, text string, unread string").write.parquet(
        str(tmp_path / "a")
    )
    of(spark.read.parquet(str(tmp_path / "a"))).rows.explain()
    plan = capsys.readouterr().out
    assert "unread" not in plan
    assert "text" in plan


def test_files_below_a_dataframe_tell_it_from_another(spark: Any, tmp_path: Any) -> None:
    facts = []
    for name in ("a", "b", "a"):
        made.frame(spark, [(1, "oak")]).write.mode("ignore").parquet(str(tmp_path / name))
        facts.append(of(spark.read.parquet(str(tmp_path / name))).facts())
    assert facts[0] == facts[2] != facts[1]
    assert facts[0]["files"]["count"] > 0


def test_a_field_may_have_the_name_of_a_column_of_ids() -> None:
    contents = ["oak elm fir", "elm"]
    found = corpus_of_batch(Schema(id=Text()), pa.table({"field_0": contents}))
    assert not set(found.corpus.ids()) & set(contents)
    assert [found.corpus.text(at, 0) for at in range(2)] == contents


def test_a_batch_is_read_as_the_same_table_is_locally() -> None:
    schema = Schema(text=Text(), tags=ValueSet())
    table = pa.table({"field_1": [["a"], [], None], "number": [1, 2, 3], "field_0": ["oak elm", None, "fir"]})
    batch = corpus_of_batch(schema, table)
    assert [batch.corpus.text(at, 0) for at in range(3)] == ["oak elm", None, "fir"]
    assert batch.corpus.missing(1).tolist() == [False, False, True]
    assert (batch.rows.tolist(), batch.malformed) == ([0, 1, 2], {})


def test_pictures_that_cannot_be_read_are_malformed_rows() -> None:
    batch = corpus_of_batch(Schema(p=Image()), pa.table({"field_0": [b"no picture", None]}))
    assert (len(batch.corpus), batch.rows.tolist(), list(batch.malformed)) == (1, [1], [0])


def test_a_picture_is_read_from_a_struct_with_other_parts(spark: Any) -> None:
    """As `binaryFile` gives them, with the time of change, which has a time zone that nobody needs."""
    pictures = [as_file(scene(seed), "PNG") for seed in (1, 1, 2)]
    now = dt.datetime(2020, 1, 2, tzinfo=UTC)
    rows = [(number, (bytearray(one), None, now)) for number, one in enumerate(pictures)]
    df = spark.createDataFrame(
        [*rows, (3, None)], "id int, p struct<bytes: binary, path: string, changed: timestamp>"
    )
    found = find_duplicates(df, schema=Schema(p=Image()), threshold=0.9)
    contents = [*pictures, None]
    local = benzer.find_duplicates(
        [(number, {"p": one}) for number, one in enumerate(contents)], schema=Schema(p=Image()), threshold=0.9
    )
    assert found.counts == local.counts
    assert (found.counts["identical"], found.counts["empty"]) == (1, 1)


def test_texts_of_bounded_length_are_texts(spark: Any) -> None:
    spark.conf.set("spark.sql.preserveCharVarcharTypeInfo", "true")
    texts = ["oak elm", "fir"]
    df = spark.createDataFrame(list(enumerate(texts)), "id int, text string")
    df = df.selectExpr("id", "cast(text AS varchar(100)) AS text")
    spark.conf.unset("spark.sql.preserveCharVarcharTypeInfo")
    assert "varchar" in df.schema["text"].dataType.simpleString()
    documents = of(df)
    sketches = to_arrow(sketch(made.run_of(documents), documents))
    assert sketches["state"].to_pylist() == [SHORT, SHORT]
