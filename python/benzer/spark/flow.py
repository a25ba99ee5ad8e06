"""The run on Spark, on one page: the stages of a local run, each a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal

from benzer.bands import Bands
from benzer.clusters import Keep
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.minhash import MinHash
from benzer.pipeline.flow import check_work
from benzer.pipeline.promise import Promise, method_of
from benzer.results import Settings
from benzer.spark import blocks, copies, deciding, joining, matching, sketching
from benzer.spark.documents import Documents, documents_of
from benzer.spark.failures import told_plainly
from benzer.spark.results import SparkDuplicates
from benzer.spark.session import configured
from benzer.spark.settings import Run, Work
from benzer.spark.stages import Stages


@told_plainly()
def find_duplicates(
    df: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.95,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    order_by: str | None = None,
    keep: str | Keep = "first",
    against: Any = (),
    minhash: str | MinHash = "fast",
    num_hashes: int | None = None,
    bands: Bands | None = None,
    seed: int = 0,
    bucket_limit: int | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    checkpoint: str | None = None,
    work: Work | None = None,
    progress: Any = None,
) -> SparkDuplicates:
    """Find near-duplicates in a DataFrame of Spark: the pairs, clusters and survivors of `benzer.find_duplicates`.

    Equal to a local run over the same documents in the same order, whatever the cluster, the partitions and `work`.

    df: a row a document. It is read more than once and must give the same rows each time: write or cache first what is
        sampled, limited without an order, or numbered by Spark. Or files, opened with `read_files`, whose schema, keep
        and columns are those that they were opened with.
    threshold: the similarity from which two documents are duplicates, in (0, 1].
    recall: the probability with which a pair at the threshold is found, in (0, 1): there is no exact join here. Bands
        are chosen for it unless `bands` is given.
    schema: the fields and how they are read; by default that of the first collection of `against`, or one text field.
    text: the column of the text field, or a mapping of fields to columns; by default the fields' own names.
    id: the column of ids, strings or integers; by default "id". No two rows share one.
    order_by: the column that says where a document stands in the input: integers, strings, dates or timestamps; by
        default the id. A DataFrame has no order of its own, and rules such as "first", and all ties, go by one.
    keep: which document of a cluster stays, see `benzer.Keep`; the rule `source` is for files.
    against: a `Collection` or the path of one, or several: documents like one of theirs go, the rest are compared
        among themselves. A document is no match of the old one of the same id.
    minhash, num_hashes, seed: the signature, see `benzer.MinHash`; or a `MinHash` that says all three.
    bucket_limit: the most documents of a bucket whose pairs are all listed; by default from 100 to 1,000, so that there
        are few candidates for each document (see `benzer.candidates.propose`). Documents of larger buckets are compared
        with the kept ones among them, so removals are as promised, but pairs of two removed documents are not listed.
        One task holds the texts of all documents that large buckets tie together.
    on_error: "stop" if a row is malformed, or "skip" and list such rows in the result.
    checkpoint: a folder that Spark reaches, to keep finished stages in; the same call goes on from there. It stays.
    work: how the work is cut, see `Work`.
    progress: called with (stage, 0, 1) where a stage begins and (stage, 1, 1) where it ends.

    It returns when all is decided. Every document is read and sketched once; those that have a candidate are read once
    more, and their contents go to the tasks that compare them. Sketches, candidates and decisions stay on the cluster,
    in the checkpoint or cached.

        found = benzer.spark.find_duplicates(spark.read.parquet("s3://lake/articles"), id="url", text="body")
        found.kept().write.parquet("s3://lake/clean")

    Raises:
        SettingsError: a setting is out of range, or the checkpoint is that of another run.
        InputError: `df` is no DataFrame, or a column is missing or of another type than is needed.
        SettingsMismatchError: a collection compares otherwise. StorageError, StoreFormatError: it cannot be read.
        MalformedRowError, DuplicateIdError: as their names say, with the id. OutputError: the checkpoint's folder
            holds other files. MissingExtraError: PySpark is not installed, or too old.
    """
    started = perf_counter()
    collections = matching.opened(df, against)
    if schema is None:
        schema = df.schema if isinstance(df, Documents) else matching.schema_of(collections)
    check_work(schema, 0, bucket_limit)
    if method_of(None, recall, bands, schema) != "lsh":
        raise SettingsError("there is no exact join on Spark: ask for a recall of at most 0.9999, not 1")
    keep = Keep.parse(keep)
    way = Promise(schema, threshold, recall, minhash, num_hashes, seed, bands).by("lsh")
    assert way is not None
    matching.check(collections, schema, threshold, recall)
    if isinstance(df, Documents):
        documents = as_read(df, schema, keep, given=(text, id, order_by), against=bool(collections))
    else:
        documents = documents_of(df, schema, text, id, order_by, keep, on_error)
    settings = Settings(
        threshold, recall, schema, way.sketcher.minhash, way.bands, keep, bucket_limit, on_error,
        against=matching.names_of(collections),
    )  # fmt: skip
    run = Run(documents.spark, settings, way.sketcher, work or Work(), documents.columns)
    with (
        configured(run.spark, run.work.partitions),
        Stages.opened(run, documents, checkpoint, progress) as stages,
    ):
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents))
        if "sketch" in stages.found:
            documents.check_same(sketches)
        counts = sketching.counted(run, stages, documents, sketches)  # where a run ends that must not go on
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
    """Documents that were read before the run, as `files.read_files` does; refused where they were read otherwise."""
    if (documents.schema, documents.keep) != (schema, keep):
        raise SettingsError(
            f"the documents were read for keep {documents.keep} and fields {', '.join(documents.schema.fields)}, and "
            f"the run has keep {keep} and fields {', '.join(schema.fields)}: give both the same schema and keep"
        )
    if any(one is not None for one in given):
        raise SettingsError("the documents are read already: give text and id to read_files, and no order_by")
    if against and documents.id_form == "json":
        raise SettingsError(
            "files are not compared with collections, whose ids are of a DataFrame: read them with Spark, and give "
            "the DataFrame"
        )
    return documents
