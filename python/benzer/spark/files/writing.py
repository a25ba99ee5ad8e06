"""Writes a result over files as the output folder of a local run, byte for byte, from sorted rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benzer.results.writing import file_names
from benzer.sources import MalformedRow, ReadReport
from benzer.spark.files.parts import SOURCE_BITS
from benzer.spark.frames import MALFORMED, PAIR, REMOVED
from benzer.spark.session import PACKED, pack
from benzer.spark.tasks import ArrowTask
from benzer.tables import OutputFolder, check_destination, write_summary, write_table
from benzer.tables.writing import json_lines

if TYPE_CHECKING:
    from benzer.spark.files.documents import FileDocuments
    from benzer.spark.results import SparkDuplicates

ROW = (1 << SOURCE_BITS) - 1
NUMBERS = {"similarity": np.float64, "row": np.uint64, "kept_row": np.uint64}
Columns = dict[str, Any]


def write_folder(
    result: SparkDuplicates,
    output: Path,
    summary: Mapping[str, Any] | None = None,
    tables: Literal["jsonl", "parquet"] = "jsonl",
    replace: bool = False,
    extra: Mapping[str, Callable[[Path], object]] | None = None,
) -> dict[str, Path]:
    """Write a folder on the driver atomically; other arguments are those of `Duplicates.write`.

    summary: the content of summary.json, by default `found.summary()`.

    Documents are copied from their files in the format of each file; tables are collected in parts, in order.
    """
    documents: FileDocuments = result.documents
    check_destination([source.path for source in documents.sources if source.path is not None], output)
    set_aside = list(malformed_rows(result))
    with OutputFolder(output, replace=replace) as folder:
        names = write_documents(result, set_aside, folder)
        for name, make in TABLES.items():
            if name != "malformed" or set_aside:
                names[name] = folder / f"{name}.{tables}"
                write_parts(names[name], make(result), tables)
        for file_name, write in (extra or {}).items():
            names[Path(file_name).stem] = folder / file_name
            write(folder / file_name)
        names["summary"] = folder / "summary.json"
        write_summary(names["summary"], result.summary() if summary is None else summary)
    return {name: output / path.relative_to(folder) for name, path in names.items()}


def write_documents(result: SparkDuplicates, set_aside: list[MalformedRow], folder: Path) -> dict[str, Path]:
    """Copy the kept and the removed documents of each source; one file for a single source, otherwise a folder."""
    documents: FileDocuments = result.documents
    sources, kinds = documents.sources, ("kept", "removed_documents")
    targets = {kind: folder / f"{kind}{sources[0].suffix}" for kind in kinds}
    if len(sources) > 1:
        targets = {kind: folder / kind for kind in kinds}
        for target in targets.values():
            target.mkdir()
    names = file_names(sources)
    decided = by_source(result)
    malformed = {name: list(rows) for name, rows in groupby(set_aside, lambda row: row.source)}
    documents.check_unchanged()
    for number, source in enumerate(sources):
        own: Any = source
        stays = decided.get(number, np.zeros(0, dtype=np.bool_))
        bad = malformed.get(source.name, [])
        own.remember(ReadReport(len(stays) + len(bad), len(stays), bad))
        for kind, chosen in zip(kinds, (stays, ~stays), strict=True):
            target = targets[kind] if len(sources) == 1 else targets[kind] / names[number]
            own.write_rows(chosen, target)
    return targets


def by_source(result: SparkDuplicates) -> dict[int, NDArray[np.bool_]]:
    """Which documents of each source are kept (bool), in row order: one byte per document on the driver."""
    from pyspark.sql import functions as F

    gone = result.removed.select("number", F.lit(False).alias("stays"))
    everyone = result.sketches.where(F.col("state") != MALFORMED).select("number")
    decided = everyone.join(gone, "number", "left").select(
        "number", F.coalesce("stays", F.lit(True)).alias("stays")
    )
    parts: dict[int, list[NDArray[np.bool_]]] = {}
    for batch in streamed(decided.orderBy("number")):
        sources = batch.column("number").to_numpy() >> SOURCE_BITS
        stays = batch.column("stays").to_numpy(zero_copy_only=False)
        for source in np.unique(sources).tolist():
            parts.setdefault(source, []).append(stays[sources == source])
    return {source: np.concatenate(arrays) for source, arrays in parts.items()}


def malformed_rows(result: SparkDuplicates) -> Iterator[MalformedRow]:
    """All malformed rows in order."""
    from pyspark.sql import functions as F

    rows = result.sketches.where(F.col("state") == MALFORMED).select("number", "reason").orderBy("number")
    for batch in streamed(rows):
        for number, reason in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield result.documents.malformed(number, None, number >> SOURCE_BITS, reason)


def streamed(ordered: Any) -> Iterator[Any]:
    """The batches of a DataFrame in order, one partition at a time."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    some = False
    for row in ordered.mapInArrow(ArrowTask(pack), PACKED).toLocalIterator():
        some = True
        yield from pa.ipc.open_stream(bytes(row.part))
    if not some:  # an empty table also has columns
        yield pa.RecordBatch.from_pylist([], to_arrow_schema(ordered.schema))


def pairs(result: SparkDuplicates) -> Iterator[Columns]:
    """The table of pairs in the order of a local run."""
    from pyspark.sql import functions as F

    names = ("left", "right", "left_id", "right_id", "similarity")
    first = F.col("original") < F.col("number")

    def of(item: str, other: str) -> Any:
        return F.when(first, F.col(item)).otherwise(F.col(other))

    ends = (
        of("original", "number"),
        of("number", "original"),
        of("original_id", "id"),
        of("id", "original_id"),
    )
    copies = result.copied.select(
        *(end.alias(name) for end, name in zip((*ends, F.lit(1.0)), names, strict=True))
    )
    alike = result.outcomes.where(F.col("kind") == PAIR).select(*names)
    for batch in streamed(alike.unionByName(copies).orderBy("left", "right")):
        yield {
            "left_id": ids(batch.column("left_id")),
            "right_id": ids(batch.column("right_id")),
            "similarity": batch.column("similarity").to_numpy(),
        }


def removed(result: SparkDuplicates) -> Iterator[Columns]:
    """The table of removals in the order of a local run."""
    more = () if result.known is None else ("kept_in",)
    names = ("id", "kept_id", "similarity", "file", "row", "kept_file", "kept_row", *more)
    for batch in streamed(result.removed.orderBy("number").select(*names)):
        cells = {name: batch.column(name).to_pylist() for name in names}
        for name in ("id", "kept_id"):
            cells[name] = ids(batch.column(name))
        for name, kind in NUMBERS.items():
            if not batch.column(name).null_count:  # the kept document of a known one has no row
                cells[name] = batch.column(name).to_numpy().astype(kind)
        yield cells


def clusters(result: SparkDuplicates) -> Iterator[Columns]:
    """The table of clusters in the order of a local run: the kept document first."""
    from pyspark.sql import functions as F

    gone = result.outcomes.where(F.col("kind") == REMOVED)
    cluster = (F.col("right").alias("leader"), F.col("right_id").alias("cluster_id"))
    columns = ("similarity", "component_id")
    members = gone.select(*cluster, F.col("left").alias("number"), F.col("left_id").alias("id"), *columns)
    leaders = gone.select(
        *cluster,
        F.col("right").alias("number"),
        F.col("right_id").alias("id"),
        F.lit(1.0).alias(columns[0]),
        columns[1],
    ).distinct()
    stays = F.col("number") == F.col("leader")
    rows = members.unionByName(leaders).orderBy("leader", stays.desc(), "number")
    for batch in streamed(rows):
        numbers = batch.column("number").to_numpy()
        yield {
            "cluster_id": ids(batch.column("cluster_id")),
            "id": ids(batch.column("id")),
            "similarity": batch.column("similarity").to_numpy(),
            "representative": numbers == batch.column("leader").to_numpy(),
            "component_id": ids(batch.column("component_id")),
            **places(result, numbers),
        }


def malformed(result: SparkDuplicates) -> Iterator[Columns]:
    """The table of malformed rows."""
    rows = list(malformed_rows(result))
    yield {
        "file": [row.source for row in rows],
        "row": [row.row for row in rows],
        "reason": [row.reason for row in rows],
    }


TABLES: dict[str, Callable[[SparkDuplicates], Iterator[Columns]]] = {
    "removed": removed,
    "pairs": pairs,
    "clusters": clusters,
    "malformed": malformed,
}


def ids(column: Any) -> list[str | int | None]:
    """The ids of a column of JSON."""
    return [None if item is None else json.loads(item) for item in column.to_pylist()]


def places(result: SparkDuplicates, numbers: NDArray[np.int64]) -> Columns:
    """The file and row of documents."""
    names = [source.name for source in result.documents.sources]
    return {
        "file": [names[source] for source in (numbers >> SOURCE_BITS).tolist()],
        "row": (numbers & ROW).astype(np.uint64),
    }


def write_parts(path: Path, parts: Iterator[Columns], format: Literal["jsonl", "parquet"]) -> None:
    """Write a table in parts: lines at once, Parquet at the end, because types depend on all cells."""
    if format == "jsonl":
        with path.open("wb") as stream:
            for part in parts:
                stream.writelines(json_lines(part, len(next(iter(part.values())))))
        return
    collected = list(parts)
    whole = {name: joined([part[name] for part in collected]) for name in collected[0]} if collected else {}
    write_table(path, whole, format)


def joined(cells: list[Any]) -> Any:
    """A column of all parts; an array if all are arrays."""
    if all(isinstance(cell, np.ndarray) for cell in cells):
        return np.concatenate(cells)
    return list(chain.from_iterable(cells))
