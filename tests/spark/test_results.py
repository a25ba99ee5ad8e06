"""A result on Spark says what the local result says, of the same decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benzer import Options
from benzer.errors import InputError, OutputError, SettingsError
from benzer.report import report_html
from benzer.spark.results import filter_file
from benzer.spark.results.bitmaps import gone, pack
from benzer.spark.results.recall import Least
from benzer.views.figures import similarity_edges
from tests.corpora import collection
from tests.spark.fabricated import fabricated, rows_of

COLUMNS = {
    "pairs": ["left_id", "right_id", "similarity"],
    "removed": ["id", "kept_id", "similarity"],
    "clusters": ["cluster_id", "id", "similarity", "representative", "component_id"],
}


def rows_for(seed: int, count: int) -> list[dict[str, Any]]:
    """Documents with near and identical ones, short and empty ones among them."""
    texts = list(collection(seed, count).values())
    return [{"id": at, "text": text} for at, text in enumerate([*texts, "", "word", *texts[:3]])]


@pytest.fixture(scope="module")
def both(spark: Any) -> tuple[Any, Any]:
    """A result on Spark, and the local one; few bands, so that pairs are missed and found by a second look."""
    return fabricated(spark, rows_for(5, 80), threshold=0.5, recall=0.5, keep="last", options=Options(seed=1))


def sorted_rows(table: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def without_run(page: str) -> str:
    """A page without what tells how it was made."""
    start, end = page.index('<section id="again">'), page.index("</main>")
    return (page[:start] + page[end:]).replace("the DataFrame", "table")


def test_tables_and_counts_are_those_of_the_local_result(both: tuple[Any, Any]) -> None:
    found, local = both
    assert found.counts == local.counts
    for name, columns in COLUMNS.items():
        assert rows_of(found.table(name).select(*columns)) == sorted_rows(
            local.to_arrow(name).select(columns)
        )
    reasons = {row.id: row.reason for row in found.removed.collect()}
    identical = sum(reason == "identical" for reason in reasons.values())
    assert (identical, len(reasons)) == (local.counts["identical"], local.counts["removed"])
    with pytest.raises(SettingsError, match="choose one of pairs, clusters"):
        found.table("survivors")


def test_the_page_and_the_alarms_are_those_of_the_local_result(both: tuple[Any, Any]) -> None:
    found, local = both
    here = found.to_local()
    assert without_run(report_html(here)) == without_run(report_html(local))
    assert [one.to_dict() for one in here.alarms()] == [one.to_dict() for one in local.alarms()]
    assert "benzer.spark.find_duplicates(" in report_html(here)
    assert [one[2:] for one in found.by_source()] == [one[2:] for one in local.by_source()]
    for refused in (lambda: here.rethreshold(0.9), lambda: here.write("anywhere")):
        with pytest.raises((SettingsError, OutputError)):
            refused()


def test_a_part_of_the_clusters_has_the_counts_and_the_figures_of_the_whole_run(
    both: tuple[Any, Any],
) -> None:
    found, local = both
    part = found.to_local(12)
    assert 0 < len(part.clusters) < local.counts["clusters"]
    page = report_html(part)
    assert f"are from {len(part.clusters)} of {local.counts['clusters']} clusters" in page
    assert part.counts == local.counts
    edges = similarity_edges(0.5)
    above = int(np.searchsorted(edges, 0.5))
    assert part.spread(edges).heights[above:] == local.spread(edges).heights[above:]
    assert part.spread(edges).below is None
    assert [one.tolist() for one in part.cluster_sizes()] == [one.tolist() for one in local.cluster_sizes()]
    whole = {report.representative: report for report in local.cluster_report()}
    for report in part.cluster_report():
        assert report.component_size == whole[report.representative].component_size
        assert report.component_clusters == whole[report.representative].component_clusters
        assert report.size == whole[report.representative].size


@pytest.mark.parametrize("documents, seed", [(1000, 0), (6, 3)])
def test_the_measured_recall_is_that_of_the_local_result(
    both: tuple[Any, Any], documents: int, seed: int
) -> None:
    found, local = both
    measured = found.measure_recall(documents, seed=seed)
    assert measured == local.measure_recall(documents, seed=seed)
    assert measured.missed_pairs > 0 or documents < 1000
    assert measured.exhaustive == (documents == 1000)


def test_recall_is_the_same_where_buckets_were_cut_short(spark: Any) -> None:
    rows = [{"id": at, "text": "one two three four five six seven eight nine ten " + "word " * (at % 3) + f"x{at}"}
            for at in range(24)]  # fmt: skip
    found, local = fabricated(spark, rows, threshold=0.6, recall=0.6, options=Options(bucket_limit=3))
    assert local.counts["oversized_buckets"] > 0
    assert found.measure_recall(5, seed=1) == local.measure_recall(5, seed=1)


def test_a_removal_of_what_has_changed_is_void(both: tuple[Any, Any]) -> None:
    from pyspark.sql import functions as F

    found, local = both
    changed, same = sorted(local.removed)[:2]
    text = F.when(F.col("id") == changed, F.lit("quite another text")).otherwise(
        F.when(F.col("id") == same, F.upper("text")).otherwise(F.col("text"))
    )
    applied = found.apply(found.documents.df.withColumn("text", text))
    assert sorted(row.id for row in applied.rows.collect()) == sorted([*local.kept, changed])
    assert applied.changed_ids() == [changed]


def test_rows_are_kept_or_annotated_by_their_ids(both: tuple[Any, Any]) -> None:
    found, local = both
    assert sorted(row.id for row in found.kept().collect()) == sorted(local.kept)
    told = {row.id: (row.kept_id, row.similarity) for row in found.annotate().collect()}
    expected = dict.fromkeys(local.ids, (None, None)) | {id: tuple(one) for id, one in local.removed.items()}
    assert told == expected
    with pytest.raises(SettingsError, match="use a prefix"):
        found.annotate(found.annotate())
    with pytest.raises(SettingsError, match="has no row numbers"):
        found.bitmaps()


def test_what_is_written_is_whole_where_the_summary_says_so(
    both: tuple[Any, Any], spark: Any, tmp_path: Path
) -> None:
    found, local = both
    place = str(tmp_path / "result")
    names = found.write(place)
    (line,) = spark.read.text(names["summary"]).collect()
    summary = json.loads(line.value)
    assert summary["complete"]
    assert summary["counts"] == local.counts
    assert summary["spark"]["version"] == spark.version
    assert spark.read.parquet(names["removed"]).count() == local.counts["removed"]
    with pytest.raises(OutputError, match="already exists"):
        found.write(place)
    with pytest.raises(SettingsError, match='got "csv"'):
        found.write(str(tmp_path / "other"), tables="csv")


# -- without Spark -----------------------------------------------------------------------------------------------------


def numbers_batches(numbers: list[int], size: int) -> list[Any]:
    table = pa.table({"number": pa.array(numbers, pa.int64())})
    return table.to_batches(max_chunksize=size)


@pytest.mark.parametrize("size", [1, 2, 100])
def test_bits_do_not_depend_on_batches(size: int) -> None:
    rows = {0: [1, 3, 70], 2: [8], 5: [1, 2, 3, 4, 5, 6, 7, 8, 9]}
    numbers = [source << 40 | row for source, those in rows.items() for row in those]
    packed = [row for batch in pack(numbers_batches(numbers, size)) for row in batch.to_pylist()]
    assert [(row["source"], row["removed"]) for row in packed] == [(0, 3), (2, 1), (5, 9)]
    for row in packed:
        mask = np.zeros(max(rows[row["source"]]), dtype=bool)
        mask[np.array(rows[row["source"]]) - 1] = True
        assert row["bitmap"] == np.packbits(mask, bitorder="little").tobytes()


def test_a_mask_may_begin_anywhere_and_end_behind_the_bits() -> None:
    bitmap = np.packbits([0, 1, 1, 0, 0, 0, 0, 0, 0, 1], bitorder="little").tobytes()
    whole = [False, True, True, *[False] * 6, True, *[False] * 10]
    for start in range(20):
        assert gone(bitmap, start, 20 - start).tolist() == whole[start:]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_is_copied_without_the_rows_that_go(tmp_path: Path, ending: str) -> None:
    source, copy = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    rows = [{"id": at, "text": f"text {at}"} for at in range(11)]
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), source, row_group_size=4)
    else:
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mask = np.zeros(11, dtype=bool)
    mask[[0, 8, 9]] = True
    assert filter_file(source, np.packbits(mask, bitorder="little").tobytes(), copy) == 3
    read = (
        pq.read_table(copy).to_pylist()
        if ending == "parquet"
        else [json.loads(one) for one in copy.read_text().splitlines()]
    )
    assert [row["id"] for row in read] == [1, 2, 3, 4, 5, 6, 7, 10]
    longer = np.packbits([*mask, True], bitorder="little").tobytes()
    with pytest.raises(InputError, match=r"4 rows, but .* has only 3 of them"):
        filter_file(source, longer, tmp_path / f"c.{ending}")
    assert not (tmp_path / f"c.{ending}").exists()


def test_the_draw_of_a_task_does_not_depend_on_batches() -> None:
    choice = np.random.default_rng(1)
    content = choice.integers(-(2**62), 2**62, (50, 2))
    content[40:] = content[:10]
    table = pa.table({"number": np.arange(50), "content_a": content[:, 0], "content_b": content[:, 1]})
    drawn = [
        [row for batch in Least(7, 3)(table.to_batches(max_chunksize=size)) for row in batch.to_pylist()]
        for size in (1, 9, 50)
    ]
    assert drawn[0] == drawn[1] == drawn[2]
    assert len({(row["content_a"], row["content_b"]) for row in drawn[0]}) == 7
