"""Small inputs for runs on Spark, and what a run needs, as the flow makes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from benzer.clusters import Keep
from benzer.fields import Schema
from benzer.pipeline.promise import Promise
from benzer.results import Settings
from benzer.spark import copies, sketching
from benzer.spark.documents import Documents, documents_of
from benzer.spark.repeats import repeats
from benzer.spark.settings import SparkRun, Work
from benzer.spark.sketching import Counts
from benzer.spark.stages import StageTables

WORDS = [
    "ash",
    "birch",
    "cedar",
    "elm",
    "fir",
    "gum",
    "hazel",
    "ivy",
    "juniper",
    "larch",
    "maple",
    "oak",
    "pine",
]


def texts(count: int, seed: int = 0) -> list[str | None]:
    """Texts with copies, near copies, short ones, empty ones and nulls among them."""
    chance = random.Random(seed)
    made: list[str | None] = []
    for _ in range(count):
        earlier = [text for text in made if text]
        kind = chance.random()
        if kind < 0.25 and earlier:
            made.append(chance.choice(earlier))
        elif kind < 0.45 and earlier:
            made.append(f"{chance.choice(earlier)} {chance.choice(WORDS)}")
        elif kind < 0.55:
            made.append(chance.choice(["", "  ", None, "oak", "oak elm"]))
        else:
            made.append(" ".join(chance.choices(WORDS, k=chance.randrange(3, 40))))
    return made


class Stages(StageTables):
    """The stages of a run without a checkpoint, whose names must differ."""

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        assert name not in self.timings
        return super().keep(name, make)


def counted(run: SparkRun, documents: Documents, sketches: Any) -> Counts:
    """`sketching.counted` with stages of its own."""
    return sketching.counted(run, StageTables(run.spark), documents, sketches)


def copies_of(run: SparkRun, sketches: Any) -> Any:
    """`copies.copies`, with the contents that are repeated."""
    repeated = repeats(run, StageTables(run.spark), sketches, "number", 100)
    return copies.copies(run, sketches, repeated)


def run_of(
    documents: Documents,
    keep: str = "first",
    work: Work | None = None,
    threshold: float = 0.7,
    **settings: Any,
) -> SparkRun:
    """The run over some documents, as the flow makes it."""
    way = Promise(documents.schema, threshold, 0.95).by("lsh")
    assert way is not None
    made = Settings(
        threshold, 0.95, documents.schema, way.sketcher.minhash, way.bands, Keep.parse(keep), 1000,
        settings.pop("on_error", "stop"), **settings,
    )  # fmt: skip
    return SparkRun(documents.spark, made, way.sketcher, work or Work(), documents.columns)


def frame(spark: Any, rows: Sequence[tuple[Any, ...]], schema: str = "id bigint, text string") -> Any:
    """A DataFrame of a few rows."""
    return spark.createDataFrame(list(rows), schema)


def documents(
    spark: Any, rows: Sequence[tuple[Any, ...]], schema: str = "id bigint, text string", **how: Any
) -> Any:
    """The documents of a few rows."""
    return documents_of(frame(spark, rows, schema), how.pop("fields", Schema()), **how)
