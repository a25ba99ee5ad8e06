"""The join: keys are distributed to parts, parts propose pairs, and each pair is kept once.

Keys travel packed (see `packing`), with no more than the number of their document. Keys that more documents share than
`bucket_limit` are found on the way; what is in their buckets is collected afterwards (see `large`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from benzer._native import usual_limit
from benzer.candidates import LIMITS
from benzer.spark.frames import DataFrame
from benzer.spark.joining import large
from benzer.spark.joining.packing import PACKED, Sizes, Words, by_part
from benzer.spark.joining.workers import JOINED, Deal, DealPairs, Distinct, Meet
from benzer.spark.session import to_arrow
from benzer.spark.tasks import ArrowTask


@dataclass(frozen=True)
class Joined:
    """All candidates.

    Attributes:
        pairs: `frames.PAIRS`, of documents that share no large bucket.
        candidates: The number of pairs.
        oversized_buckets: The number of buckets above the limit, whose pairs are not listed.
        oversized_documents: The documents in them, once for each bucket.
        limit: The maximum number of documents of a bucket whose pairs are all listed.
        distinct: Each pair is listed once.
        buckets: The large buckets of each document (`number`, `buckets`); None if there is none.
        ties: Pairs of documents connected by large buckets, to be decided in one task; None if there is none.
    """

    pairs: DataFrame
    candidates: int
    oversized_buckets: int = 0
    oversized_documents: int = 0
    limit: int = LIMITS[1]
    distinct: bool = True
    buckets: DataFrame | None = None
    ties: DataFrame | None = None


def join(
    run: Any,
    stages: Any,
    sketches: DataFrame,
    copied: DataFrame,
    sizes: Sizes | None = None,
    documents: int | None = None,
) -> Joined:
    """The candidates of all documents that are no copies: those of `benzer.candidates.propose`.

    documents: the approximate number of sketches; counted if it is not given. It only affects the parts.
    """
    sizes = sizes or Sizes()
    width = len(run.settings.schema.fields) * run.settings.bands.bands
    parts = sizes.parts_of((sketches.count() if documents is None else documents) * width)
    own = sketches.where("keys is not null").select("number", "keys")
    own = own.join(copied.select("number"), "number", "left_anti")
    tables = [
        stages.keep(name, lambda deal=deal: _met(run, own, deal, parts))
        for name, deal in _passes(run, width, parts, sizes)
    ]
    counted = [_counted(table) for table in tables]
    hot_keys = [_hot_keys(table) for table, (_, hot) in zip(tables, counted, strict=True) if hot]
    if len(tables) == 1:
        pairs, candidates = _pairs(tables[0]), counted[0][0]
    else:
        dealt = [_pairs(table).mapInArrow(ArrowTask(DealPairs(parts, sizes)), PACKED) for table in tables]
        all_pairs = stages.keep(
            "join-all",
            lambda: by_part(run, reduce(lambda a, b: a.unionByName(b), dealt)).mapInArrow(
                ArrowTask(Distinct(sizes)), JOINED
            ),
        )
        pairs, candidates = _pairs(all_pairs), _counted(all_pairs)[0]
    given = run.settings.bucket_limit
    if not hot_keys:
        return Joined(pairs, candidates, limit=given or LIMITS[1])
    keys = {band: keys for item in hot_keys for band, keys in item.items()}
    belong = stages.keep("join-large", lambda: large.memberships(own, width, keys, sizes.hot))
    limit = given
    if limit is None:
        entries = (sketches.count() if documents is None else documents) * width
        limit = usual_limit(large.sizes(belong), entries)
        if limit > LIMITS[0]:
            medium = stages.keep("join-medium", lambda: large.medium_pairs(belong, limit))
            together = pairs.unionByName(medium)
            pairs = stages.keep("join-both", together.distinct)
            belong = large.above(belong, limit)
    counts = large.sizes(belong)
    if not counts:
        return Joined(pairs, pairs.count(), limit=limit)
    buckets = large.of_documents(belong)
    apart = stages.keep("join-apart", lambda: large.sharing_none(pairs, buckets))
    return Joined(
        apart,
        apart.count(),
        len(counts),
        sum(counts),
        limit,
        buckets=buckets,
        ties=stages.keep("join-ties", lambda: large.ties(belong)),
    )


def _passes(run: Any, width: int, parts: int, sizes: Sizes) -> Iterator[tuple[str, Deal]]:
    """The bands that are distributed together, and the name of the stage."""
    each = run.work.bands_per_pass if 0 < run.work.bands_per_pass < width else width
    of_band = -(-parts // width)
    for first in range(0, width, each):
        name = "join" if each == width else f"join-{first}"
        yield (
            name,
            Deal(
                width, first, min(first + each, width), of_band, run.settings.bucket_limit or LIMITS[0], sizes
            ),
        )


def _met(run: Any, own: DataFrame, deal: Deal, pair_parts: int) -> DataFrame:
    """The pairs of some bands, and their keys above the limit (`JOINED`)."""
    meet = Meet(deal.first, deal.parts, pair_parts, deal.limit, deal.sizes)
    dealt = own.select("number", "keys").mapInArrow(ArrowTask(deal), PACKED)
    return by_part(run, by_part(run, dealt).mapInArrow(ArrowTask(meet), PACKED)).mapInArrow(
        ArrowTask(Distinct(deal.sizes)), JOINED
    )


def _pairs(table: DataFrame) -> DataFrame:
    return table.where("right is not null").select("left", "right")


def _counted(table: DataFrame) -> tuple[int, int]:
    """The number of pairs and of keys above the limit."""
    from pyspark.sql import functions as F

    row = table.agg(F.count("right"), F.count("band")).collect()[0]
    return int(row[0]), int(row[1])


def _hot_keys(table: DataFrame) -> dict[int, Words]:
    """The keys above the limit of each band: there are at most as many as entries, divided by the limit."""
    rows = to_arrow(table.where("band is not null").select("band", "left"))
    bands, keys = rows.column("band").to_numpy(), rows.column("left").to_numpy().view(np.uint64)
    return {int(band): np.unique(keys[bands == band]) for band in np.unique(bands)}
