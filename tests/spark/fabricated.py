"""A result on Spark without a run: the local engine's decisions as the tables of `benzer.spark.frames`."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

import benzer
from benzer._native import components
from benzer.spark import copies, sketching
from benzer.spark.documents import documents_of
from benzer.spark.frames import KEPT, PAIR, REMOVED
from benzer.spark.results import SparkDuplicates
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import SparkRun, Work
from tests.spark import made


@dataclass
class Joined:
    """What `joining` hands on."""

    pairs: Any
    candidates: int
    oversized_buckets: int
    oversized_documents: int
    buckets: Any = None


def fabricated(spark: Any, rows: list[dict[str, Any]], **options: Any) -> tuple[SparkDuplicates, Any]:
    """A result on Spark and the local one, over rows in the order of their ids."""
    rows = sorted(rows, key=lambda row: row["id"])
    local = benzer.find_duplicates(pa.Table.from_pylist(rows), **options)
    df = from_arrow(spark, pa.Table.from_pylist(rows[::-1]))
    settings = local.settings
    documents = documents_of(
        df, settings.schema, options.get("text"), "id", None, settings.keep, settings.on_error
    )
    sketcher = benzer.sketcher.Sketcher(settings.schema, settings.minhash, settings.bands)
    run = SparkRun(spark, settings, sketcher, Work(), documents.columns)
    sketches = sketching.sketch(run, documents).persist()
    reading = made.counted(run, documents, sketches)
    told = {row["id"]: row for row in sketches.collect()}
    numbers = np.array([told[id]["number"] for id in local.ids])
    identity = np.array([[told[id]["identity_a"], told[id]["identity_b"]] for id in local.ids])
    return SparkDuplicates(
        run=run,
        documents=documents,
        reading=reading,
        sketches=sketches,
        copied=copies.copies(run, sketches, reading.repeated).persist(),
        known=None,
        joined=joined_of(spark, local, numbers),
        outcomes=outcomes_of(spark, run, local, numbers, identity),
        decided=SimpleNamespace(counts=local.counts),
        timings={"total": 1.0},
    ), local


def joined_of(spark: Any, local: Any, numbers: Any) -> Joined:
    """The candidates of a local run."""
    ends = np.sort(np.stack([numbers[local.proposed.left], numbers[local.proposed.right]]), axis=0)
    table = pa.table({"left": pa.array(ends[0], pa.int64()), "right": pa.array(ends[1], pa.int64())})
    large = local.proposed.large
    counts = len(large), len(large.members)
    if not len(large):
        return Joined(from_arrow(spark, table), len(local.proposed), *counts)
    buckets: dict[int, list[int]] = {}
    for bucket, members in enumerate(large.each()):
        for member in members.tolist():
            buckets.setdefault(int(numbers[member]), []).append(bucket)
    rows = pa.table(
        {
            "number": pa.array(list(buckets), pa.int64()),
            "buckets": pa.array(list(buckets.values()), pa.list_(pa.int64())),
        }
    )
    return Joined(from_arrow(spark, table), len(local.proposed), *counts, from_arrow(spark, rows))


def outcomes_of(spark: Any, run: SparkRun, local: Any, numbers: Any, identity: Any) -> Any:
    """What a local run decided."""
    alone = local.stands_for
    alike = local.verified >= local.threshold
    ends = np.stack(
        [
            np.concatenate((local.proposed.left[alike], alone[local.decision.left])),
            np.concatenate((local.proposed.right[alike], alone[local.decision.right])),
        ]
    )
    left, right = np.sort(ends, axis=0)
    similarity = np.concatenate((local.verified[alike], local.decision.score))
    tied = components(len(local.ids), local.pairs.left, local.pairs.right)
    held = np.flatnonzero(
        np.bincount(np.concatenate((local.pairs.left, local.pairs.right)), minlength=len(tied))
    )
    ids = local.ids
    rows = [
        (PAIR, numbers[a], numbers[b], ids[a], ids[b], value, None, None, None, None)
        for a, b, value in zip(left.tolist(), right.tolist(), similarity.tolist(), strict=True)
    ]
    for at in held.tolist():
        to, first = int(local.leader[at]), int(tied[at])
        kind = KEPT if to == at else REMOVED
        likeness = float(local.leader_similarity[at])
        rows.append(
            (
                kind,
                numbers[at],
                numbers[to],
                ids[at],
                ids[to],
                likeness,
                numbers[first],
                ids[first],
                *identity[at],
            )
        )
    from benzer.spark.frames import OUTCOMES

    names = [one.split()[0] for one in OUTCOMES.split(", ")]
    whole = {"kind": pa.int32(), "similarity": pa.float64()}
    kind_of_id = pa.int64() if run.columns["id"] == "bigint" else pa.string()
    arrays = []
    for at, name in enumerate(names):
        kind = whole.get(name, kind_of_id if name.endswith("id") else pa.int64())
        arrays.append(
            pa.array(
                [
                    row[at] if row[at] is None else (row[at].item() if hasattr(row[at], "item") else row[at])
                    for row in rows
                ],
                kind,
            )
        )
    return from_arrow(spark, pa.table(arrays, names=names)).persist()


def rows_of(df: Any) -> list[tuple[Any, ...]]:
    """The rows of a table, sorted."""
    return sorted((tuple(row.values()) for row in to_arrow(df).to_pylist()), key=repr)
