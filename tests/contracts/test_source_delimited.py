"""CSV and TSV as people have them: what Python's `csv` reads, any delimiter and encoding, nothing dropped silently."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from benzer import Options, find_duplicates
from benzer.cli import main
from benzer.errors import InputError, SettingsError
from benzer.sources import ReadOptions, cutting, open_sources
from tests.contracts.recorded_corpus import RecordedCorpus
from tests.contracts.source_inputs import native_corpus, read, texts

CELLS = (
    "one",
    "",
    "a,b",
    'say "hi"',
    "two\nlines",
    "a\r\nb",
    "ümlaut",
    "tab\there",
    " spaced ",
    "x" * 50,
    "nul\0",
)
RAW = (
    "plain",
    '5" pipe',
    '"closed"late',
    '"open',
    "a\rb",
    "",
    '""',
    '""""',
    '"x""y"',
    "é",
    ",",
    '"a\nb"',
    "\0",
)
DELIMITERS = (",", ";", "\t", "|")


def oracle(data: bytes, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The records below the header that have its length, and the numbers of the others, as Python's `csv` says."""
    lines = io.StringIO(data.decode().removeprefix("\ufeff"), newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: list[list[str] | None] = []
    while True:
        try:
            row: list[str] | None = next(reader)
        except StopIteration:
            break
        except csv.Error:
            row = None
        if row is None or row:
            rows.append(row)
    width = len(rows[0] or ())
    fits = [row for row in rows[1:] if row is not None and len(row) == width]
    return fits, [at for at, row in enumerate(rows[1:], 1) if row is None or len(row) != width]


def regular(rng: random.Random) -> tuple[bytes, str]:
    """A table as a program writes it, with some records too short or too long."""
    delimiter, end = rng.choice(DELIMITERS), rng.choice(["\n", "\r\n"])
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        lineterminator=end,
        quoting=rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    )
    writer.writerow(["text", "other", "last"])
    for _ in range(rng.randrange(40)):
        writer.writerow([rng.choice(CELLS) for _ in range(rng.choice([3] * 9 + [1, 2, 4]))])
        if rng.random() < 0.1:
            stream.write(end)
    data = stream.getvalue().encode()
    return (data[: -len(end)] if rng.random() < 0.3 else data), delimiter


def odd(rng: random.Random) -> tuple[bytes, str]:
    """A table that no program writes."""
    delimiter = rng.choice(DELIMITERS)
    lines = [delimiter.join(["text", "other", "last"])]
    lines += [delimiter.join(rng.choice(RAW) for _ in range(3)) for _ in range(rng.randrange(12))]
    return rng.choice(["\n", "\r\n"]).join(lines).encode() + rng.choice([b"", b"\n"]), delimiter


@pytest.mark.parametrize("make", [regular, odd])
@pytest.mark.parametrize("block", [16, 100, cutting.BLOCK_BYTES])
@pytest.mark.parametrize("corpus", ["by columns", "by rows"])
def test_records_are_those_of_pythons_csv(
    make: Any, block: int, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "BLOCK_BYTES", block)
    if corpus == "by rows":
        monkeypatch.setattr("benzer.sources.delimited.takes_columns", lambda corpus, options: False)
    rng = random.Random(f"{make.__name__} {block}")
    for number in range(60):
        data, delimiter = make(rng)
        (tmp_path / f"{number}.csv").write_bytes(data)
        rows, bad = oracle(data, delimiter)
        options = {"fields": {"text": "text", "last": "last"}, "on_error": "skip", "delimiter": delimiter}
        source, corpus, report = read(tmp_path / f"{number}.csv", **options)
        assert [(corpus.text(at, 0), corpus.text(at, 1)) for at in range(len(corpus))] == [
            (row[0], row[2]) for row in rows
        ], data
        assert [row.row for row in report.malformed] == bad, data
        source.write_rows(np.ones(len(corpus), np.bool_), tmp_path / f"{number} copy.csv")
        again, copied = oracle((tmp_path / f"{number} copy.csv").read_bytes(), delimiter)
        assert (again, copied) == (rows, [])


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_excels_files_are_read_and_copied_byte_for_byte(
    delimiter: str, encoding: str, end: str, tmp_path: Path
) -> None:
    rows = [
        ["Nr", "Größe"],
        ["1", "groß und schön"],
        ["2", 'ein "Wort"'.replace('"', '""').join('""')],
        ["3", "ä"],
    ]
    text = "".join(delimiter.join(row) + end for row in rows)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path = tmp_path / "excel.csv"
    path.write_bytes((mark + text).encode(encoding))
    source, corpus, report = read(path, fields={"text": "Größe"})
    assert texts(corpus) == ["groß und schön", 'ein "Wort"', "ä"]
    named = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
    assert report.encodings == ({} if encoding.startswith("utf-8") else {named: 1})
    source.write_rows(np.ones(3, np.bool_), tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == path.read_bytes()
    source.write_rows(np.array([False, False, True]), tmp_path / "part.csv")
    assert texts(read(tmp_path / "part.csv", fields={"text": "Größe"}, encoding=named)[1]) == ["ä"]


def test_a_given_encoding_and_delimiter_win(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("id;text,b\n1;Привет, мир\n".encode("cp1251"))
    _, corpus, report = read(path, fields={"text": "text,b"}, encoding="windows-1251", delimiter=";")
    assert (texts(corpus), report.encodings) == (["Привет, мир"], {"cp1251": 1})
    with pytest.raises(SettingsError, match='there is no text encoding "latin-99"'):
        ReadOptions(encoding="latin-99")
    with pytest.raises(SettingsError, match='delimiter must be one ASCII character or "tab", got "::"'):
        ReadOptions(delimiter="::")


def test_the_first_byte_that_is_not_ascii_may_come_late(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    late = (
        "".join(f"{n},some words of row {n}\n" for n in range(20_000)) + "x,über Größe und schöne Straßen\n"
    )
    path.write_bytes(("id,text\n" + late).encode("cp1252"))
    _, corpus, report = read(path)
    assert (corpus.text(20_000, 0), report.encodings) == ("über Größe und schöne Straßen", {"cp1252": 1})


@pytest.mark.parametrize("block", [50, cutting.BLOCK_BYTES])
def test_a_damaged_byte_makes_its_own_row_malformed(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "BLOCK_BYTES", block)
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\n1,größer\n2,schöner\n".encode() + b"3,dam\xe4ged\n4,more\n")
    source, corpus, report = read(path, on_error="skip")
    assert (corpus.ids(), [str(row) for row in report.malformed]) == (
        ["1", "2", "4"],
        [f"{path} row 3: invalid utf-8 at byte 5 of the record (0xe4) (line 4)"],
    )
    source.write_rows(np.ones(3, np.bool_), tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == "id,text\n1,größer\n2,schöner\n4,more\n".encode()


def test_columns_pass_without_a_python_object_per_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + "".join(f'{n},"some ""words"" {n}"\n' for n in range(5_000)))

    class ByColumns(RecordedCorpus):
        rows_by_columns = 0

        def add_columns(self, number: int, first: int, count: int, ids: Any, fields: Any) -> bool:
            self.rows_by_columns += count
            return True

    corpus = ByColumns()
    open_sources(path)[0].read_into(corpus, 0, ReadOptions())
    assert corpus.rows_by_columns == 5_000
    native = native_corpus()
    open_sources(path)[0].read_into(native, 0, ReadOptions())
    assert (native.text(7, 0), native.ids()[7]) == ('some "words" 7', "7")


def test_a_cell_of_many_megabytes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "BLOCK_BYTES", 1 << 16)
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"' + 'word, ""or"" line\n' * 200_000 + '"\n2,short\n')
    _, corpus, _ = read(path)
    assert (corpus.text(0, 0), corpus.text(1, 0)) == ('word, "or" line\n' * 200_000, "short")


def test_an_empty_id_is_made(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + "a,one\n" * 1 + ",two\n" * 30)
    _, corpus, _ = read(path)
    assert corpus.ids()[:2] == ["a", f"{path}:2"]
    with pytest.raises(InputError, match="no id in column"):
        read(path, id_column="id")


def test_repeated_and_missing_names_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,text\n1,one,two\n")
    with pytest.raises(InputError, match='has 2 columns "text": rename all but one'):
        read(path)
    path.write_text("1,some words\n2,other words\n")
    with pytest.raises(InputError, match=r'has no column "text": use one of \(1, some words\)'):
        read(path)


def test_the_command_line_takes_both(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Nr;Text\n1;Größe, Maß und Zahl\n2;Größe Maß und Zahl\n".encode("cp1252"))
    words = ["dedupe", str(path), "--text", "Text", "--id", "Nr", "--output"]
    for number, more in enumerate(([], ["--delimiter", ";", "--encoding", "cp1252"])):
        result = CliRunner().invoke(main, [*words, str(tmp_path / f"out{number}"), "--json", *more])
        summary = json.loads(result.stdout)
        assert summary["counts"]["removed"] == 1
        assert summary["sources"] == [
            {"name": str(path), "rows": 2, "documents": 2, "encodings": {"cp1252": 1}}
        ]
        assert (tmp_path / f"out{number}/kept.csv").read_bytes() == path.read_bytes().rsplit(b"2;")[0]
    wrong = CliRunner().invoke(main, [*words, str(tmp_path / "out"), "--delimiter", "::"])
    assert (wrong.exit_code, "must be one ASCII character" in wrong.stderr) == (2, True)
    found = find_duplicates(path, text="Text", id="Nr", options=Options(encoding="utf-8", on_error="skip"))
    assert found.counts["malformed"] == 2
