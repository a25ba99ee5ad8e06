"""Applies removals to a table, and checks whether they are still valid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benzer.bands import Bands
from benzer.errors import SettingsError
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher
from benzer.spark.failures import told_plainly
from benzer.spark.results.base import ClusterTables
from benzer.spark.settings import SparkRun

DataFrame = Any
TOLD = ("cluster", "kept_id", "similarity", "reason")
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

    @told_plainly()
    def changed_ids(self, most: int = 20) -> list[str | int]:
        """Some ids of changed rows, ascending."""
        return [row["id"] for row in self.changed.select("id").distinct().orderBy("id").limit(most).collect()]


def kept(found: ClusterTables, df: DataFrame | None) -> DataFrame:
    """The rows whose ids are not removed."""
    df = frame_of(found, df)
    return without(found, df, found.removed.select("id"))


def annotate(found: ClusterTables, df: DataFrame | None, prefix: str) -> DataFrame:
    """All rows with the evidence of removed ones."""
    from pyspark.sql import functions as F

    df = frame_of(found, df)
    names = [f"{prefix}{name}" for name in TOLD]
    held = {name.lower() for name in df.columns}  # Spark ignores the case of names
    taken = [name for name in names if name.lower() in held]
    if taken:
        raise SettingsError(
            f"the table already has a column {taken[0]!r}: use a prefix, as in annotate(df, prefix='benzer_')"
        )
    told = found.removed.select(
        F.col("id").alias(OWN), *(F.col(name).alias(new) for name, new in zip(TOLD, names, strict=True))
    )
    return df.join(told, own_id(found) == F.col(OWN), "left").drop(OWN)


def apply(found: ClusterTables, df: DataFrame | None) -> Applied:
    """The kept rows, and those whose removal is void."""
    from pyspark.sql import functions as F

    df = frame_of(found, df)
    evidence = found.removed.select(
        F.col("id").alias(OWN), "kept_id", "reason", *(F.col(f"identity_{half}").alias(half) for half in "ab")
    )
    going = df.join(evidence.select(OWN), own_id(found) == F.col(OWN), "left_semi")
    again = identities(found, going).join(evidence, F.col("id") == F.col(OWN))
    same = F.col("identity_a").eqNullSafe(F.col("a")) & F.col("identity_b").eqNullSafe(F.col("b"))
    changed = again.where(~same).select("id", "kept_id", "reason")
    firm = evidence.select(F.col(OWN).alias("id")).join(changed.select("id").distinct(), "id", "left_anti")
    return Applied(without(found, df, firm), changed)


def identities(found: ClusterTables, df: DataFrame) -> DataFrame:
    """The id and the identity of each row, as in a run, with a minimum of bands."""
    from benzer.spark import sketching
    from benzer.spark.documents import documents_of

    own = found.documents
    documents = documents_of(df, own.schema, dict(own.fields), own.id)
    plain = Sketcher(own.schema, MinHash(num_hashes=1, seed=found.settings.minhash.seed), Bands(1, 1))
    run = SparkRun(found.run.spark, replace(found.settings), plain, found.run.work, documents.columns)
    return sketching.sketch(run, documents).select("id", "identity_a", "identity_b")


def without(found: ClusterTables, df: DataFrame, ids: DataFrame) -> DataFrame:
    """The rows without these ids."""
    from pyspark.sql import functions as F

    return df.join(ids.select(F.col("id").alias(OWN)), own_id(found) == F.col(OWN), "left_anti")


def own_id(found: ClusterTables) -> Any:
    """The id of a row of a user table, in the id type of the run."""
    from benzer.spark.columns import column

    return column(found.documents.id).cast(found.run.columns["id"])


def frame_of(found: ClusterTables, df: DataFrame | None) -> DataFrame:
    """The table of the argument or of the run; files have no table."""
    if found.files is not None:
        raise SettingsError(
            "the documents are from files, not from a DataFrame: use write_bitmaps, or the table `removed`, which "
            "has file and row"
        )
    df = found.documents.df if df is None else df
    if found.documents.id not in df.columns:
        raise SettingsError(f"the table has no id column {found.documents.id!r}: add it")
    return df
