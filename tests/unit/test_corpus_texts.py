"""Texts of a corpus come out as columns: with missing and empty ones, and without the escapes of their file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from benzer.fields import Schema
from benzer.pipeline.reading import read

LINES = '{"text": "caf\\u00e9 \\"x\\"\\n"}\n{"text": null}\n{"text": ""}\n{"text": "日本"}\n'


def test_texts_are_those_of_the_documents_asked_for_in_that_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(LINES, encoding="utf-8")
    corpus = read(path, Schema()).corpus
    asked = [3, 0, 1, 2, 3]
    ends, data = corpus.texts(np.array(asked, dtype=np.uint32), 0)
    found = [data[start:end].tobytes().decode() for start, end in pairwise(ends)]
    assert found == [corpus.text(at, 0) or "" for at in asked]
    assert found[:2] == ["日本", 'café "x"\n']
    assert corpus.missing(0).tolist() == [False, True, False, False]
