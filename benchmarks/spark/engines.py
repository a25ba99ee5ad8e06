"""The measured engines: Spark MLlib, Benzer on Spark, and Benzer on this machine, from files to a result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.spark.events import events, work_of
from benchmarks.spark.scores import digest
from benchmarks.spark.session import started

Task = dict[str, Any]
Answer = dict[str, Any]
Told = Callable[[], Answer]

HASHED = 1 << 20
SEED = 1
ALONE = r"\p{IsHan}\p{IsHiragana}\p{IsKatakana}\p{IsThai}\p{IsLao}\p{IsKhmer}\p{IsMyanmar}"
WORDS = rf"[{ALONE}]|[\p{{L}}\p{{N}}\p{{M}}&&[^{ALONE}]]+"
"""Words as Benzer reads them: runs of letters, numbers and marks; alone each character of a script without spaces."""


COLUMNS = {"pairs": ["left_id", "right_id", "similarity"], "removed": ["id", "kept_id", "similarity"]}
"""What of an answer is brought to the driver within the time."""


@contextmanager
def timed() -> Iterator[Answer]:
    """The start and end of the block, and its seconds."""
    clock: Answer = {"started": time.time()}
    begun = time.perf_counter()
    yield clock
    clock |= {"seconds": time.perf_counter() - begun, "ended": time.time()}


def on_spark(task: Task, once: Callable[[Any, list[str], Task], Told]) -> Answer:
    """Run the job `once` on the small table first, because the first job of a JVM is slower, then on the large one,
    timed.

    The job returns a function that collects the result, which is not timed.
    """
    with TemporaryDirectory(dir=task["scratch"]) as folder:
        log = Path(folder) / "events"
        log.mkdir()
        begun = time.perf_counter()
        spark = started(task["master"], task["memory"], log, Path(folder), **task["settings"])
        up = time.perf_counter() - begun
        once(spark, task["warm"], task)()
        runs, answers = [], []
        for _ in range(task.get("times", 1)):
            with timed() as clock:
                tell = once(spark, task["paths"], task)
            answers.append(tell())
            runs.append(clock)
        spark.stop()
        all_events = list(events(log))
        work = [work_of(all_events, run["started"], run["ended"]).as_dict() for run in runs]
        return {
            **runs[0],
            **answers[0],
            "up": up,
            "work": work[0],
            "seconds_of_runs": [run["seconds"] for run in runs],
        }


def mllib(task: Task) -> Answer:
    """RegexTokenizer, NGram, HashingTF, MinHashLSH, and its own join by similarity; pairs as ids."""
    return on_spark(task, _mllib_pairs)


def _mllib_pairs(spark: Any, paths: list[str], task: Task) -> Told:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer

    documents = spark.read.parquet(*paths).repartition(task["partitions"])
    tokens = RegexTokenizer(inputCol="text", outputCol="words", pattern=WORDS, gaps=False, toLowercase=True)
    shingles = NGram(n=task["shingle_size"], inputCol="words", outputCol="shingles")
    shingled = Pipeline(stages=[tokens, shingles]).fit(documents).transform(documents)
    # MinHashLSH ends with an error at an empty set
    sets = HashingTF(inputCol="shingles", outputCol="set", numFeatures=HASHED, binary=True).transform(
        shingled.where("size(shingles) > 0")
    )
    sets = sets.select("id", "set")
    model = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=task["tables"], seed=SEED).fit(sets)
    sketched = model.transform(sets).persist()
    joined = model.approxSimilarityJoin(sketched, sketched, 1 - task["threshold"], distCol="distance")
    pairs = joined.where("datasetA.id < datasetB.id").selectExpr("datasetA.id a", "datasetB.id b").collect()
    sketched.unpersist()
    return lambda: {"pairs": [(int(left), int(right)) for left, right in pairs]}


def benzer_on_spark(task: Task) -> Answer:
    """`benzer.spark.find_duplicates`; pairs and removals brought to the driver."""
    return on_spark(task, _benzer_answer)


def _benzer_answer(spark: Any, paths: list[str], task: Task) -> Told:
    from benzer.spark import find_duplicates

    asked = {name: task[name] for name in ("threshold", "recall")}
    found = find_duplicates(spark.read.parquet(*paths), text="text", id="id", **asked)
    return _brought(found, task)


def benzer_of_files(task: Task) -> Answer:
    """The same with `benzer.spark.read_files`, which reads files natively, as `benzer dedupe --engine spark` does."""
    return on_spark(task, _benzer_answer_of_files)


def _benzer_answer_of_files(spark: Any, paths: list[str], task: Task) -> Told:
    from benzer.spark import find_duplicates, read_files

    asked = {name: task[name] for name in ("threshold", "recall")}
    found = find_duplicates(read_files(spark, paths, text="text", id="id"), **asked)
    return _brought(found, task, plain_ids)


def _brought(found: Any, task: Task, plain: Callable[[Any], Any] = lambda table: table) -> Told:
    """The result's tables on the driver; cached tables of the run are released, so that the next run has the same
    memory.
    """
    tables = [getattr(found, name).select(*columns).toArrow() for name, columns in COLUMNS.items()]
    counts = dict(found.counts)

    def tell() -> Answer:
        found.release()
        return {"stages": dict(found.timings), **told([plain(table) for table in tables], counts, task)}

    return tell


def plain_ids(table: Any) -> Any:
    """Ids of files are JSON, because a file may have both texts and integers; this decodes them."""
    for at, one in enumerate(table.schema):
        if one.name.endswith("id"):
            ids = [json.loads(id) for id in table.column(at).to_pylist()]
            table = table.set_column(at, one.name, pa.array(ids))
    return table


def benzer_local(task: Task) -> Answer:
    """`benzer.find_duplicates` on the same files, with the given number of threads."""
    import benzer

    asked = {name: task[name] for name in ("threshold", "recall", "threads")}
    with timed() as clock:
        found = benzer.find_duplicates([Path(path) for path in task["paths"]], text="text", id="id", **asked)
        tables = [found.to_arrow(name).select(columns) for name, columns in COLUMNS.items()]
    shape = {
        "copies": int((found.stands_for != np.arange(len(found.stands_for))).sum()),
        "candidates": len(found.proposed),
        "members": len(np.unique(np.concatenate((found.proposed.left, found.proposed.right)))),
        "bands": found.bands.bands,
        "rows": found.bands.rows,
    }
    return {**clock, "stages": dict(found.timings), "shape": shape, **told(tables, found.counts, task)}


def told(tables: list[Any], counts: dict[str, int], task: Task) -> Answer:
    """The result in short: digests of pairs and removals, and the pairs themselves if they are needed."""
    pairs, removed = (list(zip(*table.to_pydict().values(), strict=True)) for table in tables)
    answer: Answer = {"pairs_digest": digest(pairs), "removed_digest": digest(removed), "counts": counts}
    return answer | ({"pairs": [row[:2] for row in pairs]} if task.get("with_pairs") else {})


ENGINES: dict[str, Callable[[Task], Answer]] = {
    "mllib": mllib,
    "benzer on Spark": benzer_on_spark,
    "benzer on Spark, files": benzer_of_files,
    "benzer": benzer_local,
}
