"""Benzer on Spark compared with Spark MLlib at equal recall, and the growth of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.spark.cells import Cell
from benchmarks.spark.plan import THRESHOLD, Plan, failed
from benchmarks.spark.processes import run_child
from benchmarks.spark.scores import PairOfIds, expanded, ordered, pair_score

SIZES = (10_000, 50_000, 100_000)
WARM = 500
SHINGLE_SIZE = 3
MOST_TABLES = 4
TIMES = 3
ONCE_ABOVE = 60.0
Row = dict[str, Any]


@dataclass(frozen=True)
class Truth:
    """The exact result: all pairs, and the document that represents a copy."""

    pairs: set[PairOfIds]
    original: dict[int, int]


def run(plan: Plan, sizes: Sequence[int] = SIZES, tell: Callable[[str], None] = print) -> list[Row]:
    """All rows; MLlib gets one more table each time until it finds as much as Benzer."""
    rows: list[Row] = []
    tables = 1
    for size in sizes:
        truth = truth_of(plan, size)
        for engine in ("benzer", "benzer on Spark"):
            rows.append(measured(plan, engine, size, truth))
            tell(line(rows[-1]))
        wanted = rows[-1].get("recall") or plan.recall
        while True:
            row = measured(plan, "mllib", size, truth, tables=tables)
            rows.append(row)
            tell(line(row))
            if row["failure"] or row["recall"] >= wanted or tables >= MOST_TABLES:
                break
            tables += 1
    return rows


def measured(plan: Plan, engine: str, size: int, truth: Truth, **more: Any) -> Row:
    """The median of three runs, or one run if the first is long; the error if one failed."""
    runs: list[Cell] = []
    more_settings = {"warm": [str(plan.cut(WARM))], "shingle_size": SHINGLE_SIZE, "with_pairs": True}
    task = plan.task(engine, [plan.cut(size)], **more_settings, **more)
    while len(runs) < TIMES:
        name = "-".join(
            ["mllib", engine.replace(" ", "_"), *map(str, more.values()), str(size), str(len(runs))]
        )
        runs.append(plan.cells.keep(name, task, lambda: once(task, plan, truth)))
        if runs[-1]["failure"] or runs[0]["seconds"] > ONCE_ABOVE:
            break
    middle = sorted(runs, key=lambda cell: cell.get("seconds") or math.inf)[(len(runs) - 1) // 2]
    failure = next((cell["failure"] for cell in runs if cell["failure"]), None)
    row = {name: value for name, value in middle.items() if name != "task"}
    return {"engine": engine, "documents": size, **more, **row, "runs": len(runs), "failure": failure}


def once(task: dict[str, Any], plan: Plan, truth: Truth) -> Cell:
    """One run in a fresh process, scored."""
    ran = run_child(task, plan.time_limit)
    if ran.failure:
        return failed(ran)
    answer = ran.answer
    pairs = answer.pop("pairs")
    found = ordered(pairs) if task["engine"] == "mllib" else expanded(map(tuple, pairs), truth.original)
    peak = ran.peak(answer["started"], answer["ended"])
    return {**answer, **pair_score(found, truth.pairs), "peak": peak, "failure": None}


def truth_of(plan: Plan, size: int) -> Truth:
    """The result of Benzer's exact join, which finds every pair; stored, because the largest takes minutes."""
    path = plan.cut(size)
    kept = [path.with_suffix(f".{name}.parquet") for name in ("pairs", "copies")]
    if not all(one.exists() for one in kept):
        import benzer

        found = benzer.find_duplicates(path, text="text", id="id", threshold=THRESHOLD, recall=1.0)
        pairs = found.expanded_pairs()
        ids = found.ids
        copies = {
            ids[place]: ids[first] for place, first in enumerate(found.stands_for.tolist()) if place != first
        }
        tables = pairs.columns(), {"left_id": list(copies), "right_id": list(copies.values())}
        for table, target in zip(tables, kept, strict=True):
            columns = {name: pa.array(table[name], pa.int64()) for name in ("left_id", "right_id")}
            pq.write_table(pa.table(columns), target)
    pairs_table, copies_table = (pq.read_table(one) for one in kept)
    return Truth(
        ordered(zip(*_columns(pairs_table), strict=True)), dict(zip(*_columns(copies_table), strict=True))
    )


def _columns(table: pa.Table) -> tuple[list[int], list[int]]:
    return table["left_id"].to_pylist(), table["right_id"].to_pylist()


def line(row: Row) -> str:
    """A row as progress output."""
    name = f"{row['documents']:,} {row['engine']}" + (f" {row['tables']} tables" if "tables" in row else "")
    if row["failure"]:
        return f"{name}: {row['failure']}"
    shuffled = row.get("work", {}).get("shuffle_written", 0)
    return (
        f"{name}: {row['seconds']:.2f} s, peak {row['peak'] / 1e6:,.0f} MB, shuffled {shuffled / 1e6:,.1f} MB, "
        f"recall {row['recall']:.4f}, precision {row['precision']:.4f}"
    )


def exponent(small: float, large: float, documents: tuple[int, int]) -> float:
    """The power of the number of documents by which something grows: 1 is linear, 2 quadratic.

    >>> exponent(10, 1000, (10_000, 100_000))
    2.0
    """
    return round(math.log(large / small) / math.log(documents[1] / documents[0]), 10)
