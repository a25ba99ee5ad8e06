"""`ClusterTables`: the tables that the stages of a run left on the cluster, and the tables and counts of its result.

Rows are those of a local result, in any order. A document in a file has a number of its file and its row.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from benzer.bands import Bands
from benzer.errors import SettingsError
from benzer.registry import require
from benzer.results import Settings, SourceCounts
from benzer.sources import MalformedRow
from benzer.spark.failures import raised_plainly
from benzer.spark.frames import EMPTY, KEPT, MALFORMED, PAIR, REMOVED, SHORT
from benzer.spark.session import from_arrow
from benzer.spark.settings import SparkRun

DataFrame = Any
SOURCE_BITS = 40
"""Number of lower bits for the row (from 1) in the number of a document in a file; the upper bits are the file."""


@dataclass(frozen=True)
class ClusterTables:
    """The tables of the stages of a run, on the cluster.

    Properties are computed on first access; numbers are computed once.

    Attributes:
        reading: The number of documents read, and the malformed rows.
        sketches, copied, outcomes: The tables of `benzer.spark.frames`.
        joined: The candidates.
        known: The matches with older collections.
        decided: The outcomes with their counts.
        timings: Seconds by stage.
        stages: The stages that own the tables.
    """

    run: SparkRun
    documents: Any = field(repr=False)
    reading: Any = field(repr=False)
    sketches: DataFrame = field(repr=False)
    copied: DataFrame = field(repr=False)
    known: Any = field(repr=False)
    joined: Any = field(repr=False)
    outcomes: DataFrame = field(repr=False)
    decided: Any = field(repr=False)
    timings: dict[str, float] = field(repr=False)
    stages: Any = field(repr=False, default=None)

    def release(self) -> None:
        """Release the tables that are cached on the cluster; a checkpoint is not changed.

        The result can still be used: tables are then computed again.
        """
        if self.stages is not None:
            self.stages.release()

    @property
    def settings(self) -> Settings:
        """All settings that the result depends on."""
        return self.run.settings

    @property
    def threshold(self) -> float:
        """The minimum similarity of duplicates."""
        return self.settings.threshold

    @property
    def recall(self) -> float:
        """The guaranteed share of pairs at the threshold that is found."""
        return self.settings.recall

    @property
    def bands(self) -> Bands:
        """The bands that were used to find candidates."""
        assert self.settings.bands is not None  # there is no other method on Spark
        return self.settings.bands

    def probability(self, similarity: float) -> float:
        """Return the probability that a pair with this similarity is found; with several fields, a lower bound."""
        return float(self.bands.probability(self.settings.schema.band_threshold(similarity)))

    @cached_property
    def pairs(self) -> DataFrame:
        """The verified pairs: left_id, right_id, similarity. The left document is the earlier one in the input."""
        return pairs(self)

    @cached_property
    def removed(self) -> DataFrame:
        """The removed documents with the kept document, the similarity and the reason, one row each."""
        return removed(self)

    @cached_property
    def clusters(self) -> DataFrame:
        """The members of each cluster of two or more documents, with the kept one marked."""
        return clusters(self)

    @cached_property
    def malformed(self) -> DataFrame:
        """The malformed rows with their reasons."""
        return malformed(self)

    def table(self, name: str) -> DataFrame:
        """Return a table by name: "pairs", "clusters", "removed", "malformed" or "old_matches"."""
        return table(self, name)

    @cached_property
    @raised_plainly()
    def counts(self) -> dict[str, int]:
        """The counts of the run, with the names of a local result."""
        return counts(self)

    @cached_property
    @raised_plainly()
    def known_removed(self) -> int:
        """The number of documents removed because of a match in an older collection."""
        return 0 if self.known is None else int(self.known.numbers.count())

    @property
    def files(self) -> list[str] | None:
        """The names of the input files in order; None for a DataFrame."""
        sources = getattr(self.documents, "sources", None)
        return None if sources is None else [source.name for source in sources]

    @property
    def malformed_rows(self) -> list[MalformedRow]:
        """The malformed rows that the run collected on the driver."""
        return list(self.reading.malformed)

    @raised_plainly()
    def by_source(self) -> list[SourceCounts]:
        """Return the counts of each source in input order."""
        return by_source(self)


def table(result: ClusterTables, name: str) -> DataFrame:
    """One of `TABLES`."""
    if name not in TABLES:
        raise SettingsError(f"unknown table {name!r}: choose one of {', '.join(TABLES)}")
    return TABLES[name](result)


def of_kind(result: ClusterTables, kind: int) -> DataFrame:
    """The outcomes of one kind."""
    from pyspark.sql import functions as F

    return result.outcomes.where(F.col("kind") == kind)


def pairs(result: ClusterTables) -> DataFrame:
    """The verified pairs: those of different contents, and each copy with the representative of its content."""
    from pyspark.sql import functions as F

    columns = ("left_id", "right_id", "similarity")
    copies = with_original_place(result)
    original_first = F.col("original_place") < F.col("place")
    if result.settings.keep.rule == "first":
        original_first = F.lit(True)
    copied = copies.select(
        F.when(original_first, F.col("original_id")).otherwise(F.col("id")).alias("left_id"),
        F.when(original_first, F.col("id")).otherwise(F.col("original_id")).alias("right_id"),
        F.lit(1.0).alias("similarity"),
    )
    return of_kind(result, PAIR).select(*columns).unionByName(copied)


def with_original_place(result: ClusterTables) -> DataFrame:
    """The copies with the place of their representative, which determines the earlier one of the two."""
    from pyspark.sql import functions as F

    if result.settings.keep.rule == "first" or "original_place" in result.copied.columns:
        return result.copied
    places = result.sketches.select(
        F.col("number").alias("original"),
        F.struct("place", "number").alias("original_place"),
    )
    copies = result.copied.withColumn("place", F.struct("place", "number"))
    return copies.join(places, "original")


def removed(result: ClusterTables) -> DataFrame:
    """The removals: each removed document with the kept one and the reason."""
    from pyspark.sql import functions as F

    rows = originals_of(result, of_kind(result, REMOVED))
    same = F.col("left_original") == F.col("right_original")
    near = rows.select(
        F.col("left_id").alias("id"),
        F.col("right_id").alias("kept_id"),
        F.col("component_id").alias("cluster"),
        "similarity",
        F.when(same, "identical").otherwise("near").alias("reason"),
        F.lit(None).cast("string").alias("kept_in"),
        "identity_a",
        "identity_b",
        F.col("left").alias("number"),
        F.col("right").alias("kept_number"),
    )
    if result.known is not None:
        near = together(near, known_removals(result))
    return with_places(result, near)


def originals_of(result: ClusterTables, rows: DataFrame) -> DataFrame:
    """Rows with the representatives of the contents of `left` and `right`."""
    from pyspark.sql import functions as F

    for end in ("left", "right"):
        named = f"{end}_original"
        if end == "right" and result.known is None:
            # The kept document is the representative of its content unless another one of that content is known.
            return rows.withColumn(named, F.col(end))
        copies = result.copied.select(F.col("number").alias(end), F.col("original").alias(named))
        rows = rows.join(copies, end, "left").withColumn(named, F.coalesce(F.col(named), F.col(end)))
    return rows


def known_removals(result: ClusterTables) -> DataFrame:
    """The removals of known documents, in the columns of `tables.removed`, each with its best match."""
    from pyspark.sql import functions as F

    identity = result.sketches.select("number", "identity_a", "identity_b")
    best = result.known.matches.where("best").join(identity, "number")
    return best.select(
        "id",
        F.col("old_id").alias("kept_id"),
        F.lit(None).cast(result.run.columns["id"]).alias("cluster"),
        "similarity",
        F.lit("known").alias("reason"),
        F.col("index").alias("kept_in"),
        "identity_a",
        "identity_b",
        "number",
        F.lit(None).cast("bigint").alias("kept_number"),
    )


def together(near: DataFrame, known: DataFrame) -> DataFrame:
    """Both kinds of removals; if ids of the run and of a collection have different types, `kept_id` is text."""
    from pyspark.sql import functions as F

    if dict(near.dtypes)["kept_id"] != dict(known.dtypes)["kept_id"]:
        near, known = (item.withColumn("kept_id", F.col("kept_id").cast("string")) for item in (near, known))
    return near.unionByName(known)


def clusters(result: ClusterTables) -> DataFrame:
    """The members of each cluster of two or more documents."""
    from pyspark.sql import functions as F

    gone = of_kind(result, REMOVED)
    members = gone.select(
        F.col("right_id").alias("cluster_id"),
        F.col("left_id").alias("id"),
        "similarity",
        F.lit(False).alias("representative"),
        "component_id",
        F.col("left").alias("number"),
    )
    led = gone.select("right").distinct()
    leaders = (
        of_kind(result, KEPT)
        .join(led, "right", "left_semi")
        .select(
            F.col("left_id").alias("cluster_id"),
            F.col("left_id").alias("id"),
            F.lit(1.0).alias("similarity"),
            F.lit(True).alias("representative"),
            "component_id",
            F.col("left").alias("number"),
        )
    )
    return with_places(result, members.unionByName(leaders))


def malformed(result: ClusterTables) -> DataFrame:
    """The malformed rows."""
    from pyspark.sql import functions as F

    rows = result.sketches.where(F.col("state") == MALFORMED)
    return with_places(result, rows.select("id", "reason", "number"))


def old_matches(result: ClusterTables) -> DataFrame:
    """The verified matches with documents of older collections; empty without collections."""
    from pyspark.sql import functions as F

    if result.known is None:
        none = result.outcomes.limit(0).select(
            F.col("left_id").alias("id"), F.col("right_id").alias("old_id")
        )
        return none.withColumns({"index": F.lit(""), "similarity": F.lit(1.0)})
    return result.known.matches.select("id", "old_id", "index", "similarity")


def with_places(result: ClusterTables, rows: DataFrame) -> DataFrame:
    """Rows with the file and the row of `number` and of `kept_number`, for documents in files."""
    from pyspark.sql import functions as F

    ends = {"number": "", "kept_number": "kept_"}
    if result.files is not None:
        for number, prefix in ends.items():
            if number not in rows.columns:
                continue
            source, row = (f"{prefix}{name}" for name in ("source", "row"))
            names = F.broadcast(sources_of(result, source, f"{prefix}file"))
            rows = rows.withColumn(source, F.shiftright(F.col(number), SOURCE_BITS).cast("int"))
            rows = rows.join(names, source, "left").drop(source)
            rows = rows.withColumn(row, F.col(number).bitwiseAND(F.lit((1 << SOURCE_BITS) - 1)))
    return rows.drop("kept_number")


def sources_of(result: ClusterTables, number: str, name: str) -> DataFrame:
    """The number and name of each file."""
    pyarrow = require("pyarrow", extra="spark", purpose="runs on Spark")
    names = list(result.files or ())
    return from_arrow(
        result.run.spark,
        pyarrow.table({number: pyarrow.array(range(len(names)), pyarrow.int32()), name: names}),
    )


def counts(result: ClusterTables) -> dict[str, int]:
    """The counts of a result, with the names and the order of a local one."""
    read, joined, decided = result.reading, result.joined, result.decided.counts
    known = result.known_removed
    removed = decided["removed"] + known
    return {
        "read": read.read,
        "malformed": read.read - read.documents,
        "documents": read.documents,
        "kept": read.documents - removed,
        "removed": removed,
        "identical": decided["identical"],
        "near": decided["near"],
        **({} if result.known is None else {"known": known}),
        "short": read.short,
        "empty": read.empty,
        "candidates": joined.candidates,
        "pairs": decided["pairs"],
        "clusters": decided["clusters"],
        "oversized_buckets": joined.oversized_buckets,
        "oversized_documents": joined.oversized_documents,
    }


def by_source(result: ClusterTables) -> list[SourceCounts]:
    """The counts of each source in input order; one job."""
    from pyspark.sql import functions as F

    states: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for (position, state), count in result.reading.by_source.items():
        states[position or 0][state] += count
    reasons: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    source = F.shiftright(F.col("number"), SOURCE_BITS) if result.files is not None else F.lit(0)
    gone = result.removed.groupBy(source.cast("int").alias("source"), "reason").count()
    for row in gone.collect():
        reasons[row["source"]][row["reason"]] += row["count"]
    names = [result.documents.name] if result.files is None else result.files
    return [_of_source(name, states[number], reasons[number]) for number, name in enumerate(names)]


def _of_source(name: str, states: dict[int, int], reasons: dict[str, int]) -> SourceCounts:
    read, malformed, removed = sum(states.values()), states[MALFORMED], sum(reasons.values())
    return SourceCounts(
        name=name,
        read=read,
        documents=read - malformed,
        kept=read - malformed - removed,
        removed=removed,
        identical=reasons["identical"],
        near=reasons["near"],
        known=reasons["known"],
        short=states[SHORT],
        empty=states[EMPTY],
        malformed=malformed,
    )


def column(rows: Any, name: str) -> NDArray[Any]:
    """A column of a table on the driver, without nulls."""
    values: NDArray[Any] = rows.column(name).to_numpy()
    return values


def plain_id(result: ClusterTables, item: Any) -> Any:
    """An id as given by the user; ids of files are transferred as JSON."""
    return json.loads(item) if result.documents.id_form == "json" and item is not None else item


TABLES: dict[str, Callable[[ClusterTables], DataFrame]] = {
    "pairs": pairs,
    "clusters": clusters,
    "removed": removed,
    "malformed": malformed,
    "old_matches": old_matches,
}
