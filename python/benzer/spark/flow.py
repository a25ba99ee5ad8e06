"""The run on Spark: the stages of a local run, each as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from benzer.clusters import Keep
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.fields.schema import check_schema
from benzer.pipeline.against import default_recall, default_threshold
from benzer.pipeline.checkpoint import Checkpoint
from benzer.pipeline.options import Options, chosen
from benzer.pipeline.promise import Promise, method_of
from benzer.results import Settings
from benzer.spark import blocks, copies, deciding, joining, matching, sketching
from benzer.spark.documents import Documents, documents_of
from benzer.spark.failures import raised_plainly
from benzer.spark.results import SparkDuplicates
from benzer.spark.session import configured
from benzer.spark.settings import SparkRun, Work
from benzer.spark.stages import StageTables


@raised_plainly()
def find_duplicates(
    df: Any,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    order_by: str | None = None,
    keep: str | Keep = "first",
    against: Any = (),
    work: Work | None = None,
    progress: Any = None,
    options: Options | None = None,
) -> SparkDuplicates:
    """Find near-duplicates in a Spark DataFrame, with the same result as `benzer.find_duplicates`.

    The result equals that of a local run over the same documents in the same order. It does not depend on the
    cluster, the partitions or `work`.

    Every document is read and sketched once. Documents with a candidate are read once more, and their contents are
    sent to the tasks that compare them. Sketches, candidates and decisions remain on the cluster, in the checkpoint or
    cached.

        found = benzer.spark.find_duplicates(spark.read.parquet("s3://lake/articles"), id="url", text="body")
        found.kept().write.parquet("s3://lake/clean")

    Args:
        df: A DataFrame with one row per document, or files opened with `read_files`, whose schema, keep and columns
            must be the same. A DataFrame is read more than once and must return the same rows each time: write or
            cache it first if it is sampled, limited without an order, or numbered by Spark.
        threshold: Minimum similarity of duplicates, in (0, 1].
        recall: Probability that a pair at the threshold is found, in (0, 1), because Spark has no exact join. Bands
            are chosen for it unless `options` contains some.
        schema: The fields; default: those of the first collection of `against`, or one text field.
        text: The column of the text field, or a mapping of fields to columns; default: columns named after the fields.
        id: The column of ids, strings or integers; default: "id". Ids must be unique.
        order_by: The column of the input order: integers, strings, dates or timestamps; default: the id. A DataFrame
            has no order of its own, but rules such as "first" and all ties need one.
        keep: The document of a cluster to keep, see `benzer.Keep`; the rule `source` is only for files.
        against: One or more `Collection`s or their paths. Documents that match one of theirs are removed; the rest are
            compared with each other. A document does not match an old one with the same id.
        work: How the work is divided, see `Work`.
        progress: Called with (stage, 0, 1) at the start and (stage, 1, 1) at the end of a stage.
        options: Rarely changed settings, see `benzer.Options`. `checkpoint` is a folder reachable by Spark for finished
            stages; the same call continues from there, and the folder is not deleted. One task holds the texts of all
            documents that are linked by buckets of more than `bucket_limit` documents. `format` and `encoding` apply
            to files: pass them to `read_files`.

    Returns:
        The result, when everything is decided.

    Raises:
        SettingsError: A setting is out of range, or the checkpoint belongs to another run.
        InputError: `df` is not a DataFrame, or a column is missing or has the wrong type.
        SettingsMismatchError: A collection has incompatible settings.
        StorageError, StoreFormatError: A collection cannot be read.
        MalformedRowError, DuplicateIdError: A row is malformed or an id is not unique; the message has the id.
        OutputError: The checkpoint folder has other files.
        MissingExtraError: PySpark is not installed, or its version is not supported.
    """
    started = perf_counter()
    collections = matching.opened(df, against)
    if schema is None:
        schema = df.schema if isinstance(df, Documents) else matching.schema_of(collections)
    check_schema(schema)
    threshold = default_threshold(schema, collections) if threshold is None else threshold
    recall = default_recall(collections) if recall is None else recall
    options = chosen(options)
    if not isinstance(df, Documents):
        options.refuse(("format", "encoding", "delimiter", "html"), "for a DataFrame", "use read_files")
    options.refuse(("on_duplicate_id", "id_scope"), "on Spark, where ids must be unique", "make ids unique")
    if isinstance(options.checkpoint, Checkpoint):
        raise SettingsError("checkpoint must be a folder on Spark, got an open checkpoint: pass its path")
    if method_of(None, recall, options.bands, schema) != "lsh":
        raise SettingsError("recall must be at most 0.9999 on Spark, which has no exact join, got 1")
    keep = Keep.parse(keep)
    way = Promise(schema, threshold, recall, options).by("lsh")
    assert way is not None
    matching.check(collections, schema, threshold, recall)
    if isinstance(df, Documents):
        documents = as_read(df, schema, keep, given=(text, id, order_by), against=bool(collections))
    else:
        documents = documents_of(df, schema, text, id, order_by, keep, options.on_error)
    settings = Settings(
        threshold, recall, schema, way.sketcher.minhash, way.bands, keep, options.bucket_limit,
        options.on_error, against=matching.names_of(collections),
    )  # fmt: skip
    run = SparkRun(documents.spark, settings, way.sketcher, work or Work(), documents.columns)
    with (
        configured(run.spark, run.work.partitions),
        StageTables.opened(run, documents, options.checkpoint, progress) as stages,
    ):
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents))
        if "sketch" in stages.read_stages:
            documents.check_same(sketches)
        counts = sketching.counted(run, stages, documents, sketches)  # ends a run that must not continue
        copied = stages.keep("copies", lambda: copies.copies(run, sketches, counts.repeated))
        known = matching.known(run, stages, documents, sketches, copied, collections)
        joined = joining.join(run, stages, sketches, copied, documents=counts.documents)
        run = replace(run, settings=replace(settings, bucket_limit=joined.limit))
        blocked = blocks.blocks(run, stages, joined)
        decided = deciding.decide(run, stages, documents, blocked, copied, known, joined.buckets)
    return SparkDuplicates.of(
        run, documents, counts, sketches, copied, known, joined, decided, stages, perf_counter() - started
    )


def as_read(
    documents: Documents, schema: Schema, keep: Keep, given: tuple[Any, ...], against: bool
) -> Documents:
    """Documents from `files.read_files`; rejected if they were opened with other settings."""
    if (documents.schema, documents.keep) != (schema, keep):
        raise SettingsError(
            f"the documents were read for keep {documents.keep} and fields {', '.join(documents.schema.fields)}, but "
            f"the run has keep {keep} and fields {', '.join(schema.fields)}: use the same schema and keep"
        )
    if any(item is not None for item in given):
        raise SettingsError(
            "text, id and order_by cannot be used with read_files: pass text and id to read_files, and remove order_by"
        )
    if against and documents.id_form == "json":
        raise SettingsError(
            "files cannot be compared with collections, whose ids are from a DataFrame: read them with Spark and pass "
            "the DataFrame"
        )
    return documents
