"""What a file holds is recognized by its content: it is read as that, or refused with what it is and the remedy."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from click.testing import CliRunner
from PIL import Image

from benzer import Options, find_duplicates
from benzer.cli import main
from benzer.errors import InputError, MalformedRowError
from benzer.sources import open_sources
from benzer.sources.formats import recognize, text_fault

ROWS = [{"id": f"d{n}", "text": f"number {n} of some short texts"} for n in range(5)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def table(delimiter: str) -> bytes:
    return "\n".join(
        delimiter.join(row) for row in [["id", "text"], *(list(row.values()) for row in ROWS)]
    ).encode()


def written(write: object, *arguments: object) -> bytes:
    stream = io.BytesIO()
    write(*arguments, stream)  # type: ignore[operator]
    return stream.getvalue()


def zipped(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return stream.getvalue()


def tarred() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return stream.getvalue()


def image(kind: str) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(stream, kind)
    return stream.getvalue()


def ipc(kind: str) -> bytes:
    batch, stream = pa.RecordBatch.from_pylist(ROWS), io.BytesIO()
    opened = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with opened(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return stream.getvalue()


PARQUET = written(pq.write_table, pa.Table.from_pylist(ROWS))


class Case(NamedTuple):
    """A file, and the number of documents that it holds, or what is said of it."""

    name: str
    content: bytes
    documents: int | str


READ = [
    Case("a.jsonl", LINES, 5),
    Case("a.csv", table(","), 5),
    Case("a.tsv", table("\t"), 5),
    Case("a.parquet", PARQUET, 5),
    Case("a.txt", b"some words, and more of them", 1),
    Case("a.jsonl.gz", gzip.compress(LINES), 5),
    Case("a.csv.zst", zstandard.compress(table(",")), 5),
    # no ending, or one that says nothing
    Case("lines", LINES, 5),
    Case("table.data", table(","), 5),
    Case("tabs", table("\t"), 5),
    Case("columns.bin", PARQUET, 5),
    Case("notes.log", b"Dear Sir, thank you\nfor this, and that\n", 1),
    Case("README", b"Title\n=====\n\nSome text, of two\nlines; and more\n", 1),
    # an ending that the content contradicts
    Case("lines.csv", LINES, 5),
    Case("lines.txt", LINES, 5),
    Case("table.jsonl", table(","), 5),
    Case("tabs.csv", table("\t"), 5),
    Case("columns.csv", PARQUET, 5),
    Case("wide.csv", table(",").decode().encode("utf-16"), 5),
    Case("wide", table(";").decode().encode("utf-16"), 5),
    Case("wide.txt", "some words".encode("utf-16"), 1),
    Case("excel.csv", table(";"), 5),
    Case("excel", table(";"), 5),
    Case("pipes", table("|"), 5),
    Case("a.arrow", ipc("file"), 5),
    Case("a.arrows", ipc("stream"), 5),
    Case("columns", ipc("file"), 5),
    Case("array.json", json.dumps(ROWS, indent=1).encode(), 5),
    Case("array", json.dumps(ROWS).encode(), 5),
    Case("array.jsonl.bz2", bz2.compress(json.dumps(ROWS).encode()), 5),
    Case("page.html", b"<!-- x -->\n<!DOCTYPE html><html><body><p>a", 1),
    Case("page", b"<!-- x -->\n<!DOCTYPE html><html><body><p>a", 1),
    Case("packed.jsonl", gzip.compress(LINES), 5),
    Case("a.jsonl.bz2", bz2.compress(LINES), 5),
    Case("packed", bz2.compress(LINES), 5),
    Case("packed.csv", lzma.compress(LINES), 5),
    Case("a.csv.xz", lzma.compress(table(",")), 5),
    Case("packed.csv", zstandard.compress(table(",")), 5),
    Case("bom.jsonl", b"\xef\xbb\xbf" + LINES, 5),
]
REFUSED = [
    Case(
        "report.pdf",
        b"%PDF-1.7\n%\xe2\xe3",
        "a PDF file, which Benzer does not read: convert it to text first",
    ),
    Case("report.txt", b"%PDF-1.7\n%\xe2\xe3", "a PDF file"),
    Case("report.csv", b"%PDF-1.7\n%\xe2\xe3", "a PDF file"),
    Case("files.zip", zipped("a.txt"), "a zip archive"),
    Case("letter.docx", zipped("[Content_Types].xml", "word/document.xml"), "a Word document"),
    Case("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "an old Office document"),
    Case("a.tar", tarred(), "a tar archive"),
    Case("a.tar.gz", gzip.compress(tarred()), "a tar archive"),
    Case("a.arrow.gz", gzip.compress(ipc("file")), "a compressed Arrow IPC file"),
    Case("a.parquet.xz", lzma.compress(PARQUET), "a compressed Parquet file"),
    Case("a.sqlite", b"SQLite format 3\x00", "an SQLite database"),
    Case("wide.jsonl", LINES.decode().encode("utf-16"), "UTF-16 text"),
    Case("wide", LINES.decode().encode("utf-32"), "UTF-32 text"),
    Case("memory.dump", b"ab\x00cd\x01", "a binary file"),
    Case("memory.txt", b"ab\x00cd\x01", "a binary file"),
    Case(
        "one.json",
        json.dumps({"rows": ROWS}, indent=1).encode(),
        "one JSON document that spans several lines",
    ),
]


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_a_file_is_read_as_what_it_holds(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.content)
    assert find_duplicates(path, threshold=1.0).counts["documents"] == case.documents
    summary = CliRunner().invoke(main, ["dedupe", str(path), "--output", str(tmp_path / "out"), "--json"])
    assert json.loads(summary.stdout)["counts"]["documents"] == case.documents
    (info,) = [CliRunner().invoke(main, ["index", str(tmp_path / "i.benzer"), str(path)])]
    assert info.exit_code == 0, info.output


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_a_file_that_cannot_be_read_is_refused_with_what_it_is(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.content)
    with pytest.raises((InputError, MalformedRowError), match=f"{case.name} is {case.documents}"):
        find_duplicates(path)
    for words in (
        ["dedupe", str(path), "--output", str(tmp_path / "out")],
        ["index", str(tmp_path / "i"), str(path)],
    ):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 2
        assert f"is {case.documents}" in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["report.pdf", "files.zip", "memory.dump"])
@pytest.mark.parametrize("format", ["text", "jsonl", "csv"])
def test_a_named_format_does_not_make_a_text_of_it(name: str, format: str, tmp_path: Path) -> None:
    (case,) = [case for case in REFUSED if case.name == name]
    path = tmp_path / name
    path.write_bytes(case.content)
    with pytest.raises((InputError, MalformedRowError), match="Benzer does not read"):
        find_duplicates(path, options=Options(format=format))


@pytest.mark.parametrize(
    "words", [["search", "{index}", "--file", "{file}"], ["compare", "{file}", "{file}"]]
)
def test_a_question_from_a_file_is_refused_alike(words: Sequence[str], tmp_path: Path) -> None:
    path, index = tmp_path / "report.txt", tmp_path / "i.benzer"
    path.write_bytes(LINES)
    CliRunner().invoke(main, ["index", str(index), str(path)])
    path.write_bytes(b"%PDF-1.7\n")
    result = CliRunner().invoke(main, [word.format(index=index, file=path) for word in words])
    assert result.exit_code == 2
    assert "is a PDF file, which Benzer does not read" in result.stderr


def test_in_a_folder_of_texts_such_a_file_is_set_aside(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"some words")
    for case in REFUSED:
        if case.name in ("report.txt", "memory.txt"):
            (folder / case.name).write_bytes(case.content)
    with pytest.raises(MalformedRowError, match=r"memory.txt is a binary file, which Benzer does not read"):
        find_duplicates(folder)
    found = find_duplicates(folder, options=Options(on_error="skip"))
    assert (found.counts["documents"], found.counts["malformed"]) == (1, 2)
    reasons = [row.reason for row in found.malformed]
    kinds = [reason.partition(",")[0].partition(" is ")[2] for reason in reasons]
    assert kinds == ["a binary file", "a PDF file"]


def test_text_in_a_named_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.txt"
    path.write_bytes("some words".encode("utf-16"))
    assert find_duplicates(path, options=Options(encoding="utf-16")).counts["documents"] == 1


def test_a_pipe_is_recognized_too(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    for content, status in ((table(","), 0), (PARQUET, 0), (b"%PDF-1.7", 2)):
        words = ["dedupe", "-", "--output", out, "--replace", "--json"]
        result = CliRunner().invoke(main, words, input=content)
        assert result.exit_code == status, result.output
        if not status:
            assert json.loads(result.stdout)["counts"]["documents"] == 5


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_images_are_no_texts(kind: str, tmp_path: Path) -> None:
    content = image(kind)
    assert recognize(content).format == "images"
    assert text_fault(content) == f"{recognize(content).noun}, not text: use the file extension of its format"
    path = tmp_path / "photo.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="image"):
        find_duplicates(open_sources([path]))


PROSE = [
    "one",
    "one, two\n",
    "a poem\n\nof lines\n",
    "[1] a note\n",
    "{see below}\n",
    "a;b\n",
    "x,y\n1,2,3\n",
    "- a\n- b\n",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_a_text(text: str) -> None:
    assert recognize(text.encode()).format == "text"


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
def test_an_ending_decides_where_the_content_does_not_contradict(text: str, format: str) -> None:
    assert recognize(text.encode(), format).format == format
