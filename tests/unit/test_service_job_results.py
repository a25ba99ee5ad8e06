"""A job's result is seen in parts, at other thresholds, as files, and after what a person decides; always as it is."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from benzer.document import Document
from benzer.fields import Schema, Text, ValueSet
from benzer.pipeline import find_duplicates
from benzer.service.errors import Refusal
from benzer.service.jobs import files, sides
from benzer.service.jobs.clusters import opened
from benzer.service.jobs.decisions import Decision, decided
from benzer.service.jobs.results import Result
from benzer.service.jobs.running import JobRequest
from benzer.service.jobs.tables import ORDERS, TABLES, Table, rows_of, table_of
from benzer.sources import MalformedRow
from benzer.tables import to_arrow
from tests.jobs import RESULT, ROWS, TEXTS, search, spooled

# How it is seen


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_parts_of_a_table_are_its_rows_each_once(name: str, order: str) -> None:
    table = table_of(RESULT, name, order)
    whole = rows_of(table.part(0, table.total))
    assert len(whole) == table.total
    assert [row for at in range(table.total) for row in rows_of(table.part(at, at + 1))] == whole


def test_tables_are_those_of_the_library() -> None:
    for name in ("pairs", "removed", "malformed"):
        table = table_of(RESULT, name, "")
        assert rows_of(table.part(0, table.total)) == rows_of(RESULT.table(name))
    kept = table_of(RESULT, "kept", "")
    assert [row["id"] for row in rows_of(kept.part(0, kept.total))] == RESULT.kept


def test_clusters_come_in_each_order_under_one_number() -> None:
    by_source = rows_of(table_of(RESULT, "clusters", "source").part(0, 9))
    assert [(row["cluster"], row["kept_id"], row["size"]) for row in by_source] == [(0, "a", 3), (1, 7, 2)]
    for order in ("largest", "doubtful"):
        rows = rows_of(table_of(RESULT, "clusters", order).part(0, 9))
        reports = RESULT.cluster_report("largest" if order == "largest" else "doubtful")
        assert [(row["kept_id"], row["least"]) for row in rows] == [
            (report.representative, report.least_similarity) for report in reports
        ]
        assert sorted(rows, key=lambda row: row["cluster"]) == by_source
    assert by_source[0]["mean"] == pytest.approx(sum(RESULT.clusters[0].removed.values()) / 2)
    with pytest.raises(Refusal, match="order must be one of largest, doubtful, source, got 'other'"):
        table_of(RESULT, "clusters", "other")


def test_one_cluster_shows_its_members_some_at_a_time_with_cut_texts() -> None:
    shown = opened(RESULT, 0, 1, 1, 9)
    assert (shown["total"], shown["kept_id"]) == (3, "a")
    assert shown["members"] == [
        {"id": "b", "kept": False, "similarity": 1.0, "contents": {"text": "The quick"}, "contents_cut": True}
    ]
    assert opened(RESULT, 0, 0, 1, 1000)["members"][0]["contents_cut"] is False
    for number in (-1, 2):
        with pytest.raises(Refusal, match=f"cluster {number} does not exist: there are 2") as refusal:
            opened(RESULT, number, 0, 1, 1)
        assert refusal.value.status == 404


def test_two_documents_are_shown_with_their_similarity_whatever_kind_their_ids_are() -> None:
    both = sides.compared(RESULT, "7", "a", 1000)
    assert both["left"]["id"] == "7"  # the text goes before the number
    one = sides.compared(RESULT, "b", "c", 1000)
    expected = RESULT.evidence("b", "c")["text"]
    assert one["fields"]["text"]["evidence"]["coverage_a"] == expected.coverage_a
    assert one["similarity"] == one["fields"]["text"]["similarity"] == 10 / 12
    with pytest.raises(Refusal, match="the job has no document 'nobody'"):
        sides.compared(RESULT, "a", "nobody", 1)
    numbers = find_duplicates([Document(1, TEXTS["a"]), Document(2, TEXTS["b"])])
    assert sides.compared(numbers, "1", "2", 1)["left"]["id"] == 1


def test_fields_that_only_one_document_holds_have_no_similarity() -> None:
    schema = Schema(text=Text(), tags=ValueSet())
    rows = [
        Document("a", {"text": TEXTS["a"], "tags": ["x"]}),
        Document("b", {"text": TEXTS["b"], "tags": None}),
    ]
    shown = sides.compared(find_duplicates(rows, schema=schema), "a", "b", 10)
    assert shown["fields"]["tags"] == {"similarity": None, "evidence": None}
    assert shown["fields"]["text"]["similarity"] == shown["similarity"] == 1.0


def test_a_result_is_seen_at_a_higher_threshold_without_another_run() -> None:
    result = Result(RESULT)
    view = result.view_at(0.9)
    assert view is result.view_at(0.9)
    assert view.result.removed == RESULT.rethreshold(0.9).removed != RESULT.removed
    assert result.view_at().result is result.view_at(0.6).result is RESULT
    for least in (0.5, 1.1, float("nan")):
        with pytest.raises(Refusal, match=r"threshold must be from 0\.6") as refusal:
            result.view_at(least)
        assert refusal.value.status == 422
    views = [result.view_at(number / 100) for number in range(60, 69)]
    assert result.view_at(0.68) is views[-1]
    assert len(result._views) == 4


# What a person decides


def test_a_split_lets_all_or_the_named_members_stay_and_the_others_go_as_before() -> None:
    assert decided(RESULT, []).stays.tolist() == RESULT.stays.tolist()
    assert decided(RESULT, [Decision(0, "keep")]).stays.tolist() == RESULT.stays.tolist()
    for members, stay in ((None, ["a", "b", "c", 7, "d"]), (["c"], ["a", "c", 7, "d"]), ([], RESULT.kept)):
        after = decided(RESULT, [Decision(0, "split", members)])
        kept, removed = after.table("kept"), after.table("removed")
        assert [row["id"] for row in rows_of(kept.part(0, 9))] == stay
        rows = rows_of(removed.part(0, 9))
        assert len(rows) == len(TEXTS) - len(stay)
        before = {(type(row["id"]), row["id"]): row for row in rows_of(RESULT.table("removed"))}
        for row in rows:
            assert row == before[type(row["id"]), row["id"]]
            assert row["similarity"] >= RESULT.threshold
            assert row["kept_id"] in stay
    both = decided(RESULT, [Decision(0, "split"), Decision(1, "split", ["7"])])
    assert both.stays.all()


@pytest.mark.parametrize(
    "decisions, message",
    [
        ([Decision(0, "keep"), Decision(0, "split")], "cluster 0 has two decisions"),
        ([Decision(0, "split", ["d"])], "cluster 0 has no member 'd'"),
        ([Decision(1, "split", [True])], "has no member True"),
        ([Decision(0, "keep", ["a"])], "must not have members"),
        ([Decision(9, "keep")], "cluster 9 does not exist"),
    ],
)
def test_decisions_that_mean_nothing_are_refused(decisions: list[Decision], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        decided(RESULT, decisions)


# Files


def test_csv_gives_every_text_back_when_one_apostrophe_is_taken_away() -> None:
    strange = ["=1+1", "'=1", "''", "@SUM(A1)", "+1", "-1", "\t=1", "\r\n=1", "＝1", 'a"b,c\nd', "plain", ""]
    rows = [Document(id, f"text number {number} of these") for number, id in enumerate(strange)]
    found = find_duplicates([*rows, Document(-7, "another one")])
    with files.written(table_of(found, "kept", ""), 0, len(found.kept), "csv") as file:
        content = file.read().decode()
    read = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["id"].removeprefix("'") if row["id"].startswith("'") else row["id"] for row in read] == [
        *strange, "-7",
    ]  # fmt: skip
    assert not [row for row in read[:-1] if row["id"][:1] in ("=", "+", "-", "@", "\t", "\r", "＝")]


def test_parquet_written_in_parts_is_what_the_whole_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {
        "id": [1, 2, "three", 4, 5], "number": [None, None, 3, None, 5], "none": [None] * 5,
        "text": [None, None, None, "a", None], "share": np.linspace(0, 1, 5),
    }  # fmt: skip
    whole = to_arrow(columns)
    for rows in (1, 2, 5):
        monkeypatch.setattr(files, "PART_ROWS", rows)
        for count in (5, 0):
            table = Table(
                count, lambda start, end: {key: column[start:end] for key, column in columns.items()}
            )
            with files.written(table, 0, count, "parquet") as file:
                read = pyarrow.parquet.read_table(file)
            assert read.to_pydict() == whole.slice(0, count).to_pydict()
            assert not count or read.schema.equals(whole.schema)


def test_parquet_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Refusal, match=r"benzer\[parquet\]") as refusal:
        files.written(table_of(RESULT, "pairs", ""), 0, 1, "parquet")
    assert (refusal.value.status, refusal.value.field) == (501, "query.format")


def test_an_upload_leaves_no_file_and_its_texts_can_still_be_seen() -> None:
    spool = spooled(*ROWS)
    name = Path(spool._file.name)
    found = search(JobRequest(0.6), spool)
    assert not name.exists()
    assert opened(found, 0, 0, 1, 1000)["members"][0]["contents"] == {"text": TEXTS["a"]}
    assert found.malformed == list[MalformedRow]()
