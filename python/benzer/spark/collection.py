"""How are sketches and contents kept for later runs? In a folder of Parquet, wherever Spark reaches, that only grows.

    sketches/NUMBER-NAME/   band keys of the documents of one append (`frames.SKETCHES`)
    contents/NUMBER-NAME/   their contents: `field_0` … as an index keeps them, a text as its bytes
    replaced/NUMBER-NAME/   which documents of earlier appends it replaces, where there are any
    appends/                one row an append, written last: with it, and with it alone, the append is there

What an append that was interrupted has left is named by no row, and never read.
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
from benzer.index.settings import IndexSettings, differences
from benzer.results import Settings
from benzer.spark import sketching
from benzer.spark.contents import contents_of, contents_schema
from benzer.spark.documents import Documents, documents_of
from benzer.spark.failures import told_plainly
from benzer.spark.frames import MALFORMED, SKETCHES
from benzer.spark.session import configured, session_of
from benzer.spark.settings import Run, Work
from benzer.spark.stages import Stages, read

APPENDS = (
    "generation int, name string, documents bigint, replaced bigint, settings string, fingerprint string, "
    "columns string, layout int"
)
LAYOUT = 1
REPLACED = "number bigint, generation int"


@dataclass(frozen=True)
class Append:
    """One append: how many documents it brought, and how many of earlier ones it replaced."""

    generation: int
    name: str
    documents: int
    replaced: int

    def folder(self, path: str, kind: str) -> str:
        """Where its files of a kind lie."""
        return f"{path}/{kind}/{self.generation:06}-{self.name}"


@dataclass(frozen=True)
class Collection:
    """Documents that are asked for those like others: their sketches and their contents.

    settings: what they are compared by, as of an index. columns: types of the columns `id` and `place`. sketches:
    `frames.SKETCHES`. contents: `number`, `generation`, `id`, `place`, and `field_0` … encoded; documents stand in
    the order of `generation`, `place`, `number`. Both name the documents of the collection only, each once.
    """

    spark: Any
    name: str
    settings: IndexSettings
    columns: dict[str, str]
    sketches: Any
    contents: Any
    appends: tuple[Append, ...] = ()

    def __len__(self) -> int:
        return sum(one.documents - one.replaced for one in self.appends)

    def probability(self, similarity: float) -> float:
        """With which probability a document of this similarity is found; of several fields, at least that."""
        return float(self.settings.bands.probability(self.settings.schema.band_threshold(similarity)))

    def info(self) -> dict[str, Any]:
        """What it is called, what it holds and by which settings."""
        return {
            "path": self.name,
            "documents": len(self),
            "appends": [asdict(one) for one in self.appends],
            "settings": self.settings.to_dict(),
            "fingerprint": self.settings.fingerprint(),
        }

    @cached_property
    def state(self) -> str:
        """A name for what it holds now: another append gives another one."""
        return "-".join(one.name for one in self.appends)


@told_plainly()
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
    """Keep the documents of a DataFrame as a collection at `path`, a folder on any storage that Spark reaches.

    df: a row a document; it is read more than once, and must give the same rows each time.
    threshold, recall, schema, minhash, num_hashes, bands, seed: as of an index (`benzer.IndexSettings`), and for the
        life of the collection; left out, those of `IndexSettings`, or of the collection that is there.
    text, id, order_by, on_error, work: as of `find_duplicates`. Documents of one append stand in the order of
        `order_by`; those of a later one behind them.
    mode: "error" refuses a path where there is a collection; "append" adds to it, or makes it. A document whose id is
        held already replaces the old one, and comes after all others.

    An append is there as a whole or not at all. One writer at a time: two that append at once are noticed by the next
    who reads. It keeps 8 bytes a band, and the contents, of each document.

        write_collection(spark.read.parquet("s3://lake/articles"), "s3://lake/articles.benzer", id="url")

    Raises:
        SettingsError: a setting is out of range. InputError: a column is missing, or of another type than is needed.
        SettingsMismatchError: the collection was made with other settings, or ids of another type; the message shows
            both.
        StorageError: there is a collection already. StoreFormatError: it cannot be read.
        MalformedRowError, DuplicateIdError: as their names say, with the id.
    """
    if mode not in ("error", "append"):
        raise SettingsError(f'mode must be "error" or "append", got {mode!r}')
    spark, path = session_of(df), path.rstrip("/")
    old = found(spark, path)
    if old is not None and mode == "error":
        raise StorageError(
            f'{path} holds a collection already: add to it with mode="append", or choose another path'
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
            f"{path} has {told(old.columns)}, the DataFrame {told(documents.columns)}: cast its columns, or make "
            f"another collection"
        )
    with configured(spark, run.work.partitions), Stages.opened(run, documents, None, None) as stages:
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents, with_identities=False))
        append(run, path, old, documents, sketches)
        stages.release()
    return read_collection(spark, path)


def read_collection(spark: Any, path: str) -> Collection:
    """The collection at a path, as it is now: what is appended later is not seen.

    Raises:
        StorageError: there is none. StoreFormatError: it cannot be read.
    """
    collection = found(spark, path.rstrip("/"))
    if collection is None:
        raise StorageError(f"{path} holds no collection: make one with write_collection")
    return collection


def found(spark: Any, path: str) -> Collection | None:
    """The collection at a path, if there is one."""
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
    if [one.generation for one in appends] != list(range(1, len(appends) + 1)):
        told = ", ".join(f"{one.generation}-{one.name}" for one in appends)
        raise StoreFormatError(
            f"{path} was appended to by two writers at once ({told}): remove the row of one from {path}/appends, and "
            f"append its documents again"
        )
    columns = json.loads(last["columns"])
    gone = replaced(spark, path, appends)
    files = {kind: [one.folder(path, kind) for one in appends] for kind in ("sketches", "contents")}
    stored = {
        "sketches": SKETCHES.format(**columns) + ", generation int",
        "contents": contents_schema(settings.schema, columns) + ", generation int",
    }
    sketches, contents = (live(spark.read.schema(stored[kind]).parquet(*files[kind]), gone) for kind in files)
    return Collection(spark, path, settings, columns, sketches.drop("generation"), contents, appends)


def appended(spark: Any, path: str) -> list[Any]:
    """The rows of all appends that came to their end, in order."""
    rows = read(spark.read.schema(APPENDS).format("parquet"), f"{path}/appends")
    return [] if rows is None else sorted(rows.collect(), key=lambda row: (row["generation"], row["name"]))


def live(rows: Any, gone: Any) -> Any:
    """Rows of documents that no later append replaced."""
    if gone is None:
        return rows
    from pyspark.sql import functions as F

    later = gone.withColumnRenamed("generation", "by")
    held = rows.withColumnRenamed("number", "of")
    replaced_here = (F.col("of") == F.col("number")) & (F.col("generation") < F.col("by"))
    return held.join(later, replaced_here, "left_anti").withColumnRenamed("of", "number")


def replaced(spark: Any, path: str, appends: Iterable[Append]) -> Any:
    """Which documents were replaced, and by which append; None where none was."""
    folders = [one.folder(path, "replaced") for one in appends if one.replaced]
    return spark.read.schema(REPLACED).parquet(*folders) if folders else None


def chosen(path: str, old: Collection | None, given: dict[str, Any]) -> IndexSettings:
    """The settings of a collection; given ones must be those that it has."""
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
    """The error that shows both settings, field by field, where they differ."""
    return SettingsMismatchError(
        f"{path} was made with other settings: {differences(stored, given)}. Leave settings out, or make another "
        f"collection"
    )


def told(columns: Mapping[str, str]) -> str:
    """The types of ids and places.

    >>> told({"id": "string", "place": "bigint"})
    'ids of type string and an order by bigint'
    """
    return f"ids of type {columns['id']} and an order by {columns['place']}"


def run_of(
    documents: Documents, settings: IndexSettings, on_error: Literal["stop", "skip"], work: Work | None
) -> Run:
    """What sketches documents by the settings of a collection."""
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
    return Run(documents.spark, by, sketcher, work or Work(), documents.columns)


def append(run: Run, path: str, old: Collection | None, documents: Documents, sketches: Any) -> None:
    """Write an append, its row last."""
    from pyspark.sql import functions as F

    with Stages(run.spark) as stages:
        counts = sketching.counted(run, stages, documents, sketches)
    stages.release()
    settings = run.settings
    generation = 1 if old is None else len(old.appends) + 1
    new = Append(generation, uuid.uuid4().hex, int(counts.documents), 0)
    held = sketches.where(F.col("state") != MALFORMED).withColumn("generation", F.lit(generation))
    if old is not None:
        new = replace(new, replaced=replace_older(run, path, old, new, held))
    held.write.parquet(new.folder(path, "sketches"))
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


def replace_older(run: Run, path: str, old: Collection, new: Append, held: Any) -> int:
    """Write which documents an append replaces; gives how many."""
    from pyspark.sql import functions as F

    theirs = old.sketches.select("number", F.col("id").alias("old_id"))
    same = held.select("number", "id", "generation").join(theirs, "number")
    unequal = F.col("id") != F.col("old_id")
    facts = same.agg(
        F.count("*").alias("count"),
        F.min(F.when(unequal, F.col("number"))).alias("clash"),
    ).first()
    if facts["clash"] is not None:
        one = same.where(F.col("number") == facts["clash"]).first()
        raise DuplicateIdError(
            f"the ids {one['id']!r} and {one['old_id']!r} of {path} have the same 64-bit hash: keep the collection "
            f"by an id column of integers"
        )
    if facts["count"]:
        same.select("number", "generation").write.parquet(new.folder(path, "replaced"))
    return int(facts["count"])


def finish(spark: Any, path: str, facts: dict[str, Any]) -> None:
    """Write the row of an append: one file, which is there as a whole or not at all."""
    typed = (part.split() for part in APPENDS.split(", "))
    columns = ", ".join(f"CAST(:{name} AS {kind}) AS {name}" for name, kind in typed)
    spark.sql(f"SELECT {columns}", args=facts).write.mode("append").parquet(f"{path}/appends")


def collection_of(
    df: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.95,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    order_by: str | None = None,
    bands: Bands | None = None,
    name: str = "the collection",
    work: Work | None = None,
) -> Collection:
    """The documents of a DataFrame as a collection that is kept nowhere: sketched whenever it is asked."""
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
