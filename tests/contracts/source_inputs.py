"""The same five documents in every form that a source can take, and how a test reads them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from benzer._native import Corpus, TextReader
from benzer.sources import ReadOptions, open_sources
from tests.contracts.recorded_corpus import RecordedCorpus

ROWS = [
    {"id": "a", "text": "plain words", "note": "first", "score": 1.5},
    {"id": "b", "text": 'with "quotes", commas\tand tabs', "note": "", "score": 2},
    {"id": "c", "text": "two\nlines", "note": "x,y", "score": -3},
    {"id": "d", "text": "", "note": "empty", "score": 0},
    {"id": "e", "text": "Türkçe 中文 \U0001f600", "note": "çok", "score": 1e-9},
]
MANY = [{"id": f"d{i}", "text": f"text number {i}", "note": "n" * (i % 5), "score": i} for i in range(5_000)]


def jsonl_bytes(rows: list[dict[str, Any]], end: bytes = b"\n") -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + end for row in rows)


def csv_bytes(
    rows: list[dict[str, Any]], delimiter: str = ",", end: str = "\n", quoting: int = csv.QUOTE_MINIMAL
) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return out.getvalue().encode()


def halves(compress: Callable[[bytes], bytes], data: bytes) -> bytes:
    """Two compressed streams, one after the other."""
    half = len(data) // 2
    return b"".join(compress(part) for part in (data[:half], data[half:]))


def zst(data: bytes) -> bytes:
    return halves(zstandard.ZstdCompressor().compress, data)


def as_file(name: str, content: Callable[[list[dict[str, Any]]], bytes]) -> Callable[..., Any]:
    def put(folder: Path, rows: list[dict[str, Any]]) -> Path:
        (folder / name).write_bytes(content(rows))
        return folder / name

    return put


def parquet_file(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "corpus.parquet", row_group_size=2_000)
    return folder / "corpus.parquet"


def ipc_file(name: str, compression: str | None = None) -> Callable[..., Any]:
    def put(folder: Path, rows: list[dict[str, Any]]) -> Path:
        table = pa.Table.from_pylist(rows)
        new = pa.ipc.new_stream if name.endswith("s") else pa.ipc.new_file
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with new(str(folder / name), table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=2_000)
        return folder / name

    return put


def excel_file(folder: Path, rows: list[dict[str, Any]]) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(folder / "corpus.xlsx")
    return folder / "corpus.xlsx"


def text_folder(folder: Path, rows: list[dict[str, Any]]) -> Path:
    for row in rows:
        (folder / "texts" / row["id"][0]).mkdir(parents=True, exist_ok=True)
        (folder / "texts" / row["id"][0] / f"{row['id']}.txt").write_text(row["text"], encoding="utf-8")
    return folder / "texts"


@dataclass(frozen=True)
class Pair:
    id: str
    fields: Any


INPUTS: dict[str, Callable[[Path, list[dict[str, Any]]], Any]] = {
    "jsonl": as_file("corpus.jsonl", jsonl_bytes),
    "ndjson": as_file("corpus.ndjson", jsonl_bytes),
    "jsonl, CRLF": as_file("corpus.jsonl", lambda rows: jsonl_bytes(rows, b"\r\n")),
    "jsonl, byte order mark": as_file("corpus.jsonl", lambda rows: b"\xef\xbb\xbf" + jsonl_bytes(rows)),
    "jsonl, no last newline": as_file("corpus.jsonl", lambda rows: jsonl_bytes(rows)[:-1]),
    "jsonl.gz": as_file("corpus.jsonl.gz", lambda rows: gzip.compress(jsonl_bytes(rows))),
    "jsonl.gz, two members": as_file(
        "corpus.jsonl.gz",
        lambda rows: gzip.compress(jsonl_bytes(rows[:2])) + gzip.compress(jsonl_bytes(rows[2:])),
    ),
    "jsonl.zst, two frames": as_file("corpus.jsonl.zst", lambda rows: zst(jsonl_bytes(rows))),
    "jsonl.bz2": as_file("corpus.jsonl.bz2", lambda rows: bz2.compress(jsonl_bytes(rows))),
    "jsonl.bz2, two streams": as_file(
        "corpus.jsonl.bz2", lambda rows: halves(bz2.compress, jsonl_bytes(rows))
    ),
    "jsonl.xz": as_file("corpus.jsonl.xz", lambda rows: lzma.compress(jsonl_bytes(rows))),
    "jsonl.xz, two streams": as_file(
        "corpus.jsonl.xz", lambda rows: halves(lzma.compress, jsonl_bytes(rows))
    ),
    "csv": as_file("corpus.csv", csv_bytes),
    "csv, CRLF": as_file("corpus.csv", lambda rows: csv_bytes(rows, end="\r\n")),
    "csv, byte order mark": as_file("corpus.csv", lambda rows: b"\xef\xbb\xbf" + csv_bytes(rows)),
    "csv, blank lines": as_file(
        "corpus.csv", lambda rows: csv_bytes(rows, end="\n\n").replace(b"\n\n", b"\n", 1)
    ),
    "csv, no last newline": as_file("corpus.csv", lambda rows: csv_bytes(rows)[:-1]),
    "csv.gz": as_file("corpus.csv.gz", lambda rows: gzip.compress(csv_bytes(rows))),
    "csv.zst": as_file("corpus.csv.zst", lambda rows: zst(csv_bytes(rows))),
    "csv.bz2": as_file("corpus.csv.bz2", lambda rows: bz2.compress(csv_bytes(rows))),
    "csv.xz": as_file("corpus.csv.xz", lambda rows: lzma.compress(csv_bytes(rows))),
    "tsv.bz2": as_file("corpus.tsv.bz2", lambda rows: bz2.compress(csv_bytes(rows, delimiter="\t"))),
    "tsv": as_file("corpus.tsv", lambda rows: csv_bytes(rows, delimiter="\t")),
    "parquet": parquet_file,
    "json": as_file("corpus.json", lambda rows: json.dumps(rows).encode()),
    "json, indented": as_file(
        "corpus.json", lambda rows: json.dumps(rows, indent=2, ensure_ascii=False).encode()
    ),
    "json.gz": as_file("corpus.json.gz", lambda rows: gzip.compress(json.dumps(rows).encode())),
    "feather": ipc_file("corpus.feather", "lz4"),
    "arrow": ipc_file("corpus.arrow"),
    "arrow stream": ipc_file("corpus.arrows", "zstd"),
    "excel": excel_file,
    "text": text_folder,
    "arrow table": lambda folder, rows: pa.Table.from_pylist(rows),
    "arrow batches": lambda folder, rows: pa.RecordBatchReader.from_batches(
        pa.Table.from_pylist(rows).schema, pa.Table.from_pylist(rows).to_batches(max_chunksize=2)
    ),
    "mappings": lambda folder, rows: list(rows),
    "mappings, read once": lambda folder, rows: iter(rows),
    "pairs": lambda folder, rows: [(row["id"], row["text"]) for row in rows],
    "documents": lambda folder, rows: [Pair(row["id"], {"text": row["text"]}) for row in rows],
    "ids to texts": lambda folder, rows: {row["id"]: row["text"] for row in rows},
}
TABLES = [name for name in INPUTS if name not in ("text", "pairs", "documents", "ids to texts")]
BY_LINE = [name for name in INPUTS if "json" in name and not re.match(r"json\b", name)]
BY_RECORD = [name for name in INPUTS if "csv" in name or name == "tsv"]
AS_BYTES = BY_LINE + BY_RECORD
EVERY_OTHER = np.arange(len(ROWS)) % 2 == 0


def native_corpus(fields: int = 1) -> Corpus:
    reader = TextReader(
        unit="word",
        shingle_size=3,
        tokenizer="unified",
        normalize="nfkc",
        case="fold",
        punctuation="drop",
        whitespace="fold",
        stop_words=[],
    )
    return Corpus([reader] * fields)


def read(input: Any, number: int = 0, **options: Any) -> tuple[Any, Corpus, Any]:
    """The one source of an input, the corpus it filled, and its report."""
    (source,) = open_sources(input)
    chosen = ReadOptions(**options)
    corpus = native_corpus(len(chosen.fields)) if chosen.all_text else RecordedCorpus()
    report = source.read_into(corpus, number, chosen)
    assert report.documents == len(corpus)
    assert report.rows_read == report.documents + len(report.malformed)
    return source, corpus, report


def content(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".bz2":
        return bz2.decompress(data)
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return data


def texts(corpus: Corpus) -> list[str | None]:
    return [corpus.text(i, 0) for i in range(len(corpus))]
