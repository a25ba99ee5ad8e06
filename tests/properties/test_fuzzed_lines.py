"""Hostile JSON lines are read as the `json` module reads them, and their texts as the reference reads them.

`BENZER_FUZZ=100000` tries as many data sets instead of a few hundred; `BENZER_FUZZ_SEED` chooses others.
"""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import numpy as np

from benzer._native import Corpus
from benzer.sources import ReadOptions, open_sources
from tests import texts
from tests.arrays import split
from tests.isas import each_isa
from tests.json_lines import BOM, Document, Lines, expected
from tests.native import reader
from tests.reference import hashing, similarity
from tests.reference.text import Recipe

CASES = int(os.environ.get("BENZER_FUZZ", "400"))
FIRST = int(os.environ.get("BENZER_FUZZ_SEED", "0"))
RECIPES = [
    Recipe(),
    Recipe(shingle_size=1),
    Recipe("char", 5),
    *texts.word_recipes(2),
    *texts.char_recipes(3),
]


def read(data: bytes | None, path: Path | None = None) -> tuple[list[Document], list[int], int]:
    """The documents of a corpus that is given some lines, the malformed rows, and how many rows it counts."""
    corpus = Corpus([reader(Recipe())])
    corpus.name_source(0, "made")
    count, faults = corpus.add_jsonl(
        source=0, name="made", path=path, data=data, columns=["text"], id_column="id", id_required=False,
        extra_column="a", first_row=1, stop_on_error=False, threads=1,
    )  # fmt: skip
    rows = corpus.rows().tolist()
    documents = [
        Document(row, None if given == f"made:{row}" else given, corpus.text(place, 0))
        for place, (row, given) in enumerate(zip(rows, corpus.ids(), strict=True))
    ]
    return documents, [row for row, _ in faults], count


def test_hostile_lines_are_read_as_the_json_module_reads_them(tmp_path: Path) -> None:
    file, documents_seen, malformed_seen = tmp_path / "lines.jsonl", 0, 0
    for seed in range(FIRST, FIRST + CASES):
        data = Lines(seed).data()
        documents, malformed = expected(data)
        for isa in each_isa():
            assert read(data)[:2] == (documents, malformed), f"seed {seed} on {isa}: {data!r}"
        count = read(data)[2]
        assert count == len(documents) + len(malformed), f"seed {seed}: a row is lost of {data!r}"
        documents_seen, malformed_seen = documents_seen + len(documents), malformed_seen + len(malformed)
        if seed % 8 == 0:
            file.write_bytes(data)
            assert read(None, file)[:2] == (documents, malformed), f"seed {seed}, a mapped file: {data!r}"
    assert min(documents_seen, malformed_seen) > CASES, "the lines are not hostile, or nothing else"


def test_texts_of_hostile_lines_have_the_shingles_and_similarities_of_the_reference() -> None:
    for seed in range(FIRST, FIRST + CASES):
        lines, chance = Lines(seed), random.Random(seed)
        filled = [document.text for document in expected(lines.data())[0] if document.text]
        drawn = [text for text in [*filled[:3], lines.text(), lines.text()] if texts.known(text)]
        recipe = chance.choice(RECIPES)
        wanted = [set(hashing.shingle_hashes(text, recipe)) for text in drawn]
        sets = [set(hashes) for hashes in split(*reader(recipe).sets(drawn, threads=1))]
        assert sets == wanted, f"seed {seed}: {drawn!a} by {recipe}"
        corpus = Corpus([reader(recipe)])
        corpus.add(0, list(range(1, len(drawn) + 1)), [None] * len(drawn), [drawn])
        left, right = np.triu_indices(len(drawn), 1)
        values = corpus.similarity(left.astype(np.uint32), right.astype(np.uint32), [1.0], 1)
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        assert values.tolist() == [similarity.jaccard(wanted[a], wanted[b]) for a, b in pairs], f"seed {seed}"


def test_a_byte_order_mark_within_a_file_is_malformed_wherever_it_is_read_in_pieces(tmp_path: Path) -> None:
    """Blocks of a mapped file end before 256 KiB, those of a compressed file at 4 MiB or so."""
    line = b'{"id": "%d", "text": "' + b"x" * 100_000 + b'"}\n'
    data = b"".join(BOM + line % number for number in range(90))
    plain, compressed = tmp_path / "lines.jsonl", tmp_path / "lines.jsonl.gz"
    plain.write_bytes(data)
    compressed.write_bytes(gzip.compress(data, 1))
    for path in (plain, compressed):
        (source,) = open_sources([path])
        corpus = Corpus([reader(Recipe())])
        report = source.read_into(corpus, 0, ReadOptions({"text": "text"}, on_error="skip"))
        assert (report.rows_read, [bad.row for bad in report.malformed]) == (90, list(range(2, 91))), (
            path.name
        )
        assert corpus.ids() == ["0"]
