"""However the work is done, the pairs, clusters and survivors are the same; who stays is decided by position.

Every way of doing it is held against one plain run: orders of the input, forms and sizes in which it comes, threads,
homes of an index, bounds of memory with and without files, runs that stop and go on. The bands miss some pairs here,
and buckets are cut short, so that a way which finds more or fewer would show.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from benzer import Document, Index, IndexSettings, Options, Schema, Text, ValueSet, find_duplicates
from benzer.pipeline import memory, work
from benzer.pipeline.checkpoint import Checkpoint
from benzer.pipeline.memory import Memory
from tests.corpora import collection
from tests.redis_server import shared_server
from tests.reference.text import Recipe
from tests.results import SURE, all_of, assert_complete

Row = dict[str, Any]
Rows = list[Row]
RARE = Options(bucket_limit=3, seed=5)
LOSSY = {"threshold": 0.4, "recall": 0.5, "options": RARE}
BY_PLACE = "smallest:place"


def documents(seed: int, count: int = 160) -> Rows:
    """Documents that know their place, by which a keep policy may go in any order."""
    return [
        {"id": one, "text": text, "place": place}
        for place, (one, text) in enumerate(collection(seed, count).items())
    ]


def answer(found: Any) -> tuple[Any, ...]:
    """All that must be the same in any order of the input."""
    pairs, clusters, kept, removed, counts = all_of(found)
    return pairs, clusters, set(kept), removed, counts


def plain(rows: Rows, **options: Any) -> tuple[Any, ...]:
    """The answer of the plain run: one thread, one list."""
    return answer(find_duplicates(rows, **{**LOSSY, "keep": BY_PLACE, "threads": 1, **options}))


def test_the_plain_run_has_something_to_lose() -> None:
    """It misses pairs and cuts buckets short: a way that does more or less than it would be seen."""
    runs = [find_duplicates(documents(seed), **LOSSY) for seed in range(4, 12)]  # type: ignore[arg-type]
    assert all(found.counts["oversized_buckets"] for found in runs)
    whole = [find_duplicates(documents(seed), threshold=0.4, recall=1.0) for seed in range(4, 12)]
    missed = [
        len(all_of_them.expanded_pairs()) - len(found.expanded_pairs())
        for found, all_of_them in zip(runs, whole, strict=True)
    ]
    assert sum(map(bool, missed)) >= 6


def reordered(rows: Rows, seed: int) -> Rows:
    """The same documents in another order; -1 turns them round."""
    if seed < 0:
        return rows[::-1]
    other = list(rows)
    random.Random(seed).shuffle(other)
    return other


@pytest.mark.parametrize("order", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("keep", [BY_PLACE, "largest:place"])
def test_any_order_of_the_input(order: int, keep: str) -> None:
    for seed in range(4):
        rows = documents(seed)
        found = find_duplicates(reordered(rows, order), **LOSSY, keep=keep)
        assert answer(found) == plain(rows, keep=keep)


@pytest.mark.parametrize("order", [-1, 7, 8])
@pytest.mark.parametrize("keep, by_place", [("first", "smallest:place"), ("last", "largest:place")])
def test_what_comes_first_is_a_matter_of_position(order: int, keep: str, by_place: str) -> None:
    """First in an order is the same as least in the column that holds the places of that order."""
    rows = reordered(documents(4), order)
    renumbered = [{**row, "place": place} for place, row in enumerate(rows)]
    assert answer(find_duplicates(rows, **LOSSY, keep=keep)) == plain(
        documents_by_id(renumbered), keep=by_place
    )


def documents_by_id(rows: Rows) -> Rows:
    """In the order of the ids, whatever it was."""
    return sorted(rows, key=lambda row: str(row["id"]))


def test_the_order_of_the_sources_is_their_priority(tmp_path: Path) -> None:
    """By `first` the order of the inputs decides, by `source` that of the names, in whatever order they come."""
    rows = documents(5)
    parts = {name: rows[start::3] for start, name in enumerate(("web", "books", "news"))}
    paths = {name: jsonl(tmp_path / f"{name}.jsonl", part) for name, part in parts.items()}
    wanted = [paths[name] for name in ("books", "news", "web")]
    by_order = answer(find_duplicates(wanted, **LOSSY))
    for order in (["web", "books", "news"], ["news", "web", "books"]):
        given = [paths[name] for name in order]
        assert answer(find_duplicates(given, **LOSSY, keep="source:books,news,web")) == by_order
        assert answer(find_duplicates(given, **LOSSY, keep="source:books.jsonl,news.jsonl")) == by_order
    assert answer(find_duplicates(wanted[::-1], **LOSSY)) != by_order


def jsonl(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def many_files(folder: Path, rows: Rows, size: int) -> list[Path]:
    """Files of so many rows."""
    return [
        jsonl(folder / f"part-{start:05}.jsonl", rows[start : start + size])
        for start in range(0, len(rows), size)
    ]


def compressed(path: Path, rows: Rows, compress: Callable[[bytes], bytes]) -> Path:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(compress(data))
    return path


def delimited(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def parquet(path: Path, rows: Rows, group: int) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    return path


def one_by_one(rows: Rows) -> Iterator[Row]:
    """As if they came over a wire."""
    yield from rows


FORMS: dict[str, Callable[[Path, Rows], Any]] = {
    "generator": lambda _, rows: one_by_one(rows),
    "pairs": lambda _, rows: [(row["id"], {"text": row["text"], "place": row["place"]}) for row in rows],
    "table": lambda _, rows: pa.Table.from_pylist(rows),
    "batches": lambda _, rows: pa.Table.from_batches(
        [pa.RecordBatch.from_pylist(rows[start : start + 7]) for start in range(0, len(rows), 7)]
    ),
    "tables": lambda _, rows: [pa.Table.from_pylist(rows[:50]), pa.Table.from_pylist(rows[50:])],
    "jsonl": lambda folder, rows: jsonl(folder / "all.jsonl", rows),
    "files of 1": lambda folder, rows: many_files(folder, rows, 1),
    "files of 64": lambda folder, rows: many_files(folder, rows, 64),
    "gz": lambda folder, rows: compressed(folder / "all.jsonl.gz", rows, gzip.compress),
    "zst": lambda folder, rows: compressed(
        folder / "all.jsonl.zst", rows, zstandard.ZstdCompressor().compress
    ),
    "csv": lambda folder, rows: delimited(folder / "all.csv", rows),
    "parquet": lambda folder, rows: parquet(folder / "all.parquet", rows, 1000),
    "parquet by 9": lambda folder, rows: parquet(folder / "all.parquet", rows, 9),
}


@pytest.mark.parametrize("form", FORMS)
def test_any_form_and_batch_of_the_input(form: str, tmp_path: Path) -> None:
    rows = documents(6)
    if form == "csv":
        rows = [row for row in rows if row["text"]]
    found = find_duplicates(FORMS[form](tmp_path, rows), **LOSSY, keep=BY_PLACE)
    assert answer(found) == plain(rows)


@pytest.mark.parametrize("method", ["lsh", "exact", "auto"])
@pytest.mark.parametrize("threads", [0, 2, 3, 16])
def test_any_number_of_threads(threads: int, method: str) -> None:
    rows = documents(7)
    found = find_duplicates(rows, **LOSSY, keep=BY_PLACE, threads=threads, method=method)
    assert answer(found) == plain(rows, method=method)


def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a few documents are many parts."""
    monkeypatch.setattr(memory, "TOGETHER", 23)
    monkeypatch.setattr(memory, "LEAST_TOGETHER", 7)
    monkeypatch.setattr(work, "VERIFIED_TOGETHER", 11)
    monkeypatch.setattr(memory, "LEAST", 0)
    monkeypatch.setattr(memory, "LEAST_BATCH", 100)


@pytest.mark.parametrize("method", ["lsh", "auto"])
@pytest.mark.parametrize("per_document", [84, 140, 200, 400, 2000, None])
def test_any_bound_of_memory(per_document: int | None, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_parts(monkeypatch)
    spilled: list[int] = []
    monkeypatch.setattr(work.SpilledKeys, "array", counted(work.SpilledKeys.array, spilled))
    rows = documents(8)
    bound = None if per_document is None else Memory(per_document * len(rows))
    assert answer(find_duplicates(rows, **LOSSY, keep=BY_PLACE, memory=bound)) == plain(rows)  # type: ignore[arg-type]
    assert len(spilled) == (per_document is not None and per_document < 2000)
    chosen = Memory(10**6 * len(rows))
    found = find_duplicates(rows, **LOSSY, keep=BY_PLACE, memory=chosen, method=method)  # type: ignore[arg-type]
    assert answer(found) == plain(rows, method=method)


def counted(function: Callable[..., Any], calls: list[int]) -> Callable[..., Any]:
    """The function, noting each call."""

    def noted(*arguments: Any) -> Any:
        calls.append(1)
        return function(*arguments)

    return noted


@pytest.mark.parametrize("method", ["lsh", "exact"])
@pytest.mark.parametrize("seed", range(3))
def test_any_stop_of_the_run(seed: int, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the parts that a run has kept any may be missing, as if it had been killed before they were made."""
    small_parts(monkeypatch)
    rows, chance = documents(9), random.Random(seed)
    options = {"threshold": 0.4, "recall": 0.5, "keep": BY_PLACE, "method": method}
    with Checkpoint(tmp_path / "saved") as saved:
        find_duplicates(rows, **options, options=replace(RARE, checkpoint=saved))
    parts = sorted((tmp_path / "saved").glob("*.npz"))
    assert len(parts) > 6
    for part in chance.sample(parts, k=len(parts) // 2):
        part.unlink()
    found = find_duplicates(rows, **options, options=replace(RARE, checkpoint=tmp_path / "saved"), threads=3)
    assert answer(found) == plain(rows, method=method)


@pytest.mark.parametrize("batch_size", [1, 37, 1000])
@pytest.mark.parametrize("home", ["memory", "file", "redis"])
def test_any_home_of_an_index(home: str, batch_size: int, tmp_path: Path) -> None:
    place = {
        "memory": "memory:",
        "file": str(tmp_path / "index.benzer"),
        "redis": f"{shared_server().url}?prefix=same-{tmp_path.name}-{batch_size}",
    }
    rows = documents(10)
    settings = IndexSettings(threshold=0.4, recall=0.8, seed=5)
    with Index.open(place[home], settings) as index:
        index.add([Document(row["id"], row["text"]) for row in rows], batch_size=batch_size)
        found = index.find_duplicates(options=Options(bucket_limit=3))
    given = [(row["id"], row["text"]) for row in rows]
    rare = replace(RARE, bands=settings.bands)
    assert all_of(found) == all_of(find_duplicates(given, **{**LOSSY, "options": rare}))


@pytest.mark.parametrize("against", ["memory", "file", "redis"])
def test_any_home_of_the_older_documents(against: str, tmp_path: Path) -> None:
    place = {
        "memory": "memory:",
        "file": str(tmp_path / "index.benzer"),
        "redis": f"{shared_server().url}?prefix=older-{tmp_path.name}",
    }
    rows = documents(11)
    old = {f"old-{row['id']}": row["text"] for row in rows[:60]}
    answers = []
    for home in ("memory", against):
        with Index.open(place[home], IndexSettings(threshold=0.4, recall=0.8)) as index:
            index.add(old)
            found = find_duplicates(reordered(rows, len(answers)), **LOSSY, keep=BY_PLACE, against=index)
        matches = found.table("old_matches")
        told = zip(matches["id"], matches["old_id"], matches["similarity"].tolist(), strict=True)
        answers.append((answer(found), sorted(told)))
    assert answers[0] == answers[1]
    assert answers[0][1]


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("method", ["exact", "lsh"])
def test_any_engine_that_misses_nothing_is_brute_force(method: str, threshold: float) -> None:
    for seed in (20, 21):
        texts = collection(seed, 70)
        recall = 1.0 if method == "exact" else SURE
        found = find_duplicates(texts, threshold=threshold, recall=recall)
        assert found.method == method
        assert_complete(found, texts, Recipe(), threshold)  # type: ignore[arg-type]


def two_fields(seed: int) -> Rows:
    """Documents of a title and tags, either of which may be missing."""
    chance = random.Random(seed)
    rows = []
    for row in documents(seed, 120):
        fields: Row = {"title": row["text"], "tags": sorted(set(row["text"].lower().split()[:5]))}
        kept: Sequence[str] = chance.choice([["title", "tags"]] * 4 + [["title"], ["tags"]])
        rows.append({"id": row["id"], **{name: fields[name] for name in kept}})
    return rows


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.9])
def test_any_engine_on_several_fields(threshold: float) -> None:
    schema = Schema(title=Text(), tags=ValueSet(weight=0.7))
    rows = [(row.pop("id"), row) for row in two_fields(12)]
    options = {"schema": schema, "threshold": threshold}
    exact = find_duplicates(rows, **options, recall=1.0)
    banded = find_duplicates(rows, **options, recall=SURE)
    assert all_of(exact)[:4] == all_of(banded)[:4]
    assert exact.counts["pairs"] > 10


@pytest.mark.parametrize("name", ["plain", "escaped"])
def test_the_longest_is_that_of_most_text_however_its_file_writes_it(name: str, tmp_path: Path) -> None:
    """Six bytes of escape are a letter of two: the first has 25 bytes, or 73 as written, the second 42 or 46."""
    texts = {"accents": "é" * 12 + "e", "letters": "é" + "e" * 40}
    path = tmp_path / f"{name}.jsonl"
    rows = ({"id": one, "text": text} for one, text in texts.items())
    lines = (json.dumps(row, ensure_ascii=name == "escaped") for row in rows)
    path.write_text("\n".join(lines), encoding="utf-8")
    found = find_duplicates(path, schema=Schema(text=Text("char", 1)), keep="longest")
    assert found.kept == ["letters"]
