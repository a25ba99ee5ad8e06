"""What the local engine decides, as the tables that the stages of a run on Spark have: for the tests of deciding."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import benzer
from benzer import Bands, Schema, ValueSet
from benzer._native import components
from benzer.spark.frames import KEPT, PAIR, REMOVED

TAGS = Schema(tags=ValueSet())
FEW_BANDS = Bands(8, 4)
"""So few that many pairs are no candidates: then the second look has work."""


def families(seed: int, count: int) -> pa.Table:
    """Families of sets: chains of changes, copies of some members, and columns that keep rules go by."""
    rng = random.Random(seed)
    sets: list[list[int]] = [[], []]
    for family in range(count):
        held = {family * 1000 + at for at in range(rng.choice([4, 8, 12, 16]))}
        for _ in range(rng.randint(1, 9)):
            for _ in range(rng.randint(0, 2)):
                held = held - {rng.choice(sorted(held))} | {family * 1000 + 100 + rng.randrange(20)}
            sets.extend([sorted(held)] * rng.choice([1, 1, 1, 2, 4]))
        best = list(range(family * 1000 + 500, family * 1000 + 510))
        goes = [*best[:8], -family, -family - 1000]
        better = [*best[2:8], *goes[8:]]
        # Where the order is best, goes, better, goes, the last goes for another one than its original.
        sets.extend([best, goes, goes, better])
    return described({"tags": pa.array(sets, pa.list_(pa.int64()))}, seed)


def described(fields: dict[str, pa.Array], seed: int) -> pa.Table:
    """Documents of some contents, in the order of the input, in which two share each place."""
    rng = random.Random(seed)
    count = len(next(iter(fields.values())))
    order = pa.array(rng.sample(range(count), count))
    at = np.arange(count) // 2
    ids = np.array(rng.sample(range(-5000, 5000), count))
    ids = ids[np.lexsort((ids, at))] if count < 2 else np.concatenate(
        [np.sort(ids[start : start + 2]) for start in range(0, count, 2)]
    )  # fmt: skip
    columns = {
        "id": pa.array(ids),
        "at": pa.array(at),
        "score": pa.array([rng.choice([None, 1, 2, 3, 3, 3]) for _ in range(count)], pa.int64()),
        "kind": pa.array([rng.choice(["web", "books", None]) for _ in range(count)], pa.string()),
    }
    return pa.table({**columns, **{name: column.take(order) for name, column in fields.items()}})


@dataclass(frozen=True)
class Case:
    """Documents in the order of the input, and what the local engine finds in them."""

    documents: pa.Table
    found: Any

    @classmethod
    def of(cls, documents: pa.Table, keep: str = "first", **settings: Any) -> Case:
        """The result of a local run."""
        usual = {"schema": TAGS, "threshold": 0.6, "options": benzer.Options(bands=FEW_BANDS, seed=3)}
        settings = {**usual, **settings}
        return cls(documents, benzer.find_duplicates(documents, id="id", keep=keep, threads=1, **settings))

    @property
    def ids(self) -> Any:
        return self.documents.column("id").to_numpy()

    @property
    def extras(self) -> pa.Array:
        return pa.array(
            [None if one is None else one.decode() for one in self.found.corpus.extras()], pa.string()
        )

    @property
    def lengths(self) -> Any:
        everyone = np.arange(len(self.ids), dtype=np.uint32)
        return self.found.corpus.text_lengths(everyone, 1).astype(np.int64)

    @property
    def identity(self) -> Any:
        """The digests of the contents (int64, n x 2)."""
        everyone = np.arange(len(self.ids), dtype=np.uint32)
        return self.found.corpus.identities(everyone, 1).view(np.int64)

    def copies(self) -> pa.Table:
        """The rows of `COPIES`."""
        stands_for, ids, places = self.found.stands_for, self.ids, self.documents.column("at").to_numpy()
        first = np.full(len(ids), len(ids))
        np.minimum.at(first, stands_for, np.arange(len(ids)))
        at = np.flatnonzero(stands_for != np.arange(len(ids)))
        original, first = stands_for[at], first[stands_for[at]]
        return pa.table(
            {
                "number": ids[at], "id": ids[at], "place": places[at], "extra": self.extras.take(pa.array(at)),
                "source": np.zeros(len(at), dtype=np.int32), "length": self.lengths[at],
                "identity_a": self.identity[at, 0], "identity_b": self.identity[at, 1],
                "original": ids[original], "original_id": ids[original],
                "first_place": places[first], "first_id": ids[first],
            }
        )  # fmt: skip

    def blocks(self, most: int = 1000) -> tuple[pa.Table, pa.Table]:
        """Candidates in blocks, and their members: whole components of `most` documents; others by `most` pairs."""
        left, right = self.found.proposed.left, self.found.proposed.right
        label = components(len(self.ids), left, right)
        whole = np.bincount(label, minlength=len(label))[label[left]] <= most
        block = np.where(whole, label[left].astype(np.int64), np.cumsum(~whole) // most + 100_000)
        a, b = self.ids[left], self.ids[right]
        pairs = pa.table({"block": block, "left": np.minimum(a, b), "right": np.maximum(a, b)})
        ends = pa.table(
            {
                "block": np.concatenate((block, block)),
                "number": np.concatenate((a, b)),
                "whole": np.concatenate((whole, whole)),
            }
        )
        return pairs, ends.group_by(["block", "number", "whole"]).aggregate([])

    def check_originals(self, outcomes: pa.Table) -> None:
        """The rows of pairs, and of documents that stand for others or for none, are those of the local run."""
        alike = self.found.verified >= self.found.threshold
        second, stands_for, ids = self.found.decision, self.found.stands_for, self.ids
        left = np.concatenate((self.found.proposed.left[alike], stands_for[second.left]))
        right = np.concatenate((self.found.proposed.right[alike], stands_for[second.right]))
        similarity = np.concatenate((self.found.verified[alike], second.score))
        pairs = zip(
            ids[np.minimum(left, right)].tolist(),
            ids[np.maximum(left, right)].tolist(),
            similarity.tolist(),
            strict=True,
        )
        assert rows_of_kind(outcomes, PAIR, "left_id", "right_id", "similarity") == sorted(pairs)
        originals = set(ids[stands_for].tolist())
        gone = rows_of_kind(outcomes, REMOVED, "left_id", "right_id", "similarity")
        assert [row for row in gone if row[0] in originals] == [
            row for row in self.removed if row[0] in originals
        ]
        kept = {id for (id,) in rows_of_kind(outcomes, KEPT, "left_id")}
        assert {right for _, right, _ in gone} <= kept
        assert kept <= set(self.found.kept)

    def check(self, outcomes: pa.Table, counts: dict[str, int]) -> None:
        """All that the local run says, to the last bit."""
        self.check_originals(outcomes)
        assert rows_of_kind(outcomes, REMOVED, "left_id", "right_id", "similarity") == self.removed
        expected = {name: self.found.counts[name] for name in counts}
        assert counts == {**expected, "removed": len(self.removed)}
        rows = [*rows_of_kind(outcomes, KEPT, *REPORTED), *rows_of_kind(outcomes, REMOVED, *REPORTED)]
        assert len({row[0] for row in rows}) == len(rows)
        clusters = self.found.table("clusters")
        tied = {id: component for id, component, *_ in rows}
        assert {id: tied[id] for id in clusters["id"]} == dict(
            zip(clusters["id"], clusters["component_id"], strict=True)
        )
        assert all(number == id for _, id, number, *_ in rows)  # integers are their own numbers
        identity = dict(zip(self.ids.tolist(), self.identity.tolist(), strict=True))
        assert all(identity[id] == [a, b] for id, _, _, a, b in rows)

    @property
    def removed(self) -> list[tuple[Any, ...]]:
        """Who goes for whom, both of the run."""
        removals = self.found.removed.items()
        return sorted((id, one.kept_id, one.similarity) for id, one in removals if one.kept_in is None)


REPORTED = ("left_id", "component_id", "component", "identity_a", "identity_b")


def rows_of_kind(outcomes: pa.Table, kind: int, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of the outcomes of a kind, in order."""
    rows = outcomes.filter(pc.equal(outcomes.column("kind"), kind))
    return sorted(zip(*(rows.column(name).to_pylist() for name in columns), strict=True))
