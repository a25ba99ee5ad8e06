"""Which documents of a collection are most like each of many queries? `Index.find_similar` for a table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from benzer.checks import is_number
from benzer.errors import SettingsError
from benzer.index.answers import check_limit
from benzer.spark import copies, sketching
from benzer.spark.collection import Collection, collection_of, read_collection, run_of
from benzer.spark.documents import documents_of
from benzer.spark.failures import told_plainly
from benzer.spark.matching.asking import Asking
from benzer.spark.matching.verifying import Verify
from benzer.spark.session import configured, session_of
from benzer.spark.settings import Work
from benzer.spark.stages import Stages


@told_plainly()
def find_similar(
    queries: Any,
    collection: Any,
    *,
    limit: int | None = 10,
    threshold: float | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    identified: bool = True,
    fields: bool = False,
    on_error: Literal["stop", "skip"] = "stop",
    work: Work | None = None,
) -> Any:
    """The documents of a collection that are most like each query: a DataFrame of matches, the best of rank 1.

    Each row is one match: `query_id`, `id`, `similarity`, `rank`; with `fields` also `similarity_NAME` of each field,
    null where one of the two lacks it. They are those that `Index.find_similar` gives for each query: exact, at least
    `threshold`, best first, of equal similarity in the order of the collection. A query without matches has no row;
    empty ones are like no other.

    queries: a DataFrame, a row a query. It is read more than once, and must give the same rows each time.
    collection: a `Collection`, the path of one, or a DataFrame with the columns of the queries, which is sketched for
        this call (at `threshold`, by default 0.8).
    limit: how many matches of each query at most; None for all.
    threshold: how similar a match is at least, in [0, 1]; by default that of the collection. Below it, fewer are found
        than its recall says.
    text, id, on_error, work: as of `find_duplicates`.
    identified: whether an id names the same document on both sides, which then is not offered as like itself. Say False
        where queries have ids of their own.

    All documents that share a bucket with a query are compared: what a text that stands in a million documents costs
    is a million comparisons. No task holds them. The answer is kept by Spark until its `unpersist()`.

        found = find_similar(spark.read.parquet("s3://lake/questions"), "s3://lake/articles.benzer", limit=5, id="url")

    Raises:
        SettingsError: a setting is out of range. InputError: a column is missing, or of another type than is needed.
        StorageError, StoreFormatError: the collection is not there, or cannot be read.
        MalformedRowError, DuplicateIdError: of the queries, as their names say.
    """
    check_limit(limit)
    if threshold is not None and (not is_number(threshold) or not 0 <= threshold <= 1):
        raise SettingsError(f"threshold must be in [0, 1], got {threshold}")
    spark = session_of(queries)
    held = as_collection(spark, collection, threshold, text, id, work)
    documents = documents_of(queries, held.settings.schema, text, id, None, None, on_error)
    run = run_of(documents, held.settings, on_error, work)
    least = held.settings.threshold if threshold is None else threshold
    verify = Verify(held.settings.schema, least, limit, identified, fields)
    with configured(spark, run.work.partitions), Stages.opened(run, documents, None, None) as stages:
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents))
        counts = sketching.counted(run, stages, documents, sketches)
        copied = stages.keep("copies", lambda: copies.copies(run, sketches, counts.repeated))
        asking = Asking(run, documents, sketches, copied)
        candidates = stages.keep("candidates", lambda: asking.candidates(held))
        return named(asking.matches(held, candidates, verify), verify).persist()


def as_collection(
    spark: Any, given: Any, threshold: float | None, text: Any, id: Any, work: Any
) -> Collection:
    """A collection as it was given: opened, by its path, or as a DataFrame."""
    if isinstance(given, Collection):
        return given
    if isinstance(given, str):
        return read_collection(spark, given)
    return collection_of(given, threshold=threshold or 0.8, text=text, id=id, work=work)


def named(matches: Any, verify: Verify) -> Any:
    """The answer, by the names that a user knows."""
    from pyspark.sql import functions as F

    names = list(verify.schema.fields) if verify.fields else []
    return matches.select(
        F.col("id").alias("query_id"),
        F.col("old_id").alias("id"),
        "similarity",
        "rank",
        *(F.col(f"similarity_{at}").alias(f"similarity_{name}") for at, name in enumerate(names)),
    )
