"""The documents of a collection most similar to each query: `Index.find_similar` for a table of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from benzer.checks import check_threshold
from benzer.index.documents import check_limit
from benzer.spark import copies, sketching
from benzer.spark.collection import Collection, collection_of, read_collection, run_of
from benzer.spark.documents import documents_of
from benzer.spark.failures import raised_plainly
from benzer.spark.matching.asking import Asking
from benzer.spark.matching.verifying import Verify
from benzer.spark.session import configured, session_of
from benzer.spark.settings import Work
from benzer.spark.stages import StageTables


@raised_plainly()
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
    """Find the documents of a collection that are most similar to each query.

    Each row of the result is one match: `query_id`, `id`, `similarity`, `rank` (from 1). With `fields` it also has
    `similarity_NAME` for each field, null if one document lacks the field. The matches are those of
    `Index.find_similar`: exact similarities of at least `threshold`, most similar first, equal ones in the order of the
    collection. A query without matches has no row; empty queries have no matches.

    All documents that share a bucket with a query are compared: a text that a million documents contain costs a million
    comparisons. No task holds all of them. The result is cached by Spark until its `unpersist()`.

        found = find_similar(spark.read.parquet("s3://lake/questions"), "s3://lake/articles.benzer", limit=5, id="url")

    Args:
        queries: A DataFrame with one row per query. It is read more than once and must return the same rows each time.
        collection: A `Collection`, its path, or a DataFrame with the columns of the queries, which is sketched for this
            call (with `threshold`, default 0.8).
        limit: Maximum number of matches per query; None for all.
        threshold: Minimum similarity in [0, 1]; default: that of the collection. Below that, the recall is lower than
            that of the collection.
        text, id, on_error, work: As in `find_duplicates`.
        identified: Whether equal ids mean the same document on both sides, which is then excluded from the result. Use
            False if queries have separate ids.
        fields: Whether to include the similarity of each field.

    Returns:
        A DataFrame of matches.

    Raises:
        SettingsError: A setting is out of range.
        InputError: A column is missing or has the wrong type.
        StorageError, StoreFormatError: The collection does not exist or cannot be read.
        MalformedRowError, DuplicateIdError: A query is malformed or its id is not unique.
    """
    check_limit(limit)
    if threshold is not None:
        check_threshold(threshold, zero=True)
    spark = session_of(queries)
    opened = as_collection(spark, collection, threshold, text, id, work)
    documents = documents_of(queries, opened.settings.schema, text, id, None, None, on_error)
    run = run_of(documents, opened.settings, on_error, work)
    least = opened.settings.threshold if threshold is None else threshold
    verify = Verify(opened.settings.schema, least, limit, identified, fields)
    with configured(spark, run.work.partitions), StageTables.opened(run, documents, None, None) as stages:
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents))
        counts = sketching.counted(run, stages, documents, sketches)
        copied = stages.keep("copies", lambda: copies.copies(run, sketches, counts.repeated))
        asking = Asking(run, documents, sketches, copied)
        candidates = stages.keep("candidates", lambda: asking.candidates(opened))
        return named(asking.matches(opened, candidates, verify), verify).persist()


def as_collection(
    spark: Any, given: Any, threshold: float | None, text: Any, id: Any, work: Any
) -> Collection:
    """The collection of the argument: opened, by its path, or as a DataFrame."""
    if isinstance(given, Collection):
        return given
    if isinstance(given, str):
        return read_collection(spark, given)
    return collection_of(given, threshold=threshold or 0.8, text=text, id=id, work=work)


def named(matches: Any, verify: Verify) -> Any:
    """The result with public column names."""
    from pyspark.sql import functions as F

    names = list(verify.schema.fields) if verify.fields else []
    return matches.select(
        F.col("id").alias("query_id"),
        F.col("old_id").alias("id"),
        "similarity",
        "rank",
        *(F.col(f"similarity_{position}").alias(f"similarity_{name}") for position, name in enumerate(names)),
    )
