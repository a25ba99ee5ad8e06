"""Measures the recall of a run with the estimator of a local run, from the results of all tasks.

The tasks draw documents by content and find their true neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer import recall as local
from benzer.fields import Schema
from benzer.fields.base import has_own_similarity
from benzer.recall import Answers, Missed, RecallEstimate, RunCounts
from benzer.registry import require
from benzer.spark.frames import EMPTY, PAIR
from benzer.spark.reading import corpus_of_batch
from benzer.spark.results.base import ClusterTables, of_kind, plain_id
from benzer.spark.results.choosing import frame_of
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.tasks import ArrowTask
from benzer.verify import verify

Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]
TOGETHER = 32 << 20
"""Bytes of documents that are processed together: the drawn ones are read again each time."""
SIGN = np.uint64(1 << 63)
DRAWN = "number bigint, content_a bigint, content_b bigint, place bigint"
NEIGHBOURS = "query bigint, number bigint, similarity double"
LENGTHS = "number bigint, length bigint"


@dataclass(frozen=True)
class Least:
    """Returns the first drawn contents of the documents of a task, with one document per content."""

    count: int
    seed: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        lowest = np.empty((0, 4), dtype=np.int64)
        for batch in batches:
            number, a, b = (
                batch.column(name).to_numpy(zero_copy_only=False)
                for name in ("number", "content_a", "content_b")
            )
            content = np.stack([a.view(np.uint64), b.view(np.uint64)], axis=1)
            place = (local.draw_places(content, self.seed) ^ SIGN).view(np.int64)
            lowest = self._least(np.concatenate((lowest, np.stack([number, a, b, place], axis=1))))
        columns = [pyarrow.array(np.ascontiguousarray(lowest[:, number])) for number in range(4)]
        yield pyarrow.RecordBatch.from_arrays(columns, ["number", "content_a", "content_b", "place"])

    def _least(self, rows: Numbers) -> Numbers:
        """One row per content, with the lowest places."""
        rows = rows[np.lexsort((rows[:, 0], rows[:, 2], rows[:, 1], rows[:, 3]))]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (np.diff(rows[:, 1:], axis=0) != 0).any(axis=1)
        return rows[new][: self.count]


@dataclass(frozen=True)
class Lengths:
    """Returns the size of each document's texts in bytes, as a local measurement counts it."""

    schema: Schema

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        for batch in map(identified, batches):
            corpus = corpus_of_batch(self.schema, batch)
            lengths = corpus.corpus.text_sizes(np.arange(len(corpus.rows), dtype=np.uint32), 1)
            numbers = batch.column("number").take(pyarrow.array(corpus.rows))
            columns = [numbers, pyarrow.array(lengths.astype(np.int64))]
            yield pyarrow.RecordBatch.from_arrays(columns, ["number", "length"])


def identified(batch: Any) -> Any:
    """The rows with a number and a place; others are malformed."""
    compute = require("pyarrow.compute", extra="spark", purpose="runs on Spark")
    return batch.filter(compute.and_(batch.column("number").is_valid(), batch.column("place").is_valid()))


@dataclass(frozen=True)
class Ask:
    """Finds among the documents of a task the true neighbours of the drawn ones, without bands.

    drawn: their `number` and fields, in the order of the draw, as an Arrow table.
    """

    schema: Schema
    threshold: float
    drawn: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pending: list[Any] = []
        for batch in batches:
            pending.append(identified(batch).select(self.drawn.column_names))
            if sum(item.nbytes for item in pending) >= max(TOGETHER, self.drawn.nbytes):
                yield from self._ask(pending)
                pending = []
        if pending:
            yield from self._ask(pending)

    def _ask(self, batches: list[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
        table = pyarrow.concat_tables(
            [self.drawn, pyarrow.Table.from_batches(batches).cast(self.drawn.schema)]
        )
        corpus = corpus_of_batch(self.schema, table)
        numbers = table["number"].to_numpy()[corpus.rows]
        count = self.drawn.num_rows
        drawn = np.arange(count, dtype=np.uint32)
        query, other = local.possible_neighbours(corpus.corpus, drawn, self.schema, self.threshold, 1)
        new = (other >= count) & (numbers[other] != numbers[query])
        query, other = query[new], other[new]
        similarity = verify(corpus.corpus, query, other, self.schema.weights, 1)
        several = len(self.schema.fields) > 1 or any(map(has_own_similarity, self.schema.fields.values()))
        alike = np.flatnonzero(similarity >= self.threshold) if several else np.arange(len(query))
        columns = [
            pyarrow.array(query[alike].astype(np.int64)),
            pyarrow.array(numbers[other[alike]]),
            pyarrow.array(similarity[alike]),
        ]
        yield pyarrow.RecordBatch.from_arrays(columns, ["query", "number", "similarity"])


def measure_recall(result: ClusterTables, documents: int, confidence: float, seed: int) -> RecallEstimate:
    """See `SparkDuplicates.measure_recall`."""
    local.check_sample(documents, confidence, seed)
    survey = Survey(result, seed)
    counts = survey.counts()
    most = min(counts.most(survey.pilot), local.affordable(survey.schema, counts.contents))
    answers = local.sample_until(int(documents), counts, most, survey.ask)
    expected = local.predicted(*survey.proposed(), result.bands, result.settings.schema)
    return local.estimated(counts, answers, confidence, expected, survey.missed(answers))


class DrawnDocuments(NamedTuple):
    """Drawn documents in the order of the draw: numbers, and content hashes (uint64, n x 2)."""

    numbers: Numbers
    content: Words


class Survey:
    """Searches the documents of a run; documents get positions in the order in which they are found."""

    def __init__(self, result: ClusterTables, seed: int) -> None:
        self.result, self.seed = result, seed
        self.schema: Schema = result.settings.schema
        self._drawn = DrawnDocuments(np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.uint64))
        self._met: dict[int, int] = {}
        self._similarity: dict[tuple[int, int], float] = {}
        self._ids: dict[int, Any] = {}

    def counts(self) -> RunCounts:
        """The amount of work; three jobs."""
        from pyspark.sql import functions as F

        result = self.result
        copies = result.copied.count()
        ends = self._pairs.select(F.col("left").alias("end")).unionByName(
            self._pairs.select(F.col("right").alias("end"))
        )
        degrees = ends.groupBy("end").agg(F.count(F.lit(1)).alias("degree"))
        copies_by_original = result.copied.groupBy(F.col("original").alias("end")).agg(
            F.count(F.lit(1)).alias("copies")
        )
        tied = degrees.join(copies_by_original, "end", "left").agg(
            F.count(F.lit(1)).alias("paired"),
            F.sum("degree").alias("degree"),
            # each pair adds the other end and its copies to one end; summed over all ends, each end adds its own
            F.sum(F.col("degree") * (1 + F.coalesce("copies", F.lit(0)))).alias("neighbours"),
        )
        paired = tied.first()
        return RunCounts(
            contents=result.reading.documents - result.reading.empty - copies,
            paired=paired["paired"],
            pairs=(paired["degree"] or 0) // 2,
            length=self._length(),
            neighbours=copies + (paired["neighbours"] or 0),
            cut_short=result.joined.oversized_buckets,
        )

    def _length(self) -> int:
        """Return the size in bytes of all different contents together."""
        from pyspark.sql import functions as F

        result = self.result
        sound = result.sketches.where(F.col("state") < EMPTY).join(
            result.copied.select("number"), "number", "left_anti"
        )
        # The sketches have at most the length in characters, which the rule `longest` uses.
        lengths = result.documents.through(Lengths(self.schema), LENGTHS)
        sound = sound.drop("length").join(lengths, "number")
        return int(sound.agg(F.sum("length").alias("length")).first()["length"] or 0)

    @property
    def _pairs(self) -> Any:
        return of_kind(self.result, PAIR)

    def proposed(self) -> tuple[NDArray[np.float64], Numbers]:
        """The number of verified candidates by similarity, in thousandths."""
        from pyspark.sql import functions as F

        ends = (F.least("left", "right").alias("left"), F.greatest("left", "right").alias("right"))
        pairs = self._pairs.select(*ends, "similarity")
        candidates = pairs.join(
            self.result.joined.pairs.select("left", "right"), ["left", "right"], "left_semi"
        )
        step = F.floor(F.col("similarity") * 1000.0).cast("bigint").alias("step")
        rows = candidates.groupBy(step).count().orderBy("step").collect()
        steps, counts = ([row[name] for row in rows] for name in ("step", "count"))
        return np.array(steps, dtype=np.float64), np.array(counts, dtype=np.int64)

    def pilot(self) -> tuple[int, int]:
        """The number of neighbours of some documents, other than those of the sample."""
        few = self._draw(local.PILOT, self.seed ^ local.PILOT_SEED)
        return int(self._neighbours(few.numbers).count()), len(few.numbers)

    def ask(self, start: int, end: int) -> Answers:
        """The results of the drawn documents from one place (included) to another (excluded)."""
        if len(self._drawn.numbers) < end:
            self._drawn = self._draw(end, self.seed)
        numbers, content = self._drawn.numbers[start:end], self._drawn.content[start:end]
        table = self._answers(numbers)
        query = table["query"].to_numpy().astype(np.int64)
        right_number = table["right"].to_numpy().astype(np.int64)
        theirs = words(table["content_a"], table["content_b"])
        left, right = self._positions(numbers)[query], self._positions(right_number)
        self._remember(left, right, table)
        chosen = local.chosen_neighbours(query, content[query], theirs, self.seed)
        is_found = table["found"].to_numpy(zero_copy_only=False).astype(bool)
        return Answers(query + start, left, right, is_found, chosen, start + len(numbers))

    def missed(self, answers: Answers) -> tuple[Missed, ...]:
        """The first missed pairs with both documents."""
        positions = local.missed_first(answers).tolist()
        if not positions:
            return ()
        number_of = {place: number for number, place in self._met.items()}
        ends = [(int(answers.left[item]), int(answers.right[item])) for item in positions]
        numbers = [number_of[end] for pair in ends for end in pair]
        ids, gone = self._told_of(numbers)
        return tuple(
            Missed(
                ids[number_of[left]],
                ids[number_of[right]],
                self._similarity[left, right],
                number_of[left] not in gone and number_of[right] not in gone,
            )
            for left, right in ends
        )

    def _told_of(self, numbers: list[int]) -> tuple[dict[int, str | int], set[int]]:
        """The ids of some documents, and which of them are removed."""
        result = self.result
        wanted = frame_of(result, np.unique(np.array(numbers, dtype=np.int64)))
        named = result.sketches.select("number", "id").join(wanted, "number", "left_semi").collect()
        gone = result.removed.select("number").join(wanted, "number", "left_semi").collect()
        return {row["number"]: plain_id(result, row["id"]) for row in named}, {row["number"] for row in gone}

    def _positions(self, numbers: Numbers) -> NDArray[np.uint32]:
        met = self._met
        return np.array([met.setdefault(number, len(met)) for number in numbers.tolist()], dtype=np.uint32)

    def _remember(self, left: NDArray[np.uint32], right: NDArray[np.uint32], table: Any) -> None:
        missed = np.flatnonzero(~table["found"].to_numpy(zero_copy_only=False).astype(bool))
        similarity = table["similarity"].to_numpy()
        for position in missed.tolist():
            self._similarity[int(left[position]), int(right[position])] = float(similarity[position])

    def _draw(self, count: int, seed: int) -> DrawnDocuments:
        """The documents with the lowest seeded content hashes, one representative per content."""
        from pyspark.sql import functions as F

        result = self.result
        sound = result.sketches.where(F.col("state") < EMPTY).select("number", "content_a", "content_b")
        least = sound.mapInArrow(ArrowTask(Least(count, seed)), DRAWN).groupBy(
            "content_a", "content_b", "place"
        )
        first = least.agg(F.min("number").alias("number")).orderBy("place").limit(count)
        originals = result.copied.select("number", "original")
        rows = to_arrow(
            first.join(originals, "number", "left").withColumn("number", F.coalesce("original", "number"))
        )
        content = words(rows["content_a"], rows["content_b"])
        numbers = rows["number"].to_numpy().astype(np.int64)
        positions = local.drawn(content, np.arange(len(numbers), dtype=np.uint32), count, seed)
        return DrawnDocuments(numbers[positions], content[positions])

    def _neighbours(self, numbers: Numbers) -> Any:
        """The place of each drawn document with each true neighbour."""
        result = self.result
        members = frame_of(result, numbers)
        table = to_arrow(result.documents.wanted(members, count=len(numbers)))
        order = np.argsort(table["number"].to_numpy())
        back = np.empty(len(numbers), dtype=np.int64)
        back[np.argsort(numbers)] = order
        fields = [name for name in table.column_names if name.startswith("field_")]
        drawn = table.select(["number", *fields]).take(back)
        return result.documents.through(
            Ask(self.schema, result.threshold, drawn.combine_chunks()), NEIGHBOURS
        )

    def _answers(self, numbers: Numbers) -> Any:
        """Each place of the draw with each similar content, and whether the run found the pair."""
        from pyspark.sql import functions as F

        result = self.result
        places = require("pyarrow", extra="spark", purpose="runs on Spark").table(
            {"query": np.arange(len(numbers)), "left": numbers}
        )
        copies = result.copied.select("number", "original")
        alike = self._neighbours(numbers).join(copies, "number", "left")
        alike = alike.withColumn("right", F.coalesce("original", "number"))
        alike = alike.join(F.broadcast(from_arrow(result.run.spark, places)), "query")
        alike = alike.where(F.col("left") != F.col("right"))
        alike = alike.groupBy("query", "left", "right").agg(F.max("similarity").alias("similarity"))
        pairs = self._pairs.select(
            F.least("left", "right").alias("low"),
            F.greatest("left", "right").alias("high"),
            F.lit(True).alias("found"),
        )
        alike = alike.withColumns({"low": F.least("left", "right"), "high": F.greatest("left", "right")})
        alike = alike.join(pairs, ["low", "high"], "left").withColumn(
            "found", F.coalesce("found", F.lit(False))
        )
        if result.joined.buckets is not None:
            alike = self._sharing_a_bucket(alike)
        contents = result.sketches.where(F.col("state") < EMPTY).select(
            F.col("number").alias("right"), "place", "content_a", "content_b"
        )
        rows = to_arrow(alike.join(contents, "right"))
        return rows.take(self._order(rows))

    def _sharing_a_bucket(self, pairs: Any) -> Any:
        """The pairs (`left`, `right`); those that share a large bucket count as `found`."""
        from pyspark.sql import functions as F

        for end in ("left", "right"):
            own = self.result.joined.buckets.select(
                F.col("number").alias(end), F.col("buckets").alias(f"of_{end}")
            )
            pairs = pairs.join(own, end, "left")
        shared = F.coalesce(F.arrays_overlap("of_left", "of_right"), F.lit(False))
        return pairs.withColumn("found", F.col("found") | shared).drop("of_left", "of_right")

    @staticmethod
    def _order(rows: Any) -> Any:
        """By the draw, then in input order."""
        import pyarrow.compute as pc

        keys = [(name, "ascending") for name in ("query", "place", "right")]
        return pc.sort_indices(rows, sort_keys=keys)


def words(a: Any, b: Any) -> Words:
    """Two columns of 64-bit integers as content hashes (uint64, n x 2)."""
    return np.stack([item.to_numpy().astype(np.int64).view(np.uint64) for item in (a, b)], axis=1)
