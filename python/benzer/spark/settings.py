"""What does a run on Spark depend on, and what of it changes the answer?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benzer.clusters import Keep
from benzer.errors import SettingsError
from benzer.results import Settings
from benzer.sketcher import Sketcher


@dataclass(frozen=True)
class Work:
    """How the work is cut; none of it changes the answer.

    partitions: tasks of a shuffle; None leaves it to Spark (`spark.sql.shuffle.partitions`).
    bands_per_pass: how many bands are shuffled at a time, 0 for all. k of b need k/b of the local disk, and read the
        sketches b/k times.
    driver_pairs: up to so many candidate pairs are grouped on the driver; more by Spark.
    forest_nodes: up to so many documents with candidates are grouped by a tree of spanning forests, whose last task
        takes 265 bytes a document; more by stars, in rounds.
    block_documents, block_pairs: the most of one component that one task verifies and decides at once, its texts
        held; larger components are cut, and decided in rounds. Small components are sent together, some 4,096
        documents, or so many if it is less. Fewer where texts are long or workers small.

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
"""The least that each can be: a pair has two documents."""


@dataclass(frozen=True)
class Run:
    """What every stage of a run shares.

    settings: what the answer depends on, as in a local run. sketcher: what makes keys. columns: types of the columns
    `id` and `place`, by name, as Spark writes them.
    """

    spark: Any
    settings: Settings
    sketcher: Sketcher
    work: Work
    columns: dict[str, str]

    @property
    def threshold(self) -> float:
        """The similarity from which two documents are duplicates."""
        return self.settings.threshold

    @property
    def keep(self) -> Keep:
        """Which document of a cluster stays."""
        return self.settings.keep

    def typed(self, schema: str) -> str:
        """A schema of `frames` with the types of this run's ids and places."""
        return schema.format(**self.columns)
