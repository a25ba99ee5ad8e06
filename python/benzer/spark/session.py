"""The Spark session and its configuration: PySpark 3.5 to 4, classic or Spark Connect."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from benzer.errors import InputError, MissingExtraError
from benzer.registry import require
from benzer.spark.tasks import ArrowTask

OLDEST, FIRST_UNKNOWN = (3, 5), (5, 0)
JAVA = 17
BATCH_ROWS, BATCH_BYTES = 4_096, 32 << 20
"""Maximum bytes of a batch: with Spark's default of 10,000 rows, long texts would need gigabytes."""

PLANNED_BYTES = 1 << 16
"""Maximum size of tables that become part of a Spark plan. Above it, planning the next stage takes longer than fetching
them: 0.65 s instead of 0.17 s with 112,000 rows of three numbers."""

PACKED = "part binary"
PART_BYTES = 8 << 20


def require_spark() -> ModuleType:
    """Import PySpark; if it is missing or its version is not supported, the error names the package to install.

    >>> require_spark().__name__
    'pyspark'
    """
    require("pyarrow", extra="spark", purpose="runs on Spark")
    pyspark = require("pyspark", extra="spark", purpose="runs on Spark")
    version = tuple(int(part) for part in re.findall(r"\d+", pyspark.__version__)[:2])
    if not OLDEST <= version < FIRST_UNKNOWN:
        raise MissingExtraError(
            f"runs on Spark need pyspark 3.5 to 4, but {pyspark.__version__} is installed: pip install 'benzer[spark]'"
        )
    return pyspark


def is_connect(spark: Any) -> bool:
    """Whether a session (or a DataFrame) is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def session_of(df: Any) -> Any:
    """The session of a DataFrame; `InputError` for anything else."""
    require_spark()
    if not type(df).__module__.startswith("pyspark.sql.") or not hasattr(df, "mapInArrow"):
        raise InputError(
            f"a run on Spark needs a Spark DataFrame, got {type(df).__name__}: create one with "
            f"spark.createDataFrame or spark.read, or call benzer.find_duplicates"
        )
    return df.sparkSession


@contextmanager
def configured(spark: Any, partitions: int | None = None) -> Iterator[Any]:
    """Configure the session for a run and restore it at the end.

    The size of batches is limited, which does not affect the result. partitions: number of tasks of a shuffle; None
    for the current setting.
    """
    rows = int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch", None) or BATCH_ROWS)
    wanted = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": BATCH_ROWS if rows <= 0 else min(rows, BATCH_ROWS),
        "spark.sql.execution.arrow.maxBytesPerBatch": BATCH_BYTES,  # since Spark 4.1; unknown before
        "spark.sql.execution.arrow.localRelationThreshold": PLANNED_BYTES,
    }
    if partitions is not None:
        wanted["spark.sql.shuffle.partitions"] = partitions
    before: dict[str, str | None] = {}
    try:
        for name, value in wanted.items():
            _set(spark, name, str(value), before)
        yield spark
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def bounds_bytes(spark: Any) -> bool:
    """Whether Spark bounds the bytes of a batch, as it does since 4.1, or its rows alone."""
    return tuple(int(part) for part in re.findall(r"\d+", spark.version)[:2]) >= (4, 1)


def _set(spark: Any, name: str, value: str, before: dict[str, str | None]) -> None:
    from pyspark.errors import PySparkException

    try:
        old = spark.conf.get(name, None)
        spark.conf.set(name, value)
    except PySparkException:  # managed services allow few settings; none of these is required
        return
    before[name] = old


def from_arrow(spark: Any, table: Any) -> Any:
    """A DataFrame of an Arrow table; integers and nulls are preserved."""
    if tuple(map(int, require_spark().__version__.split(".")[:1])) >= (4,):
        return spark.createDataFrame(table)
    return from_parts(spark, table)


def to_arrow(df: Any) -> Any:
    """All rows of a DataFrame as an Arrow table, on the driver."""
    return df.toArrow() if hasattr(df, "toArrow") else to_parts(df)


def from_parts(spark: Any, table: Any) -> Any:
    """The same before PySpark 4, as Arrow bytes, because conversion through pandas would turn integers into floats."""
    from pyspark.sql.pandas.types import from_arrow_schema

    rows = max(1, table.num_rows * PART_BYTES // max(1, table.nbytes))
    parts = [(packed(batch),) for batch in table.to_batches(max_chunksize=rows)]
    return spark.createDataFrame(parts, PACKED).mapInArrow(ArrowTask(unpack), from_arrow_schema(table.schema))


def to_parts(df: Any) -> Any:
    """The inverse of `from_parts`."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    rows = df.mapInArrow(ArrowTask(pack), PACKED).collect()
    tables = [pa.ipc.open_stream(bytes(row.part)).read_all() for row in rows]
    return pa.concat_tables(tables) if tables else to_arrow_schema(df.schema).empty_table()


def packed(batch: Any) -> bytes:
    """A record batch as an Arrow stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def pack(batches: Iterator[Any]) -> Iterator[Any]:
    """A worker that converts each batch to one row."""
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            yield pa.record_batch([pa.array([packed(batch)], pa.binary())], names=["part"])


def unpack(batches: Iterator[Any]) -> Iterator[Any]:
    """A worker that converts each row back to its batch."""
    import pyarrow as pa

    for batch in batches:
        for part in batch.column(0):
            yield from pa.ipc.open_stream(part.as_buffer())


LOOPBACK = "127.0.0.1"
SOCKET_FOLDER = 50


def local_session(master: str = "local[*]", memory: str | None = None, **confs: str) -> Any:
    """Start a quiet session without web UI, or return the active one.

    Args:
        master: The Spark master.
        memory: Memory of the driver, such as "4g"; with a local master the driver does all the work.
        confs: Spark settings with `__` instead of each dot.
    """
    require_spark()
    check_java()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    builder = SparkSession.builder.master(master).appName("benzer")
    for name, value in settings_for(master, memory, confs).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def settings_for(master: str, memory: str | None, confs: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session: a local one is reachable only from this machine.

    >>> "spark.driver.host" in settings_for("local[2]", None, {})
    True
    >>> settings_for("spark://host:7077", "4g", {"spark__executor__memory": "8g"})["spark.executor.memory"]
    '8g'
    """
    alone = {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.sql.shuffle.partitions": str(shuffled(master)),
        **sockets(tempfile.gettempdir()),
    }
    return {
        **(alone if master.startswith("local") else {}),
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **({} if memory is None else {"spark.driver.memory": memory}),
        **{name.replace("__", "."): value for name, value in confs.items()},
    }


def shuffled(master: str) -> int:
    """Number of tasks of a shuffle on this machine: four per core, at least eight; Spark's default is 200.

    A shuffle from 200 tasks to 200 tasks takes 5 s on two cores even for little data.

    >>> shuffled("local[2]"), shuffled("local[16, 3]"), shuffled("local")
    (8, 64, 8)
    """
    cores = re.match(r"local\[\s*(\d+)", master)
    count = int(cores[1]) if cores else (os.cpu_count() or 1) if "*" in master else 1
    return max(8, 4 * count)


def sockets(folder: str) -> dict[str, str]:
    """Local workers receive batches through Unix sockets instead of the network: 14 s instead of 15 s with 1 GB.

    Supported since Spark 4.1. Paths of sockets are limited to 104 or 108 bytes, including the name.

    >>> sockets("/tmp")["spark.python.unix.domain.socket.dir"]
    '/tmp'
    >>> sockets("/tmp/" + 20 * "long")
    {}
    """
    if len(os.fsencode(folder)) > SOCKET_FOLDER:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": folder,
    }


def check_java() -> None:
    """Check that Java is installed for local Spark, to raise a short error instead of a trace of a failed process."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    cure = "apt-get install openjdk-17-jre-headless on Debian or Ubuntu, or set JAVA_HOME to its folder"
    if shutil.which(java) is None:
        where = f"JAVA_HOME, {home}, has no bin/java" if home else "there is no java"
        raise MissingExtraError(f"Spark on this machine needs Java {JAVA}, and {where}: {cure}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    if match and int(match[1]) < JAVA:
        raise MissingExtraError(f"Spark on this machine needs Java {JAVA}, and {java} is {match[1]}: {cure}")
