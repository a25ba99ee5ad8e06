"""The settings of a run on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benzer.clusters import Keep
from benzer.errors import SettingsError
from benzer.results import Settings
from benzer.sketcher import Sketcher


@dataclass(frozen=True)
class Work:
    """How the work is divided. It does not affect the result.

    Attributes:
        partitions: Number of tasks of a shuffle; None for the setting of Spark (`spark.sql.shuffle.partitions`).
        bands_per_pass: Number of bands that are shuffled at a time, 0 for all. k of b bands need k/b of the local disk
            and read the sketches b/k times.
        driver_pairs: Maximum number of candidate pairs that are grouped on the driver; more are grouped by Spark.
        forest_nodes: Maximum number of documents with candidates that are grouped by a tree of spanning forests, whose
            last task needs 265 bytes per document; more are grouped by stars, in rounds.
        block_documents: Maximum number of documents of a component that one task verifies and decides at once, with
            their texts in memory. Larger components are divided and decided in rounds. Small components are sent
            together, about 4,096 documents, or this number if it is lower. Use a lower number for long texts or small
            workers.
        block_pairs: Maximum number of pairs of a component that one task verifies and decides at once.

    >>> Work(partitions=2000, bands_per_pass=2).driver_pairs
    10000000
    >>> Work(block_documents=1)
    Traceback (most recent call last):
    benzer.errors.SettingsError: block_documents must be a whole number of at least 2, got 1
    """

    partitions: int | None = None
    bands_per_pass: int = 0
    driver_pairs: int = 10_000_000
    forest_nodes: int = 20_000_000
    block_documents: int = 20_000
    block_pairs: int = 2_000_000

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is None and name == "partitions":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingsError(f"{name} must be a whole number of at least {least}, got {value!r}")


LEAST = {
    "partitions": 1, "bands_per_pass": 0, "driver_pairs": 0, "forest_nodes": 0, "block_documents": 2, "block_pairs": 1
}  # fmt: skip
"""The minimum of each; a pair has two documents."""


@dataclass(frozen=True)
class SparkRun:
    """The context shared by all stages of a run.

    settings: the settings that affect the result, as in a local run. sketcher: computes the keys. columns: Spark types
    of the columns `id` and `place`, by name.
    """

    spark: Any
    settings: Settings
    sketcher: Sketcher
    work: Work
    columns: dict[str, str]

    @property
    def threshold(self) -> float:
        """The minimum similarity of duplicates."""
        return self.settings.threshold

    @property
    def keep(self) -> Keep:
        """The keep rule."""
        return self.settings.keep

    def typed(self, schema: str) -> str:
        """A schema of `frames` with the types of this run's ids and places."""
        return schema.format(**self.columns)
