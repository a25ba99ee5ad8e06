"""What is decided on Spark is what the local engine decides: who stays, for whom, how alike, and what hangs together."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import benzer
from benzer import Bands, Schema, ValueSet
from benzer.clusters import Keep
from benzer.spark.deciding import decide
from benzer.spark.documents import documents_of
from benzer.spark.frames import COPIES, KEPT, PAIR, REMOVED, WITNESS
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import Run, Work

FEW_BANDS = Bands(3, 5)
"""So few that many pairs are no candidates: then the second look has work."""


def families(seed: int, count: int, threshold: float = 0.6) -> list[dict[str, Any]]:
    """Families of sets: chains of changes, copies of some members, and columns that keep rules go by."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for family in range(count):
        held = {family * 1000 + at for at in range(rng.choice([4, 8, 12, 16]))}
        for _ in range(rng.randint(1, 9)):
            for _ in range(rng.randint(0, 2)):
                held = held - {rng.choice(sorted(held))} | {family * 1000 + 100 + rng.randrange(20)}
            rows.extend({"tags": sorted(held)} for _ in range(rng.choice([1, 1, 1, 2, 4])))
    rows.extend({"tags": []} for _ in range(3))
    rng.shuffle(rows)
    for at, row in enumerate(rows):
        row["at"] = at // 2  # two documents share each place
        row["score"] = rng.choice([None, 1, 2, 3, 3, 3])
        row["kind"] = rng.choice(["web", "books", None])
    numbers = rng.sample(range(-5000, 5000), len(rows))
    for row, number in zip(rows, numbers, strict=True):
        row["id"] = number
    return rows


class Kept:
    """Stages that are held in memory."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def keep(self, name: str, make: Any) -> Any:
        assert name not in self.names
        self.names.append(name)
        return make().persist()


@dataclass(frozen=True)
class Case:
    """Documents in the order of the input, and what the local engine finds in them."""

    rows: list[dict[str, Any]]
    found: Any

    @classmethod
    def of(cls, rows: list[dict[str, Any]], keep: str, **settings: Any) -> Case:
        rows = sorted(rows, key=lambda row: (row["at"], row["id"]))
        settings = {"schema": Schema(tags=ValueSet()), "threshold": 0.6, "bands": FEW_BANDS, **settings}
        return cls(rows, benzer.find_duplicates(table(rows), id="id", keep=keep, threads=1, **settings))

    @property
    def ids(self) -> Any:
        return np.array([row["id"] for row in self.rows])

    @property
    def places(self) -> Any:
        return np.array([row["at"] for row in self.rows])

    def copies(self) -> pa.Table:
        """The copies, as `benzer.spark.copies` finds them."""
        found, corpus = self.found, self.found.corpus
        alone = found.stands_for == np.arange(len(self.rows))
        at, original = np.flatnonzero(~alone), found.stands_for[~alone]
        first = np.arange(len(self.rows))
        np.minimum.at(first, found.stands_for, first.copy())
        first = first[original]
        everyone = np.arange(len(self.rows), dtype=np.uint32)
        extras = [None if one is None else one.decode() for one in corpus.extras()]
        return pa.table(
            {
                "number": self.ids[at], "id": self.ids[at], "place": self.places[at],
                "extra": pa.array(extras, pa.string()).take(at),
                "source": pa.array(np.zeros(len(at)), pa.int32()),
                "length": corpus.text_lengths(everyone, 1)[at].astype(np.int64),
                **{f"content_{half}": content(corpus)[at, number] for number, half in enumerate("ab")},
                "original": self.ids[original], "original_id": self.ids[original],
                "first_place": self.places[first], "first_id": self.ids[first],
            }
        )  # fmt: skip

    def blocks(self, most: int) -> tuple[pa.Table, pa.Table]:
        """The candidates in blocks: whole components of at most `most` documents, of others `most` pairs each."""
        from benzer._native import components

        left, right = self.found.proposed.left, self.found.proposed.right
        label = components(len(self.rows), left, right)
        whole = np.bincount(label, minlength=len(label))[label[left]] <= most
        cut = np.cumsum(~whole) // most + 100_000
        block = np.where(whole, label[left].astype(np.int64), cut)
        low, high = self.ids[left], self.ids[right]
        pairs = pa.table({"block": block, "left": np.minimum(low, high), "right": np.maximum(low, high)})
        ends = {
            (int(b), int(n), bool(w))
            for b, a, c, w in zip(block, low, high, whole, strict=True)
            for n in (a, c)
        }
        columns = list(zip(*sorted(ends), strict=True))
        return pairs, pa.table(dict(zip(("block", "number", "whole"), columns, strict=True)))


def content(corpus: Any) -> Any:
    return corpus.sketch("fast", "mixed", 8, 0, 1, 1, 1)[1].view(np.int64)


def table(rows: list[dict[str, Any]]) -> pa.Table:
    types = {
        "tags": pa.list_(pa.int64()),
        "at": pa.int64(),
        "score": pa.int64(),
        "kind": pa.string(),
        "id": pa.int64(),
    }
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})


def on_spark(
    spark: Any, case: Case, most: int = 1000, partitions: int | None = None, known: Any = None
) -> Any:
    """What `decide` makes of the candidates of the local run, and the outcomes by kind."""
    settings = case.found.settings
    shuffled = random.Random(5).sample(case.rows, len(case.rows))
    df = from_arrow(spark, table(shuffled))
    documents = documents_of(df, settings.schema, id="id", order_by="at", keep=settings.keep)
    pairs, members = case.blocks(most)
    cut = not all(members.column("whole").to_pylist())
    blocked = SimpleNamespace(
        pairs=from_arrow(spark, pairs),
        members=from_arrow(spark, members),
        documents=members.num_rows,
        cut=cut,
    )
    run = Run(spark, settings, None, Work(partitions=partitions, block_documents=most), documents.columns)
    decided = decide(run, Kept(), documents, blocked, from_arrow(spark, case.copies()), known)
    return decided, to_arrow(decided.outcomes)


def of_kind(outcomes: pa.Table, kind: int, *columns: str) -> list[tuple[Any, ...]]:
    import pyarrow.compute as pc

    rows = outcomes.filter(pc.equal(outcomes.column("kind"), kind))
    return sorted(zip(*(rows.column(name).to_pylist() for name in columns), strict=True))


def check(case: Case, decided: Any, outcomes: pa.Table) -> None:
    """All that the local run says, to the last bit."""
    found, ids = case.found, case.ids
    alike = found.verified >= found.threshold
    second = found.decision
    left = np.concatenate((found.proposed.left[alike], found.stands_for[second.left]))
    right = np.concatenate((found.proposed.right[alike], found.stands_for[second.right]))
    similarity = np.concatenate((found.verified[alike], second.score))
    low, high = np.minimum(left, right), np.maximum(left, right)
    assert of_kind(outcomes, PAIR, "left_id", "right_id", "similarity") == sorted(
        zip(ids[low].tolist(), ids[high].tolist(), similarity.tolist(), strict=True)
    )
    removed = {
        left: (right, score)
        for left, right, score in of_kind(outcomes, REMOVED, "left_id", "right_id", "similarity")
    }
    assert removed == {
        id: (one.kept_id, one.similarity) for id, one in found.removed.items() if one.kept_in is None
    }
    counts = {name: found.counts[name] for name in decided.counts}
    counts["removed"] -= found.counts.get("known", 0)
    assert decided.counts == counts
    told = of_kind(outcomes, KEPT, "left_id", "component_id") + of_kind(
        outcomes, REMOVED, "left_id", "component_id"
    )
    assert len(dict(told)) == len(told)
    clusters = found.table("clusters")
    told_of = dict(told)
    assert {id: told_of[id] for id in clusters["id"]} == dict(
        zip(clusters["id"], clusters["component_id"], strict=True)
    )
    contents = {id: tuple(row) for id, row in zip(ids.tolist(), content(found.corpus).tolist(), strict=True)}
    rows = of_kind(outcomes, REMOVED, "left", "content_a", "content_b") + of_kind(
        outcomes, KEPT, "left", "content_a", "content_b"
    )
    assert all(contents[id] == tuple(row) for id, *row in rows)


@pytest.mark.parametrize("keep", ["first", "last", "largest:score", "longest"])
def test_whole(spark, keep):
    case = Case.of(families(1, 40), keep)
    print(case.found.counts, len(case.found.decision.left), case.found.decision.below)
    decided, outcomes = on_spark(spark, case, partitions=3)
    print(len(of_kind(outcomes, WITNESS, "left")))
    check(case, decided, outcomes)


@pytest.mark.parametrize("keep", ["first", "smallest:score"])
def test_cut(spark, keep):
    case = Case.of(families(1, 40), keep)
    decided, outcomes = on_spark(spark, case, most=3)
    check(case, decided, outcomes)
