"""Applies removals to a table, and checks whether they are still valid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benzer.bands import Bands
from benzer.errors import SettingsError
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher
from benzer.spark.failures import raised_plainly
from benzer.spark.results.base import ClusterTables
from benzer.spark.settings import SparkRun

DataFrame = Any
REMOVAL_COLUMNS = ("cluster", "kept_id", "similarity", "reason")
OWN = "benzer_id"
"""A column name that user tables do not have."""


@dataclass(frozen=True)
class Applied:
    """Removals applied to a table.

    Attributes:
        rows: The kept rows.
        changed: Rows whose removal is void because their content has changed (id, kept_id, reason); included in `rows`.
    """

    rows: DataFrame = field(repr=False)
    changed: DataFrame = field(repr=False)

    @raised_plainly()
    def changed_ids(self, most: int = 20) -> list[str | int]:
        """Some ids of changed rows, ascending."""
        return [row["id"] for row in self.changed.select("id").distinct().orderBy("id").limit(most).collect()]


def kept(result: ClusterTables, df: DataFrame | None) -> DataFrame:
    """The rows whose ids are not removed."""
    df = frame_of(result, df)
    return without(result, df, result.removed.select("id"))


def annotate(result: ClusterTables, df: DataFrame | None, prefix: str) -> DataFrame:
    """All rows with the evidence of removed ones."""
    from pyspark.sql import functions as F

    df = frame_of(result, df)
    names = [f"{prefix}{name}" for name in REMOVAL_COLUMNS]
    existing = {name.lower() for name in df.columns}  # Spark ignores the case of names
    repeated = [name for name in names if name.lower() in existing]
    if repeated:
        raise SettingsError(
            f"the table already has a column {repeated[0]!r}: use a prefix, as in annotate(df, prefix='benzer_')"
        )
    removals = result.removed.select(
        F.col("id").alias(OWN),
        *(F.col(name).alias(new) for name, new in zip(REMOVAL_COLUMNS, names, strict=True)),
    )
    return df.join(removals, own_id(result) == F.col(OWN), "left").drop(OWN)


def apply(result: ClusterTables, df: DataFrame | None) -> Applied:
    """The kept rows, and those whose removal is void."""
    from pyspark.sql import functions as F

    df = frame_of(result, df)
    evidence = result.removed.select(
        F.col("id").alias(OWN), "kept_id", "reason", *(F.col(f"identity_{half}").alias(half) for half in "ab")
    )
    going = df.join(evidence.select(OWN), own_id(result) == F.col(OWN), "left_semi")
    again = identities(result, going).join(evidence, F.col("id") == F.col(OWN))
    same = F.col("identity_a").eqNullSafe(F.col("a")) & F.col("identity_b").eqNullSafe(F.col("b"))
    changed = again.where(~same).select("id", "kept_id", "reason")
    firm = evidence.select(F.col(OWN).alias("id")).join(changed.select("id").distinct(), "id", "left_anti")
    return Applied(without(result, df, firm), changed)


def identities(result: ClusterTables, df: DataFrame) -> DataFrame:
    """The id and the identity of each row, as in a run, with a minimum of bands."""
    from benzer.spark import sketching
    from benzer.spark.documents import documents_of

    own = result.documents
    documents = documents_of(df, own.schema, dict(own.fields), own.id)
    plain = Sketcher(own.schema, MinHash(num_hashes=1, seed=result.settings.minhash.seed), Bands(1, 1))
    run = SparkRun(result.run.spark, replace(result.settings), plain, result.run.work, documents.columns)
    return sketching.sketch(run, documents).select("id", "identity_a", "identity_b")


def without(result: ClusterTables, df: DataFrame, ids: DataFrame) -> DataFrame:
    """The rows without these ids."""
    from pyspark.sql import functions as F

    return df.join(ids.select(F.col("id").alias(OWN)), own_id(result) == F.col(OWN), "left_anti")


def own_id(result: ClusterTables) -> Any:
    """The id of a row of a user table, in the id type of the run."""
    from benzer.spark.columns import column

    return column(result.documents.id).cast(result.run.columns["id"])


def frame_of(result: ClusterTables, df: DataFrame | None) -> DataFrame:
    """The table of the argument or of the run; files have no table."""
    if result.files is not None:
        raise SettingsError(
            "the documents are from files, not from a DataFrame: use write_bitmaps, or the table `removed`, which "
            "has file and row"
        )
    df = result.documents.df if df is None else df
    if result.documents.id not in df.columns:
        raise SettingsError(f"the table has no id column {result.documents.id!r}: add it")
    return df
