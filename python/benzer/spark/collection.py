"""Collections: sketches and contents stored for later runs, in an append-only folder of Parquet files.

    sketches/NUMBER-NAME/   band keys of the documents of one append (`frames.SKETCHES`)
    contents/NUMBER-NAME/   their contents: `field_0` … as an index stores them, a text as its bytes
    replaced/NUMBER-NAME/   the documents of earlier appends that it replaces, if any
    appends/                one row per append, written last: it makes the append visible

Files of an interrupted append have no row and are never read.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

from benzer.bands import Bands
from benzer.clusters import Keep
from benzer.errors import (
    DuplicateIdError,
    SettingsError,
    SettingsMismatchError,
    StorageError,
    StoreFormatError,
)
from benzer.fields import Schema
from benzer.fields.schema import DEFAULT_RECALL
from benzer.index.settings import IndexSettings, differences
from benzer.results import Settings
from benzer.spark import sketching
from benzer.spark.contents import contents_of, contents_schema
from benzer.spark.documents import Documents, documents_of
from benzer.spark.failures import raised_plainly
from benzer.spark.frames import MALFORMED, SKETCHES
from benzer.spark.session import configured, session_of
from benzer.spark.settings import SparkRun, Work
from benzer.spark.stages import StageTables, read

APPENDS = (
    "generation int, name string, documents bigint, replaced bigint, settings string, fingerprint string, "
    "columns string, layout int"
)
LAYOUT = 1
REPLACED = "number bigint, generation int"


@dataclass(frozen=True)
class Append:
    """One append: the number of its documents, and of earlier documents that it replaced."""

    generation: int
    name: str
    documents: int
    replaced: int

    def folder(self, path: str, kind: str) -> str:
        """The folder of its files of a kind."""
        return f"{path}/{kind}/{self.generation:06}-{self.name}"


@dataclass(frozen=True)
class Collection:
    """A searchable set of documents: their sketches and contents.

    Attributes:
        settings: The settings of comparisons, as in an index.
        columns: Types of the columns `id` and `place`.
        sketches: `frames.SKETCHES`, one row per document.
        contents: `number`, `generation`, `id`, `place`, and `field_0` … encoded, one row per document. The order of
            documents is `generation`, `place`, `number`.
    """

    spark: Any
    name: str
    settings: IndexSettings
    columns: dict[str, str]
    sketches: Any
    contents: Any
    appends: tuple[Append, ...] = ()

    def __len__(self) -> int:
        return sum(append.documents - append.replaced for append in self.appends)

    def probability(self, similarity: float) -> float:
        """Return the probability that a document with this similarity is found; with several fields, a lower bound."""
        return float(self.settings.bands.probability(self.settings.schema.band_threshold(similarity)))

    def info(self) -> dict[str, Any]:
        """Return the path, the number of documents, the appends and the settings."""
        return {
            "path": self.name,
            "documents": len(self),
            "appends": [asdict(append) for append in self.appends],
            "settings": self.settings.to_dict(),
            "fingerprint": self.settings.fingerprint(),
        }

    @cached_property
    def state(self) -> str:
        """An identifier of the current content, which changes with each append."""
        return "-".join(append.name for append in self.appends)


@raised_plainly()
def write_collection(
    df: Any,
    path: str,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    order_by: str | None = None,
    minhash: str | None = None,
    num_hashes: int | None = None,
    bands: Bands | None = None,
    seed: int | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    mode: Literal["error", "append"] = "error",
    work: Work | None = None,
) -> Collection:
    """Store the documents of a DataFrame as a collection, a folder on any storage that Spark can reach.

    An append is atomic. Only one writer is allowed at a time: concurrent appends are detected by the next reader. A
    collection stores 8 bytes per band, and the contents, of each document.

        write_collection(spark.read.parquet("s3://lake/articles"), "s3://lake/articles.benzer", id="url")

    Args:
        df: One row per document. It is read more than once and must return the same rows each time.
        path: The path of the folder.
        threshold, recall, schema, minhash, num_hashes, bands, seed: As in `benzer.IndexSettings`. They cannot be
            changed later; default: those of `IndexSettings`, or of the existing collection.
        text, id, order_by, on_error, work: As in `find_duplicates`. Documents of one append are in the order of
            `order_by`, after those of earlier appends.
        mode: "error" rejects the path of an existing collection; "append" adds to it or creates it. A document with an
            existing id replaces the stored one and moves to the end.

    Returns:
        The collection with the new documents.

    Raises:
        SettingsError: A setting is out of range.
        InputError: A column is missing or has the wrong type.
        SettingsMismatchError: The collection has other settings, or ids of another type; the message shows both.
        StorageError: The collection already exists.
        StoreFormatError: The collection cannot be read.
        MalformedRowError, DuplicateIdError: A row is malformed or an id is not unique; the message has the id.
    """
    if mode not in ("error", "append"):
        raise SettingsError(f'mode must be "error" or "append", got {mode!r}')
    spark, path = session_of(df), path.rstrip("/")
    old = existing(spark, path)
    if old is not None and mode == "error":
        raise StorageError(
            f'{path} already has a collection: add to it with mode="append", or choose another path'
        )
    given = {
        "schema": schema, "threshold": threshold, "recall": recall, "minhash": minhash, "num_hashes": num_hashes,
        "bands": bands, "seed": seed,
    }  # fmt: skip
    settings = chosen(path, old, {name: value for name, value in given.items() if value is not None})
    documents = documents_of(df, settings.schema, text, id, order_by, Keep(), on_error)
    run = run_of(documents, settings, on_error, work)
    if old is not None and old.columns != documents.columns:
        raise SettingsMismatchError(
            f"{path} has {types_text(old.columns)}, the DataFrame "
            f"{types_text(documents.columns)}: cast its columns, or create "
            f"another collection"
        )
    with configured(spark, run.work.partitions), StageTables.opened(run, documents, None, None) as stages:
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents, with_identities=False))
        append(run, path, old, documents, sketches)
        stages.release()
    return read_collection(spark, path)


def read_collection(spark: Any, path: str) -> Collection:
    """Open the collection at a path; later appends are not visible.

    Args:
        spark: The session.
        path: The path of the folder.

    Returns:
        The collection.

    Raises:
        StorageError: The collection does not exist.
        StoreFormatError: The collection cannot be read.
    """
    collection = existing(spark, path.rstrip("/"))
    if collection is None:
        raise StorageError(f"{path} has no collection: create one with write_collection")
    return collection


def existing(spark: Any, path: str) -> Collection | None:
    """The collection at a path, or None."""
    rows = appended(spark, path)
    if not rows:
        return None
    last = rows[-1]
    if last["layout"] != LAYOUT:
        raise StoreFormatError(
            f"{path} has layout {last['layout']}, this version of benzer {LAYOUT}: upgrade benzer"
        )
    settings = IndexSettings.from_json(last["settings"])
    for row in rows:
        if row["fingerprint"] != settings.fingerprint():
            raise mismatch(path, settings, IndexSettings.from_json(row["settings"]))
    appends = tuple(Append(*(row[name] for name in Append.__dataclass_fields__)) for row in rows)
    if [append.generation for append in appends] != list(range(1, len(appends) + 1)):
        listed = ", ".join(f"{append.generation}-{append.name}" for append in appends)
        raise StoreFormatError(
            f"{path} has two concurrent appends ({listed}): remove the row of one from {path}/appends and "
            f"append its documents again"
        )
    columns = json.loads(last["columns"])
    gone = replaced(spark, path, appends)
    files = {kind: [append.folder(path, kind) for append in appends] for kind in ("sketches", "contents")}
    stored = {
        "sketches": SKETCHES.format(**columns) + ", generation int",
        "contents": contents_schema(settings.schema, columns) + ", generation int",
    }
    sketches, contents = (live(spark.read.schema(stored[kind]).parquet(*files[kind]), gone) for kind in files)
    return Collection(spark, path, settings, columns, sketches.drop("generation"), contents, appends)


def appended(spark: Any, path: str) -> list[Any]:
    """The rows of all completed appends, in order."""
    rows = read(spark.read.schema(APPENDS).format("parquet"), f"{path}/appends")
    return [] if rows is None else sorted(rows.collect(), key=lambda row: (row["generation"], row["name"]))


def live(rows: Any, gone: Any) -> Any:
    """Rows of documents that were not replaced by a later append."""
    if gone is None:
        return rows
    from pyspark.sql import functions as F

    later = gone.withColumnRenamed("generation", "by")
    documents = rows.withColumnRenamed("number", "of")
    replaced_here = (F.col("of") == F.col("number")) & (F.col("generation") < F.col("by"))
    return documents.join(later, replaced_here, "left_anti").withColumnRenamed("of", "number")


def replaced(spark: Any, path: str, appends: Iterable[Append]) -> Any:
    """The replaced documents with the replacing append; None if there are none."""
    folders = [append.folder(path, "replaced") for append in appends if append.replaced]
    return spark.read.schema(REPLACED).parquet(*folders) if folders else None


def chosen(path: str, old: Collection | None, given: dict[str, Any]) -> IndexSettings:
    """The settings of a collection; given settings must be equal."""
    if old is None:
        return IndexSettings(**given)
    theirs = old.settings
    whole = {
        "schema": theirs.schema, "threshold": theirs.threshold, "recall": theirs.recall, "bands": theirs.bands,
        "minhash": theirs.minhash.algorithm, "num_hashes": theirs.minhash.num_hashes, "seed": theirs.minhash.seed,
        "family": theirs.minhash.family,
    }  # fmt: skip
    if given and IndexSettings(**{**whole, **given}) != theirs:
        raise mismatch(path, theirs, IndexSettings(**{**whole, **given}))
    return theirs


def mismatch(path: str, stored: IndexSettings, given: IndexSettings) -> SettingsMismatchError:
    """The error that shows the differences of both settings."""
    return SettingsMismatchError(
        f"{path} has other settings: {differences(stored, given)}. Remove the settings, or create another "
        f"collection"
    )


def types_text(columns: Mapping[str, str]) -> str:
    """The types of ids and places.

    >>> types_text({"id": "string", "place": "bigint"})
    'ids of type string and an order by bigint'
    """
    return f"ids of type {columns['id']} and an order by {columns['place']}"


def run_of(
    documents: Documents, settings: IndexSettings, on_error: Literal["stop", "skip"], work: Work | None
) -> SparkRun:
    """The sketcher for the settings of a collection."""
    sketcher = settings.sketcher()
    by = Settings(
        settings.threshold,
        settings.recall,
        settings.schema,
        settings.minhash,
        settings.bands,
        Keep(),
        1000,
        on_error,
    )
    return SparkRun(documents.spark, by, sketcher, work or Work(), documents.columns)


def append(run: SparkRun, path: str, old: Collection | None, documents: Documents, sketches: Any) -> None:
    """Write an append, with its row last."""
    from pyspark.sql import functions as F

    with StageTables(run.spark) as stages:
        counts = sketching.counted(run, stages, documents, sketches)
    stages.release()
    settings = run.settings
    generation = 1 if old is None else len(old.appends) + 1
    new = Append(generation, uuid.uuid4().hex, int(counts.documents), 0)
    added = sketches.where(F.col("state") != MALFORMED).withColumn("generation", F.lit(generation))
    if old is not None:
        new = replace(new, replaced=replace_older(run, path, old, new, added))
    added.write.parquet(new.folder(path, "sketches"))
    contents = contents_of(documents).withColumn("generation", F.lit(generation))
    contents.write.parquet(new.folder(path, "contents"))
    kept_by = IndexSettings(
        settings.schema, threshold=settings.threshold, recall=settings.recall, minhash=settings.minhash.algorithm,
        num_hashes=settings.minhash.num_hashes, bands=settings.bands, seed=settings.minhash.seed,
        family=settings.minhash.family,
    )  # fmt: skip
    row = {
        **asdict(new), "settings": kept_by.to_json(), "fingerprint": kept_by.fingerprint(),
        "columns": json.dumps(documents.columns), "layout": LAYOUT,
    }  # fmt: skip
    finish(run.spark, path, row)


def replace_older(run: SparkRun, path: str, old: Collection, new: Append, documents: Any) -> int:
    """Write the documents that an append replaces; returns their number."""
    from pyspark.sql import functions as F

    theirs = old.sketches.select("number", F.col("id").alias("old_id"))
    same = documents.select("number", "id", "generation").join(theirs, "number")
    unequal = F.col("id") != F.col("old_id")
    facts = same.agg(
        F.count("*").alias("count"),
        F.min(F.when(unequal, F.col("number"))).alias("clash"),
    ).first()
    if facts["clash"] is not None:
        item = same.where(F.col("number") == facts["clash"]).first()
        raise DuplicateIdError(
            f"the ids {item['id']!r} and {item['old_id']!r} of {path} have the same 64-bit hash: use an id "
            f"column of integers"
        )
    if facts["count"]:
        same.select("number", "generation").write.parquet(new.folder(path, "replaced"))
    return int(facts["count"])


def finish(spark: Any, path: str, facts: dict[str, Any]) -> None:
    """Write the row of an append as one file, atomically."""
    typed = (part.split() for part in APPENDS.split(", "))
    columns = ", ".join(f"CAST(:{name} AS {kind}) AS {name}" for name, kind in typed)
    spark.sql(f"SELECT {columns}", args=facts).write.mode("append").parquet(f"{path}/appends")


def collection_of(
    df: Any,
    *,
    threshold: float | None = None,
    recall: float = DEFAULT_RECALL,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    order_by: str | None = None,
    bands: Bands | None = None,
    name: str = "the collection",
    work: Work | None = None,
) -> Collection:
    """The documents of a DataFrame as a temporary collection, which is sketched for each query."""
    from pyspark.sql import functions as F

    settings = IndexSettings(schema, threshold=threshold, recall=recall, bands=bands)
    documents = documents_of(df, settings.schema, text, id, order_by)
    run = run_of(documents, settings, "stop", work)
    contents = contents_of(documents).withColumn("generation", F.lit(0))
    return Collection(
        documents.spark,
        name,
        settings,
        documents.columns,
        sketching.sketch(run, documents, with_identities=False),
        contents,
    )
