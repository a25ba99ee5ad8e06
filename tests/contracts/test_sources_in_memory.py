"""Texts, tables and columns in memory: each kind gives the same documents, and strings are never file names."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pds
import pytest

import benzer
from benzer.errors import InputError, MalformedRowError
from benzer.fields import Image, Schema, Text, ValueSet
from benzer.sources import Files, open_sources

TEXTS = ["one two three four", "five six seven eight", "One two, three four!"]
TABLE = pa.table({"id": ["a", "b", "c"], "text": TEXTS, "year": [1, 2, 3]})


def hugging_face() -> Any:
    """A dataset with a filter, whose rows are those of the table."""
    rows = {"id": ["z", "a", "b", "c"], "text": ["no", *TEXTS], "year": [0, 1, 2, 3]}
    return datasets.Dataset.from_dict(rows).select([3, 2, 1]).select([2, 1, 0])


def relation() -> Any:
    return duckdb.from_arrow(TABLE)


TABLES: dict[str, Callable[[], Any]] = {
    "pyarrow.Table": lambda: TABLE,
    "pyarrow.RecordBatch": lambda: TABLE.to_batches()[0],
    "pyarrow.RecordBatchReader": TABLE.to_reader,
    "pyarrow.dataset.Dataset": lambda: pds.dataset(TABLE),
    "pyarrow.dataset.Scanner": lambda: pds.dataset(TABLE).scanner(),
    "iterator of record batches": lambda: iter(TABLE.to_batches()),
    "pandas.DataFrame": TABLE.to_pandas,
    "pandas.DataFrame with its ids as index": lambda: TABLE.to_pandas().set_index("id"),
    "polars.DataFrame": lambda: pl.DataFrame(TABLE.to_pydict()),
    "polars.LazyFrame": lambda: pl.LazyFrame(TABLE.to_pydict()),
    "DuckDB relation": relation,
    "datasets.Dataset": hugging_face,
    "datasets.IterableDataset": lambda: hugging_face().to_iterable_dataset(),
    "datasets.DatasetDict": lambda: datasets.DatasetDict(train=hugging_face()),
    "numpy records": lambda: np.array(
        [tuple(row.values()) for row in TABLE.to_pylist()], [("id", "U1"), ("text", "U40"), ("year", "i8")]
    ),
    "list of mappings": TABLE.to_pylist,
    "generator of mappings": lambda: iter(TABLE.to_pylist()),
    "mapping of tables": lambda: {"all": TABLE},
}
COLUMNS: dict[str, Callable[[], Any]] = {
    "list": lambda: list(TEXTS),
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "enumerate": lambda: enumerate(TEXTS),
    "numpy strings": lambda: np.array(TEXTS),
    "numpy objects": lambda: np.array(TEXTS, dtype=object),
    "pandas.Series": lambda: pd.Series(TEXTS, index=["x", "y", "z"]),
    "polars.Series": lambda: pl.Series(TEXTS),
    "pyarrow.Array": lambda: pa.array(TEXTS),
    "pyarrow.ChunkedArray": lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_each_kind_of_table_gives_the_same_result(kind: str) -> None:
    found = benzer.find_duplicates(TABLES[kind]())
    assert (found.kept, found.removed["c"]) == (["a", "b"], ("a", 1.0))


@pytest.mark.parametrize("kind", TABLES)
def test_what_is_kept_is_written_with_all_columns(kind: str, tmp_path: Path) -> None:
    paths = benzer.find_duplicates(TABLES[kind]()).write(tmp_path / "out")
    name = str(paths["kept"])
    rows = pd.read_parquet(name) if name.endswith(".parquet") else pd.read_json(name, lines=True)
    assert sorted(rows.reset_index().to_dict("list")["year"]) == [1, 2]


@pytest.mark.parametrize("kind", COLUMNS)
def test_contents_alone_are_numbered_from_0(kind: str, tmp_path: Path) -> None:
    found = benzer.find_duplicates(COLUMNS[kind]())
    assert (found.kept, found.removed) == ([0, 1], {2: (0, 1.0)})
    assert found.write(tmp_path / "out")["kept"].exists()


def test_an_empty_input_has_no_documents() -> None:
    for nothing in ([], (), iter(()), TABLE.slice(0, 0), pa.array([], pa.string()), {}, np.array([], "U1")):
        assert benzer.find_duplicates(nothing).counts["documents"] == 0


def test_a_missing_text_of_a_list_is_an_empty_document() -> None:
    for texts in ([*TEXTS, None], pd.Series([*TEXTS, None]), pa.array([*TEXTS, None])):
        found = benzer.find_duplicates(texts)
        assert (found.counts["documents"], found.counts["empty"]) == (4, 1)


# Strings and paths


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(json.dumps({"id": name[0], "text": "one two three"}) + "\n")
    (tmp_path / "data").mkdir()
    return tmp_path


def test_a_string_or_a_path_alone_is_a_path_and_so_are_paths_in_a_list(folder: Path) -> None:
    for given in ("*.jsonl", Path("*.jsonl"), [Path("a.jsonl"), Path("b.jsonl")], (Path("?.jsonl"),)):
        assert benzer.find_duplicates(given).removed == {"b": ("a", 1.0)}
    assert benzer.find_duplicates(Files(["a.jsonl", "b.jsonl"])).removed == {"b": ("a", 1.0)}
    assert [one.name for one in open_sources(iter([Path("a.jsonl")]))] == ["a.jsonl"]


@pytest.mark.parametrize(
    "strings",
    [
        ["a.jsonl"],
        ["a.jsonl", "b.jsonl"],
        ["*.jsonl"],
        ["missing.csv.gz"],
        ["data"],
        ["-"],
        ["s3://b/x.parquet"],
    ],
    ids=repr,
)
def test_strings_that_all_look_like_files_are_refused(strings: list[str], folder: Path) -> None:
    for given in (strings, tuple(strings), iter(strings)):
        with pytest.raises(InputError) as error:
            open_sources(given)
        assert str(error.value) == (
            f"strings in a list are texts, but {strings[0]!r} looks like a file name: use pathlib.Path objects for "
            "files, or enumerate(...) for texts"
        )
    assert benzer.find_duplicates(enumerate(strings)).counts["documents"] == len(strings)


@pytest.mark.parametrize(
    "strings",
    [
        ["a.jsonl", "a text"],
        ["data", "more data"],
        ["what is in a.jsonl?"],
        ["x" * 5000],
        ["a\0b"],
        ["a[b"],
        [""],
    ],
    ids=lambda strings: repr(strings)[:20],
)
def test_strings_of_which_one_is_no_file_are_texts(strings: list[str], folder: Path) -> None:
    for given in (strings, iter(strings)):
        found = benzer.find_duplicates(given)
        assert found.counts["documents"] == len(strings)
        assert [found.corpus.text(at, 0) for at in range(len(strings))] == strings


def test_paths_and_strings_do_not_mix(folder: Path) -> None:
    with pytest.raises(InputError, match=r"'b.jsonl' is among paths: use pathlib.Path objects for all files"):
        open_sources([Path("a.jsonl"), "b.jsonl"])
    with pytest.raises(
        MalformedRowError, match="an object in a list of texts: use only strings, or only mappings"
    ):
        benzer.find_duplicates(["a text", {"text": "another"}])
    with pytest.raises(
        MalformedRowError, match="text is not a document: use a Document, a mapping, or a pair"
    ):
        benzer.find_duplicates([{"text": "another"}, "a text"])


def test_contents_alone_have_one_field_and_no_columns() -> None:
    two = Schema(title=Text(), body=Text())
    for given in (TEXTS, pa.array(TEXTS), iter(TEXTS)):
        with pytest.raises(
            InputError, match="has no columns, but the schema has the fields title, body: use a"
        ):
            benzer.find_duplicates(given, schema=two)
    for given in (TEXTS, pa.array(TEXTS), iter(TEXTS)):
        with pytest.raises(InputError, match='has no columns, but "doi" is needed: use a table or mappings'):
            benzer.find_duplicates(given, id="doi")
    with pytest.raises(
        InputError, match=r"which are texts, but the schema reads images: use pathlib.Path objects"
    ):
        benzer.find_duplicates(["not a file", "nor this"], schema=Schema(image=Image()))


def test_a_column_of_lists_is_a_column_of_value_sets() -> None:
    sets = pa.array([["a", "b"], ["b", "a"], ["c"]])
    assert benzer.find_duplicates(sets, schema=Schema(tags=ValueSet())).removed == {1: (0, 1.0)}
    with pytest.raises(
        InputError, match=r'column "text" of table contains list.*, not text: choose another column'
    ):
        benzer.find_duplicates(sets)


def test_arrays_of_images_are_images() -> None:
    random = np.random.default_rng(1)
    image = random.integers(0, 256, (1, 64, 64, 3), dtype=np.uint8)
    other = random.integers(0, 256, (1, 64, 64, 3), dtype=np.uint8)
    found = benzer.find_duplicates(np.concatenate((image, other, image)), schema=Schema(image=Image()))
    assert found.removed == {2: (0, 1.0)}


@pytest.mark.parametrize(
    "given",
    [np.arange(3), np.ones((2, 2)), b"a text", 7, bytearray(b"x"), object()],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_input_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="is not"):
        open_sources(given)


# Tables


def test_a_column_that_is_not_read_may_hold_anything() -> None:
    frame = pd.DataFrame({"text": TEXTS, "odd": [{1, 2}, 3, "x"], 7: [object(), None, 1.5]})
    assert benzer.find_duplicates(frame).removed == {"table:3": ("table:1", 1.0)}


def test_a_column_of_python_sets_is_read_row_by_row() -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "tags": [{"x", "y"}, {"y", "x"}, float("nan")]})
    found = benzer.find_duplicates(frame, schema=Schema(tags=ValueSet()))
    assert (found.removed, found.counts["empty"]) == ({"b": ("a", 1.0)}, 1)


def test_repeated_names_of_splits_and_tables() -> None:
    splits = datasets.DatasetDict(
        train=datasets.Dataset.from_dict({"text": TEXTS}),
        test=datasets.Dataset.from_dict({"text": TEXTS[:1]}),
    )
    assert list(benzer.find_duplicates(splits).removed) == ["train:3", "test:1"]
    assert list(benzer.find_duplicates([TABLE, TABLE.drop_columns(["id"])]).removed) == [
        "c",
        "table-2:1",
        "table-2:2",
        "table-2:3",
    ]


def test_a_dataset_of_several_files_loads_the_columns_in_order(tmp_path: Path) -> None:
    for number in range(3):
        pds.write_dataset(TABLE.slice(number, 1), tmp_path / f"{number}", format="parquet")
    whole = pds.dataset(sorted(str(path) for path in tmp_path.rglob("*.parquet")))
    assert benzer.find_duplicates(whole).removed == {"c": ("a", 1.0)}


def test_a_stream_whose_columns_are_unknown_is_read() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from TABLE.to_pylist()

    stream = datasets.IterableDataset.from_generator(rows)
    assert stream.column_names is None
    assert benzer.find_duplicates(stream).removed == {"c": ("a", 1.0)}


# Iterators


class Row(dict[str, Any]):
    """A row of which as many as are in memory are counted."""

    alive = 0

    def __init__(self, number: int) -> None:
        super().__init__(text=f"text number {number} of many", more=number)
        Row.alive += 1

    def __del__(self) -> None:
        Row.alive -= 1

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def test_an_iterator_is_read_as_a_stream_and_written_with_all_columns(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for number in range(20_000):
            most.append(Row.alive)
            yield Row(number)

    most: list[int] = []
    found = benzer.find_duplicates(rows(), threshold=1.0)
    assert max(most) < 5_000
    lines = found.write(tmp_path / "out")["kept"].read_text().splitlines()
    assert (len(lines), lines[19_999]) == (20_000, '{"text": "text number 19999 of many", "more": 19999}')


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    for given in ([{"body": "x"}] * 3, iter([{"body": "x"}] * 3), iter([{"body": "x"}] * 3_000)):
        with pytest.raises(InputError, match=r'documents has no column "text": use one of .body.'):
            benzer.find_duplicates(given)


def test_items_that_cannot_be_stored_cannot_be_written(tmp_path: Path) -> None:
    rows = ({"text": "a text", "more": lambda: None} for _ in range(2))
    found = benzer.find_duplicates(rows)
    assert found.counts["removed"] == 1
    with pytest.raises(
        InputError, match=r"the items of the iterator cannot be stored .*: use a list instead"
    ):
        found.write(tmp_path / "out")


MEMORY = """
import resource, benzer
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = used()
texts = (f"{number} words of a text that is not very long {number * 7919 % 1000003}" for number in range(500_000))
from benzer.pipeline.reading import read
from benzer.fields import Schema
assert len(read(texts, Schema()).corpus) == 500_000
print(used() - before)
"""


def test_a_million_generated_texts_take_at_most_250_mb() -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, env=os.environ
    )
    assert int(run.stdout) <= 125  # MB for half a million


def test_islice_of_a_longer_iterator_takes_no_more_than_its_items() -> None:
    numbers = (f"text {number}" for number in itertools.count())
    assert benzer.find_duplicates(itertools.islice(numbers, 5)).counts["documents"] == 5
    assert next(numbers) == "text 5"


# Results in the kind that was given


TO_ARROW: dict[type, Callable[[Any], Any]] = {
    pl.LazyFrame: lambda data: data.collect().to_arrow(),
    pl.DataFrame: lambda data: data.to_arrow(),
    pd.DataFrame: pa.Table.from_pandas,
    pa.RecordBatchReader: lambda data: data.read_all(),
    pds.Dataset: lambda data: data.to_table(),
    pds.Scanner: lambda data: data.to_table(),
    duckdb.DuckDBPyRelation: pa.table,
    datasets.DatasetDict: lambda data: data["train"].with_format("arrow")[:],
}


def texts_of(data: Any) -> list[Any]:
    """The texts of data of any kind."""
    for kind, to_arrow in TO_ARROW.items():
        if isinstance(data, kind):
            return texts_of(to_arrow(data))
    items = data.to_pylist() if hasattr(data, "to_pylist") else list(data)
    items = [data["all"]] if items == ["all"] else items
    if items and isinstance(items[0], (pa.Table, pa.RecordBatch)):
        return [text for table in items for text in texts_of(table)]
    return [
        item if isinstance(item, str) else item[1] if isinstance(item, tuple) else item["text"]
        for item in items
    ]


@pytest.mark.parametrize("kind", [*TABLES, *COLUMNS])
def test_dedupe_and_apply_return_the_kind_that_was_given(kind: str) -> None:
    made = (TABLES | COLUMNS)[kind]
    result = benzer.find_duplicates(made())
    for kept in (benzer.dedupe(made()), result.apply(made())):
        same = type(kept) is type(made()) or isinstance(kept, Iterator)
        assert same or {"pyarrow.dataset.Dataset"} == {kind}
        assert texts_of(kept) == TEXTS[:2]


def test_all_columns_types_and_labels_are_kept() -> None:
    frame = pd.DataFrame({"text": TEXTS, "kind": pd.Categorical(["x", "y", "x"])}, index=["p", "q", "r"])
    kept = benzer.dedupe(frame)
    assert (list(kept.index), kept["kind"].dtype.name) == (["p", "q"], "category")
    lazy = benzer.dedupe(pl.LazyFrame({"text": TEXTS, "n": [1, 2, 3]}).filter(pl.col("n") > 1))
    assert lazy.collect().to_dict(as_series=False) == {"text": TEXTS[1:], "n": [2, 3]}
    splits = benzer.dedupe(datasets.DatasetDict(a=hugging_face(), b=hugging_face()), id="none")
    assert (type(splits), splits["a"]["id"], splits["b"]["id"]) == (datasets.DatasetDict, ["a", "b"], [])


def test_malformed_and_skipped_rows_are_left_out() -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1, "text": "one two"},
        {"id": 2, "text": 7},
        {"id": 1, "text": "three four"},
    ]
    options = benzer.Options(on_error="skip", on_duplicate_id="skip")
    assert benzer.dedupe(rows, options=options) == rows[:1]
    assert list(benzer.dedupe(iter(rows), options=options)) == rows[:1]
    assert benzer.dedupe({"a": "one two", "b": "One two"}) == {"a": "one two"}


def test_apply_refuses_other_data() -> None:
    found = benzer.find_duplicates(TEXTS)
    for given in (TEXTS[:2], pd.Series(TEXTS[:2]), pa.table({"text": TEXTS[:2]})):
        with pytest.raises(InputError, match="the result is of 3 rows, got 2: use the input of the run"):
            found.apply(given)
    with pytest.raises(InputError, match="the result is of 1 tables, got 2: use the input of the run"):
        found.apply([TABLE, TABLE])
    with pytest.raises(InputError, match="got 4: use the input of the run"):
        list(found.apply(iter([*TEXTS, "more"])))
    for path in ("a.jsonl", Path("a.jsonl"), [Path("a.jsonl")], Files(["a.jsonl"])):
        with pytest.raises(InputError, match="files are not read into memory: use find_duplicates"):
            benzer.dedupe(path)
        with pytest.raises(InputError, match="files are not read into memory: use find_duplicates"):
            found.apply(path)


def test_tables_of_a_result_as_frames() -> None:
    found = benzer.find_duplicates(TABLE)
    assert found.to_pandas("removed")["kept_id"].tolist() == ["a"]
    assert found.to_polars("pairs").rows() == [("a", "c", 1.0)]
    assert found.to_arrow("kept")["id"].to_pylist() == ["a", "b"]
    assert found.to_polars("clusters")["id"].to_list() == ["a", "c"]


# An index


@pytest.mark.parametrize("kind", TABLES)
def test_an_index_adds_tables_with_ids(kind: str) -> None:
    with benzer.Index.open("memory:") as index:
        assert index.add(TABLES[kind]() if "mappings" not in kind else TABLE.drop_columns(["year"])) == 3
        assert list(index) == ["a", "b", "c"]
        assert index.find_similar(TEXTS[0], limit=2) == [("a", 1.0, {"text": 1.0}), ("c", 1.0, {"text": 1.0})]


@pytest.mark.parametrize("kind", COLUMNS)
def test_an_index_numbers_texts_and_replaces_nothing(kind: str) -> None:
    with benzer.Index.open("memory:") as index:
        assert index.add(COLUMNS[kind]()) == 3
        assert list(index) == [0, 1, 2]
        if kind != "enumerate":
            with pytest.raises(
                InputError, match=r"numbered from 0, but the index has the id 0: pass .id, text. pairs"
            ):
                index.add(COLUMNS[kind]())


def test_an_index_refuses_paths_and_tables_without_ids() -> None:
    with benzer.Index.open("memory:") as index:
        for path in ("a.jsonl", Path("a.jsonl"), [Path("a.jsonl")], Files(["a.jsonl"])):
            with pytest.raises(
                InputError, match=r"documents must be in memory, got .* use benzer index for files"
            ):
                index.add(path)
        with pytest.raises(
            InputError, match=r"strings in a list are texts, but 'a.jsonl' looks like a file name"
        ):
            index.add(["a.jsonl"])
        with pytest.raises(InputError, match='a table for an index needs a column "id": add one'):
            index.add(TABLE.drop_columns(["id"]))
        with pytest.raises(InputError, match="a document must be a Document"):
            index.add([7])
