"""What the user gave is found, named and opened; what cannot be opened says why."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benzer.errors import InputError, SettingsError
from benzer.sources import FORMATS, Files, ReadOptions, open_sources, special
from tests.contracts.source_inputs import (
    EVERY_OTHER,
    ROWS,
    as_file,
    csv_bytes,
    jsonl_bytes,
    native_corpus,
    read,
    text_folder,
    texts,
    zst,
)


@pytest.mark.parametrize(
    "data, format, suffix",
    [
        (jsonl_bytes(ROWS), None, ".jsonl"),
        (gzip.compress(jsonl_bytes(ROWS)), None, ".jsonl.gz"),
        (zst(jsonl_bytes(ROWS)), None, ".jsonl.zst"),
        (csv_bytes(ROWS), "csv", ".csv"),
    ],
    ids=["jsonl", "gzip", "zstd", "csv"],
)
def test_the_standard_input_is_read(
    data: bytes, format: str | None, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    (source,) = open_sources("-", format=format)
    corpus = native_corpus()
    source.read_into(corpus, 0, ReadOptions(fields={"text": "text"}, id_column="id"))
    assert (source.name, source.path) == ("stdin", None)
    assert texts(corpus) == [row["text"] for row in ROWS]
    assert source.suffix == suffix
    assert source.write_rows(EVERY_OTHER, tmp_path / f"copy{suffix}") == 3


def test_a_named_pipe_is_read_like_the_standard_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(jsonl_bytes(ROWS),))
    writer.start()
    _, corpus, _ = read(tmp_path / "pipe")
    writer.join()
    assert corpus.ids() == [row["id"] for row in ROWS]


def test_a_pipe_that_nobody_writes_to_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(special, "SECONDS_FOR_WRITER", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        InputError, match=r"no process has opened the pipe .*pipe for writing in 0 seconds: start"
    ):
        open_sources(tmp_path / "pipe")


def test_devices_sockets_and_links_to_themselves_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.jsonl").symlink_to("loop.jsonl")
    Path("there.jsonl").symlink_to("back.jsonl")
    Path("back.jsonl").symlink_to("there.jsonl")
    Path("nothing.jsonl").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("socket.jsonl")
    for name in ("loop.jsonl", "there.jsonl", "nothing.jsonl", "l*.jsonl"):
        with pytest.raises(InputError, match=r"jsonl is a broken or circular link: check its target"):
            open_sources(name)
    for name, noun in (("/dev/zero", "device"), ("/dev/null", "device"), ("socket.jsonl", "socket")):
        with pytest.raises(InputError, match=f"{name} is a {noun}: use a file, a folder, or - for the"):
            open_sources(name)


def test_globs_come_sorted_and_folders_recursive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.jsonl", "a.jsonl", "c.csv", "deep/d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    text_folder(tmp_path, ROWS[:1])
    assert [source.name for source in open_sources(Files(["c.csv", "*.jsonl"]))] == [
        "c.csv",
        "a.jsonl",
        "b.jsonl",
    ]
    assert [source.name for source in open_sources("**/*.jsonl")] == ["a.jsonl", "b.jsonl", "deep/d.jsonl"]
    assert read("texts/")[1].ids() == ["texts/a/a.txt"]
    assert read("texts/a/a.txt")[1].ids() == ["texts/a/a.txt"]


def test_a_pattern_chooses_the_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("a.html", "b.txt", "c.HTML"):
        (tmp_path / name).write_text(name)
    (source,) = open_sources(tmp_path, pattern="*.html")
    corpus = native_corpus()
    source.read_into(corpus, 0, ReadOptions(extra_column="bytes"))
    assert texts(corpus) == ["a.html"]
    assert corpus.extras() == [b"6"]


def test_text_files_have_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffçok".encode())
    (tmp_path / "b.txt").write_bytes("çok ğ".encode("iso-8859-9"))
    (tmp_path / "c.txt").write_bytes("Größe".encode("utf-16"))
    _, detected, report = read(tmp_path)
    assert (texts(detected)[::2], report.encodings) == (["çok", "Größe"], {"cp1252": 1, "utf-16-le": 1})
    assert texts(read(tmp_path / "b.txt", encoding="iso-8859-9")[1]) == ["çok ğ"]
    _, utf8, report = read(tmp_path, encoding="utf-8", on_error="skip")
    assert (texts(utf8), [row.row for row in report.malformed]) == (["çok"], [2, 3])


@pytest.mark.parametrize(
    "inputs, message",
    [
        (7, "a int is not an input"),
        ("nowhere.jsonl", "there is no file or folder nowhere.jsonl: check the path"),
        ("no*.jsonl", "nothing matches no"),
        ("a.data", "a.data is a PDF file, which Benzer does not read: convert it to text first"),
        ("a.parquet.gz", "a compressed Parquet file"),
        (Files(["a.jsonl", "./a.jsonl"]), r"\./a.jsonl is given twice \(also as a.jsonl\)"),
        (Files(["link.jsonl", "a.jsonl"]), "given twice"),
        (Files(["a.jsonl", "*.jsonl"]), "given twice"),
        (Files(["texts", "texts/a.txt"]), r"texts/a.txt is given twice \(it lies in texts\)"),
        (Files(["-", "-"]), 'the standard input "-" is given 2 times'),
        ("empty", r"empty contains no files that match \*.txt or \*.md: it is empty"),
        (
            "tables",
            r"tables contains no files that match .* it contains .csv; use a glob \(tables/\*\) for such files",
        ),
    ],
)
def test_an_input_that_cannot_be_opened_says_why(
    inputs: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "texts", "tables"):
        (tmp_path / folder).mkdir()
    for name in ("a.jsonl", "a.data", "a.parquet.gz", "texts/a.txt", "tables/t.csv"):
        (tmp_path / name).write_bytes(b"%PDF-1.7" if name == "a.data" else b"")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=message):
        open_sources(inputs)


def test_a_format_may_be_named(tmp_path: Path) -> None:
    path = as_file("corpus.data", jsonl_bytes)(tmp_path, ROWS)
    (source,) = open_sources(path, format="jsonl")
    assert source.suffix == ".data"
    with pytest.raises(
        InputError, match='no input format "xml": choose one of csv, excel, html, images, ipc, json, jsonl'
    ):
        open_sources(path, format="xml")
    with pytest.raises(InputError, match="is a folder of texts"):
        open_sources(tmp_path, format="csv")


def test_several_tables_are_several_sources() -> None:
    table = pa.table({"text": ["one"]})
    assert [source.name for source in open_sources([table, table])] == ["table-1", "table-2"]


def test_unknown_options_are_refused() -> None:
    with pytest.raises(SettingsError, match='on_error must be "stop" or "skip", got "ignore"'):
        ReadOptions(on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="fields must name at least one column"):
        ReadOptions(fields={})


@pytest.mark.parametrize("name", FORMATS.names)
def test_every_registered_format_can_be_loaded(name: str) -> None:
    assert {"read_into", "write_rows"} <= set(dir(FORMATS.load(name)))


def test_opening_imports_no_parquet() -> None:
    code = "import sys, benzer.sources as s; s.open_sources([{}]); sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
