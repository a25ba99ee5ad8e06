"""Expressions that convert columns of Spark types to ids, places, and the values of keep rules."""

from __future__ import annotations

from typing import Any

INTEGERS = ("ByteType", "ShortType", "IntegerType", "LongType")
FRACTIONS = ("FloatType", "DoubleType", "DecimalType")
TIMES = ("DateType", "TimestampType", "TimestampNTZType")
TEXTS = ("StringType", "CharType", "VarcharType")
PICTURE = ("bytes", "path")
"""The parts of an image struct that are read; others, such as the modification time, are ignored."""
DAY, HOUR, MINUTE, SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000


def kind_of(data_type: Any) -> str:
    """The class name of a type, which is the same in all versions of PySpark."""
    return type(data_type).__name__


def quoted(name: str) -> str:
    """The exact name of a column quoted for SQL, including dots and quotes.

    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Any:
    """A column by its exact name."""
    from pyspark.sql import functions as F

    return F.col(quoted(name))


def reads_as(data_type: Any, kind: str) -> bool:
    """Whether a column of this type can be read as a field of this kind."""
    name = kind_of(data_type)
    if name == "NullType":
        return True
    if kind == "values":
        return name == "ArrayType" and kind_of(data_type.elementType) in (*TEXTS, *INTEGERS, "NullType")
    parts = {part.name for part in data_type} if kind == "image" and name == "StructType" else set()
    return name in (*TEXTS, "BinaryType") or bool(parts & {*PICTURE})


def content(name: str, data_type: Any) -> Any:
    """A column of contents as plain texts, bytes, lists and images, which all versions support."""
    from pyspark.sql import functions as F

    value, kind = column(name), kind_of(data_type)
    if kind in TEXTS:
        return value.cast("string")
    if kind == "ArrayType" and kind_of(data_type.elementType) in TEXTS:
        return value.cast("array<string>")
    parts = [part.name for part in data_type if part.name in PICTURE] if kind == "StructType" else []
    if not parts:
        return value
    return F.when(value.isNotNull(), F.struct(*(value.getField(part).alias(part) for part in parts)))


def id_type(data_type: Any) -> str | None:
    """The type in which ids of this type are transferred; None if they are not ids."""
    return "bigint" if kind_of(data_type) in INTEGERS else "string" if kind_of(data_type) in TEXTS else None


def number(name: str, id_type: str) -> Any:
    """The number of a document by its id: the integer itself, or the hash of a string; null remains null."""
    from pyspark.sql import functions as F

    if id_type == "bigint":
        return column(name).cast("bigint")
    return F.when(column(name).isNotNull(), F.xxhash64(column(name).cast("string")))


def place_type(data_type: Any) -> str | None:
    """The type in which places of this type are transferred; None if they are not places."""
    name = kind_of(data_type)
    return "bigint" if name in (*INTEGERS, *TIMES) else "string" if name in TEXTS else None


def place(name: str, data_type: Any) -> Any:
    """The place of a document by a column: integers by value, texts by bytes, times by microseconds."""
    return (
        microseconds(name, data_type)
        if kind_of(data_type) in TIMES
        else column(name).cast(str(place_type(data_type)))
    )


def microseconds(name: str, data_type: Any) -> Any:
    """Microseconds since 1970, independent of the time zone of the session."""
    from pyspark.sql import functions as F

    if kind_of(data_type) == "TimestampType":
        return F.unix_micros(column(name))
    days = F.datediff(column(name).cast("date"), F.lit("1970-01-01").cast("date")).cast("bigint") * DAY
    if kind_of(data_type) == "DateType":
        return days
    seconds = F.expr(f"extract(SECOND FROM {quoted(name)})")  # including fractions
    within = F.hour(column(name)) * F.lit(HOUR) + F.minute(column(name)) * F.lit(MINUTE)
    return days + within + (seconds * SECOND).cast("bigint")


def ranks(data_type: Any) -> bool:
    """Whether a keep rule can use a column of this type."""
    return kind_of(data_type) in (*INTEGERS, *FRACTIONS, *TIMES, *TEXTS, "BooleanType", "NullType")


def as_json(name: str, data_type: Any) -> Any:
    """A value as JSON, equal after parsing to the result of `benzer.sources.rows.json_bytes`."""
    from pyspark.sql import functions as F

    value, kind = column(name), kind_of(data_type)
    if kind in TIMES:
        text = value.cast("string") if kind == "DateType" else iso(name, data_type)
        return F.concat(F.lit('"'), text, F.lit('"'))
    if kind in TEXTS:
        listed = F.to_json(F.array(value.cast("string")))
        return F.when(value.isNotNull(), listed.substr(F.lit(2), F.length(listed) - 2))
    if kind in FRACTIONS:
        value = value.cast("double")
        value = F.when(~F.isnan(value) & (F.abs(value) != float("inf")), value)
    return value.cast("string")


def iso(name: str, data_type: Any) -> Any:
    """A time as in Python's `isoformat`; a time with a time zone is converted to UTC."""
    from pyspark.sql import functions as F

    micros = microseconds(name, data_type)
    rest = F.pmod(micros, F.lit(DAY))
    day = F.round((micros - rest) / DAY).cast("int")
    clock = [F.floor(F.pmod(rest, F.lit(above)) / unit) for above, unit in ((DAY, HOUR), (HOUR, MINUTE))]
    second = F.floor(F.pmod(rest, F.lit(MINUTE)) / SECOND)
    part = F.pmod(rest, F.lit(SECOND))
    return F.concat(
        F.date_add(F.lit("1970-01-01").cast("date"), day).cast("string"),
        F.format_string("T%02d:%02d:%02d", *clock, second),
        F.when(part == 0, "").otherwise(F.format_string(".%06d", part)),
        F.lit("+00:00" if kind_of(data_type) == "TimestampType" else ""),
    )
