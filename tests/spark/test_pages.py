"""The Python of the pages about Spark runs, and does what the pages say: their places lie in a folder here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benzer import find_duplicates
from benzer.spark import read_collection
from tests.doors.test_docs import OF_SPARK, ROOT, blocks, python_failures

ARTICLES = {
    f"a{at}": f"the fox number {at} jumps over the lazy dog and sleeps until the morning comes"
    for at in range(5)
}
QUESTIONS = {"q1": f"{ARTICLES['a3']} again", "q2": "of nothing that stands elsewhere"}
TODAY = {
    "t1": f"{ARTICLES['a1']} again",
    "t2": "news of the day",
    "t3": "News of the day!",
    "a4": ARTICLES["a4"],
}


def stored(folder: Path, texts: dict[str, str]) -> None:
    """Documents where a page has them."""
    columns = {"url": list(texts), "text": list(texts.values()), "body": list(texts.values())}
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "part.parquet")


def ran(name: str, lake: Path, spark: Any) -> dict[str, Any]:
    """The names that the blocks of a page leave, with its buckets in a folder."""
    page = ROOT / "docs" / "how-to" / name
    assert page in OF_SPARK
    names: dict[str, Any] = {"spark": spark, "__name__": "__example__"}
    for block in blocks(page):
        if block.language == "python":
            text = block.text.replace("s3://lake", str(lake)).replace("s3://bucket", str(lake))
            assert python_failures(type(block)("python", text, block.line), page, names) == ""
    return names


def rows(place: Path) -> list[dict[str, Any]]:
    """The rows that were written to a place."""
    found: list[dict[str, Any]] = pq.read_table(place).to_pylist()
    return found


def test_run_on_spark(spark: Any, tmp_path: Path) -> None:
    texts = {**ARTICLES, **TODAY}
    stored(tmp_path / "articles", texts)
    found = ran("run-on-spark.md", tmp_path, spark)["result"]
    local = find_duplicates(dict(sorted(texts.items())))
    assert found.counts == local.counts
    assert found.counts["removed"] > 0
    assert sorted(row["url"] for row in rows(tmp_path / "clean")) == sorted(local.kept)
    assert {row["id"] for row in rows(tmp_path / "evidence" / "removed")} == set(local.removed)
    assert {row.id for row in found.removed.collect()} == set(local.removed), (
        "also when its tables are released"
    )


def test_find_similar_on_spark(spark: Any, tmp_path: Path) -> None:
    for name, texts in {"articles": ARTICLES, "questions": QUESTIONS, "2026-06-02": TODAY}.items():
        stored(tmp_path / name, texts)
    stored(tmp_path / "books", {"b": ARTICLES["a2"]})
    stored(tmp_path / "wiki", {"w": ARTICLES["a2"]})
    names = ran("find-similar-on-spark.md", tmp_path, spark)
    answers = sorted(rows(tmp_path / "answers"), key=lambda row: row["rank"])
    assert answers[0]["id"] == "a3"
    assert {row["query_id"] for row in answers} == {"q1"}
    assert sorted(row["url"] for row in rows(tmp_path / "clean" / "2026-06-02")) == ["a4", "t2"]
    assert len(read_collection(spark, str(tmp_path / "articles.benzer"))) == 6
    assert [(row["id"], row["kept_id"]) for row in names["result"].removed.collect()] == [("w", "b")]
