"""`keep="longest"` counts characters, whatever their size in UTF-8 and whatever interface runs it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import find_duplicates
from benzer.corpus import corpus_of
from benzer.fields import Schema, Text, ValueSet
from benzer.service.jobs.running import JobRequest
from benzer.sources import open_sources
from benzer.sources.base import ReadOptions
from tests.doors.shell import run
from tests.jobs import search, spooled

COMMON = " ".join(f"word{number}" for number in range(40))
# The second has more characters, the first more bytes: 7 of 2 bytes against 10 of 1.
MORE_BYTES, MORE_CHARACTERS = f"{COMMON} ééééééé", f"{COMMON} aaaaaaaaaa"
ROWS = [{"id": "bytes", "text": MORE_BYTES}, {"id": "characters", "text": MORE_CHARACTERS}]
ALPHABET = 'a é\u0301ß漢字😀\u200d\n"\\\u0000'


def lengths_of(source: Any, schema: Schema) -> list[int]:
    corpus = corpus_of(schema)
    options = ReadOptions(
        {name: name for name in schema.fields}, {name: one.kind for name, one in schema.fields.items()}
    )
    for number, one in enumerate(open_sources(source)):
        one.read_into(corpus, number, options)
    return list(corpus.text_lengths(np.arange(len(corpus), dtype=np.uint32), 2))


@pytest.mark.parametrize("escaped", [True, False])
def test_lengths_are_those_of_python(escaped: bool, tmp_path: Path) -> None:
    """Up to some thousand characters, beyond the blocks in which the core counts."""
    chance = random.Random(7)
    texts = ["", *("".join(chance.choices(ALPHABET, k=chance.randrange(2000))) for _ in range(60))]
    path = tmp_path / "texts.jsonl"
    lines = [json.dumps({"text": text}, ensure_ascii=escaped) + "\n" for text in texts]
    path.write_text("".join(lines), encoding="utf-8")
    assert lengths_of(path, Schema()) == [len(text) for text in texts]
    assert lengths_of([{"text": text} for text in texts], Schema()) == [len(text) for text in texts]


def test_lengths_add_up_over_fields_and_count_elements_of_value_sets() -> None:
    rows = [{"text": "漢字", "tags": ["é", 7, "x"]}, {"text": None, "tags": None}]
    assert lengths_of(rows, Schema(text=Text(), tags=ValueSet())) == [5, 0]


def test_a_batch_run_keeps_the_document_with_more_characters() -> None:
    found = find_duplicates(ROWS, threshold=0.8, keep="longest")
    assert found.kept == ["characters"]


def test_the_command_keeps_the_document_with_more_characters(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    run("dedupe", str(path), "--keep", "longest", "--output", str(tmp_path / "clean"))
    (kept,) = (tmp_path / "clean" / "kept.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(kept)["id"] == "characters"


def test_a_job_of_the_service_keeps_the_document_with_more_characters() -> None:
    found = search(JobRequest(0.8, keep="longest"), spooled(*ROWS))
    assert found.kept == ["characters"]
