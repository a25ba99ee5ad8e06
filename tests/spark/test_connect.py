"""Over Spark Connect the same run gives the same answer: it needs a process, and a server, of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benzer import find_duplicates

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession
import benzer

folder = sys.argv[1]
spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
df = spark.read.parquet(f"{folder}/documents")
found = benzer.spark.find_duplicates(df, keep="longest")
benzer.spark.write_collection(found.kept(), f"{folder}/kept.benzer")
again = benzer.spark.find_similar(df, f"{folder}/kept.benzer", identified=False, limit=1)
told = {
    "session": type(spark).__module__,
    "counts": found.counts,
    "removed": [[row.id, row.kept_id, row.similarity] for row in found.removed.collect()],
    "pairs": [list(row) for row in found.pairs.collect()],
    "alarms": len(found.alarms()),
    "like": sorted(row.query_id for row in again.collect()),
}
print(json.dumps(told))
spark.stop()
"""


def test_a_run_over_spark_connect_is_that_of_a_local_run(tmp_path: Path) -> None:
    words = " ".join(f"word{at}" for at in range(30))
    texts = {f"d{at:02}": f"{words} of{at // 4} m{at % 4} {'more ' * (at % 3)}" for at in range(24)}
    texts |= {"copy": texts["d03"].upper(), "none": "", "short": "one"}
    (tmp_path / "documents").mkdir()
    pq.write_table(
        pa.table({"id": list(texts), "text": list(texts.values())}), tmp_path / "documents" / "a.parquet"
    )
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    local = find_duplicates(dict(sorted(texts.items())), keep="longest")
    assert told["session"].startswith("pyspark.sql.connect")
    assert told["counts"] == local.counts
    assert {id: (kept, like) for id, kept, like in told["removed"]} == {
        id: tuple(one) for id, one in local.removed.items()
    }
    assert sorted(map(tuple, told["pairs"])) == sorted(map(tuple, local.pairs))
    assert told["alarms"] == len(local.alarms())
    assert set(local.kept) - {"none"} <= set(told["like"])  # each is like itself
