"""Which Spark is there, and what does a run set in it? PySpark 3.5 to 4, classic or over Spark Connect."""

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
from benzer.spark.tasks import Task

OLDEST, FIRST_UNKNOWN = (3, 5), (5, 0)
JAVA = 17
BATCH_ROWS, BATCH_BYTES = 4_096, 32 << 20
"""How much a worker gets at a time: 10,000 rows, as Spark has it, would be gigabytes of long texts."""

PLANNED_BYTES = 1 << 16
"""Tables handed to Spark up to this size are part of its plans. Above it, to plan the next stage takes longer than to
fetch them: 0.65 s instead of 0.17 with 112,000 rows of three numbers."""

PACKED = "part binary"
PART_BYTES = 8 << 20


def require_spark() -> ModuleType:
    """PySpark; where it is missing or of an unknown version, the error says what to install.

    >>> require_spark().__name__
    'pyspark'
    """
    require("pyarrow", extra="spark", purpose="runs on Spark")
    pyspark = require("pyspark", extra="spark", purpose="runs on Spark")
    version = tuple(int(part) for part in re.findall(r"\d+", pyspark.__version__)[:2])
    if not OLDEST <= version < FIRST_UNKNOWN:
        raise MissingExtraError(
            f"runs on Spark need pyspark 3.5 to 4, and {pyspark.__version__} is installed: pip install 'benzer[spark]'"
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
            f"a run on Spark takes a DataFrame of Spark, got {type(df).__name__}: make one with "
            f"spark.createDataFrame or spark.read, or call benzer.find_duplicates"
        )
    return df.sparkSession


@contextmanager
def configured(spark: Any, partitions: int | None = None) -> Iterator[Any]:
    """The session, set as a run needs it, and set back at the end.

    Batches are bounded, which changes no answer. partitions: tasks of a shuffle, if not those that are set.
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
    except PySparkException:  # services that run Spark for others allow few settings; none of these is needed
        return
    before[name] = old


def from_arrow(spark: Any, table: Any) -> Any:
    """A DataFrame of an Arrow table: integers and nulls stay what they are."""
    if tuple(map(int, require_spark().__version__.split(".")[:1])) >= (4,):
        return spark.createDataFrame(table)
    return from_parts(spark, table)


def to_arrow(df: Any) -> Any:
    """All rows of a DataFrame as an Arrow table, on the driver."""
    return df.toArrow() if hasattr(df, "toArrow") else to_parts(df)


def from_parts(spark: Any, table: Any) -> Any:
    """The same before PySpark 4, whose way through pandas would make floats of integers: as Arrow's own bytes."""
    from pyspark.sql.pandas.types import from_arrow_schema

    rows = max(1, table.num_rows * PART_BYTES // max(1, table.nbytes))
    parts = [(packed(batch),) for batch in table.to_batches(max_chunksize=rows)]
    return spark.createDataFrame(parts, PACKED).mapInArrow(Task(unpack), from_arrow_schema(table.schema))


def to_parts(df: Any) -> Any:
    """As `from_parts`, the other way."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    rows = df.mapInArrow(Task(pack), PACKED).collect()
    tables = [pa.ipc.open_stream(bytes(row.part)).read_all() for row in rows]
    return pa.concat_tables(tables) if tables else to_arrow_schema(df.schema).empty_table()


def packed(batch: Any) -> bytes:
    """A record batch as a stream of Arrow's."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def pack(batches: Iterator[Any]) -> Iterator[Any]:
    """Each batch as one row; what a worker runs."""
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            yield pa.record_batch([pa.array([packed(batch)], pa.binary())], names=["part"])


def unpack(batches: Iterator[Any]) -> Iterator[Any]:
    """Each row as the batch that it holds; what a worker runs."""
    import pyarrow as pa

    for batch in batches:
        for part in batch.column(0):
            yield from pa.ipc.open_stream(part.as_buffer())


LOOPBACK = "127.0.0.1"
SOCKET_FOLDER = 50


def local_session(master: str = "local[*]", memory: str | None = None, **confs: str) -> Any:
    """A session that is started here, quiet and without pages; the one that is active, if there is one.

    memory: of the driver, which on a local master does everything, such as "4g". confs: settings of Spark, with `__`
    for each dot.
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
    """The settings of a session: on this machine it is reached by nobody else; on others it must be.

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
    """Tasks of a shuffle on this machine: four a core, at least eight, where Spark has 200 for a cluster.

    A shuffle from 200 tasks to 200 takes 5 s on two cores, however little there is to do.

    >>> shuffled("local[2]"), shuffled("local[16, 3]"), shuffled("local")
    (8, 64, 8)
    """
    cores = re.match(r"local\[\s*(\d+)", master)
    count = int(cores[1]) if cores else (os.cpu_count() or 1) if "*" in master else 1
    return max(8, 4 * count)


def sockets(folder: str) -> dict[str, str]:
    """Workers of this machine get their batches by sockets in a folder, not of the network: 1 s less of 15 with 1 GB.

    Known since Spark 4.1. A long path is none for a socket: systems end at 104 or 108 bytes, and a name comes to it.

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
    """Spark that is started here needs Java: say so in one sentence, not in a trace of a process that ended."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    cure = "apt-get install openjdk-17-jre-headless on Debian or Ubuntu, or let JAVA_HOME say where it is"
    if shutil.which(java) is None:
        where = f"JAVA_HOME, {home}, has no bin/java" if home else "there is no java"
        raise MissingExtraError(f"Spark on this machine needs Java {JAVA}, and {where}: {cure}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found and int(found[1]) < JAVA:
        raise MissingExtraError(f"Spark on this machine needs Java {JAVA}, and {java} is {found[1]}: {cure}")
