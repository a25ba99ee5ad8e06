"""What the core writes is what plain Python would write, byte for byte."""

from __future__ import annotations

import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import Options
from benzer._native import copy_documents
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.pipeline import find_duplicates
from benzer.pipeline.reading import read
from benzer.sources import Source
from benzer.tables import IdColumn, NameColumn, write_table
from benzer.tables.native import LARGE, native
from tests.texts import SPACED, SYMBOLS, UNSPACED

IDS: list[str | int] = [
    "plain", "", 'a "quoted" one', "back\\slash", "line\nbreak\r\ttab\b\f\x00\x1f\x7f", "çöé \u2028 \U0001f600",
    0, -7, 2**63 - 1, -(2**63), "seven", "{}%s", *UNSPACED, *SPACED, *SYMBOLS,
]  # fmt: skip


def plain_line(row: dict[str, Any]) -> bytes:
    """A line as `json` writes it, numbers that are none as null."""
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
    return json.dumps(finite, ensure_ascii=False).encode() + b"\n"


def floats(count: int) -> list[float]:
    """Numbers of any size: similarities, edges of the way in which they are written, and random bits."""
    rng = np.random.default_rng(1)
    edges = [
        0.0,
        -0.0,
        1.0,
        0.1 + 0.2,
        1e-4,
        9.999e-5,
        1e16,
        1e16 - 2,
        1e22,
        5e-324,
        1.7e308,
        math.nan,
        -math.inf,
    ]
    bits = [struct.unpack("<d", rng.bytes(8))[0] for _ in range(count)]
    shares = (rng.integers(0, 50, count) / rng.integers(50, 99, count)).tolist()
    return [*edges, *bits, *shares]


def test_a_table_is_written_as_json_would_write_it(tmp_path: Path) -> None:
    corpus = read([(id, "some text") for id in dict.fromkeys(IDS)], Schema()).corpus
    rng = np.random.default_rng(3)
    numbers = [number for number in floats(20_000) if not abs(number) >= LARGE]
    positions = rng.integers(0, len(corpus), len(numbers)).astype(np.uint32)
    names = ["one.jsonl", 'odd "name"', "ü"]
    columns: dict[str, Any] = {
        "id": IdColumn(corpus, positions),
        'an "odd" ü name': np.array(numbers),
        "row": rng.integers(0, 2**64, len(numbers), dtype=np.uint64),
        "file": NameColumn(names, (positions % 3).astype(np.uint32)),
        "stays": positions % 2 == 0,
    }
    assert all(native(column) is not None for column in columns.values())
    assert write_table(tmp_path / "table.jsonl", columns) == len(numbers)
    held = corpus.ids()
    cells = [[held[at] for at in positions.tolist()], numbers, columns["row"].tolist(),
             [names[at % 3] for at in positions.tolist()], columns["stays"].tolist()]  # fmt: skip
    key = [json.dumps(name) for name in columns]
    want = []
    for row in zip(*cells, strict=True):
        line = plain_line({str(place): value for place, value in enumerate(row)}).decode()
        for place, name in enumerate(key):
            line = line.replace(f'"{place}": ', f"{name}: ", 1)
        want.append(line.encode())
    assert (tmp_path / "table.jsonl").read_bytes() == b"".join(want)


def test_numbers_with_two_shortest_forms_are_written_as_python_writes_them(tmp_path: Path) -> None:
    numbers = np.array([1743829569681555.25, -133906845957463.125, *floats(20_000)])
    assert native(numbers) is None
    write_table(tmp_path / "table.jsonl", {"x": numbers})
    assert (tmp_path / "table.jsonl").read_bytes() == b"".join(
        plain_line({"x": one}) for one in numbers.tolist()
    )


def test_columns_that_the_core_does_not_take_are_written_all_the_same(tmp_path: Path) -> None:
    corpus = read([("a", "x"), (2, "y")], Schema()).corpus
    both = IdColumn(corpus, np.array([1, 0], dtype=np.uint32))
    odd = NameColumn(["half \ud800"], np.zeros(2, dtype=np.uint32))
    write_table(tmp_path / "table.jsonl", {"id": both, "file": odd, "any": [None, 1.5]})
    lines = [json.loads(line) for line in (tmp_path / "table.jsonl").read_bytes().splitlines()]
    assert lines == [
        {"id": 2, "file": "half \ud800", "any": None},
        {"id": "a", "file": "half \ud800", "any": 1.5},
    ]


LINES = [
    b'{"id": "a", "text": "one two three", "other": {"deep": [1, 2, "\\n"]}}\n',
    b"\n",
    b'  {"text": "with \\"escapes\\" \\u00e7", "id": 7}  \r\n',
    b'{"text": null}\n',
    b'{"text": null, "more": "no value that is read"}\n',
    b"not json\n",
    b" \t\r\n",
    b'{"more": 1, "id": "last key", "text": ""}\n',
    b'{"text": "a column behind it", "z": "' + b"long " * 500 + b'"}\n',
]


def plain_copy(content: bytes, keep: list[bool], malformed: set[int]) -> bytes:
    """The chosen lines that are documents, after the byte order mark."""
    mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
    kept = iter(keep)
    lines = content[len(mark) :].splitlines(keepends=True)
    documents = [line for number, line in enumerate(lines, 1) if line.strip() and number not in malformed]
    return mark + b"".join(line for line in documents if next(kept))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [b"\n", b""])
def test_rows_of_a_mapped_file_are_copied_line_for_line(tmp_path: Path, mark: bytes, last: bytes) -> None:
    rng = np.random.default_rng(5)
    for case in range(40):
        drawn = [LINES[at] for at in rng.integers(0, len(LINES), int(rng.integers(1, 60)))]
        drawn = [
            line.replace(b"last key", b"k%d" % at).replace(b'"a"', b'"a%d"' % at).replace(b"7", b"%d" % at)
            for at, line in enumerate(drawn)
        ]
        content = mark + b"".join(drawn) + b'{"text": "end"}' + last
        path = tmp_path / f"{case}.jsonl"
        path.write_bytes(content)
        found = read(path, Schema(), options=Options(on_error="skip"))
        report = found.reports[0]
        keep = rng.random(report.documents) < rng.choice([0.1, 0.5, 0.9])
        assert found.sources[0].write_rows(keep, tmp_path / f"{case}.copy") == keep.sum()
        want = plain_copy(content, keep.tolist(), {row.row for row in report.malformed})
        assert (tmp_path / f"{case}.copy").read_bytes() == want


def test_the_core_copies_each_of_several_files_and_no_other_source(tmp_path: Path) -> None:
    first = b"".join(LINES[:1] * 3)
    second = b'{"id": "x", "text": "four"}\n' + b"\n" + b'{"id": "y", "text": "five"}\n'
    (tmp_path / "1.jsonl").write_bytes(first.replace(b'"id": "a", ', b""))
    (tmp_path / "2.jsonl").write_bytes(second)
    found = read([tmp_path / "1.jsonl", tmp_path / "2.jsonl"], Schema())
    copy = tmp_path / "copy"
    copy.touch()
    assert copy_documents(found.corpus, 1, np.array([False, True]), copy)
    assert copy.read_bytes() == b'{"id": "y", "text": "five"}\n'
    assert copy_documents(found.corpus, 0, np.array([True, False, True]), copy)
    assert copy.read_bytes() == b"".join((tmp_path / "1.jsonl").read_bytes().splitlines(keepends=True)[:2])
    assert not copy_documents(found.corpus, 1, np.array([True]), copy)
    assert not copy_documents(found.corpus, 2, np.array([True]), copy)
    made = read([("a", "text")], Schema()).corpus
    assert not copy_documents(made, 0, np.array([True]), copy)


def source_of(path: Path) -> Source:
    path.write_bytes(b"".join(LINES[:1]))
    return read(path, Schema()).sources[0]


def test_a_file_that_changed_is_not_copied_from(tmp_path: Path) -> None:
    source = source_of(tmp_path / "a.jsonl")
    status = (tmp_path / "a.jsonl").stat()
    os.utime(tmp_path / "a.jsonl", ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    with pytest.raises(InputError, match="has changed since it was read"):
        source.write_rows(np.array([True]), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    source_of(tmp_path / "a.jsonl")
    corpus = read(tmp_path / "a.jsonl", Schema()).corpus
    with pytest.raises(OSError, match="No space left on device") as raised:
        copy_documents(corpus, 0, np.array([True]), "/dev/full")
    assert str(raised.value.filename) == "/dev/full"


def test_a_result_is_written_as_its_tables_say(tmp_path: Path) -> None:
    texts = [
        "one two three four five",
        "one two three four five six",
        "ONE two three four five",
        "else entirely so",
    ]
    rows = [{"id": f'id "{number}"', "text": text, "n": number} for number, text in enumerate(texts * 3)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = find_duplicates(str(path), threshold=0.5, recall=0.99)
    written = found.write(tmp_path / "out")
    for name in ("pairs", "removed", "clusters"):
        columns = {key: np.asarray(column).tolist() for key, column in found.table(name).items()}
        lines = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        assert written[name].read_bytes() == b"".join(map(plain_line, lines))
        assert lines
