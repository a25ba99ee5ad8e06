"""No document is removed as identical to one that it is unlike, whoever wrote the two."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benzer
from benzer.bands import Bands
from benzer.corpus import corpus_of
from benzer.document import Document
from benzer.fields import Schema, Text, ValueSet
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher
from tests.forged import FORGED, FORGED_SET, VICTIM, VICTIM_SET, equal_sums
from tests.reference.hashing import shingle_hashes
from tests.reference.text import Recipe

MANY = equal_sums(10_000)
PAIR = [{"id": "attacker", "text": FORGED}, {"id": "victim", "text": VICTIM}]
SETS = [{"id": "attacker", "values": FORGED_SET}, {"id": "victim", "values": VICTIM_SET}]


def content_of(schema: Schema, rows: list[tuple[Any, ...]]) -> Any:
    corpus = corpus_of(schema)
    corpus.add(0, range(1, len(rows) + 1), range(len(rows)), list(zip(*rows, strict=True)))
    return Sketcher(schema, MinHash(), Bands(1, 1)).sketch(corpus).content


def test_the_forged_documents_have_the_content_hash_of_others() -> None:
    hashes = content_of(Schema(), [(VICTIM,), (FORGED,), *((text,) for text in MANY)])
    assert (hashes[0] == hashes[1]).all()
    assert (hashes[2:] == hashes[2]).all()
    assert len(set(MANY)) == 10_000
    hashes = content_of(Schema(values=ValueSet()), [(VICTIM_SET,), (FORGED_SET,)])
    assert (hashes[0] == hashes[1]).all()
    assert benzer.compare(FORGED, VICTIM).similarity == 0.0


WAYS: dict[str, dict[str, Any]] = {
    "bands": {},
    "exact join": {"method": "exact"},
    "recall 1": {"recall": 1},
    "auto": {"method": "auto"},
    "memory": {"memory": "64MB"},
    "one thread": {"threads": 1},
    "longest": {"keep": "longest"},
    "last": {"keep": "last"},
    "kmins": {"options": benzer.Options(minhash="kmins")},
}


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_forged_text_removes_nothing(how: dict[str, Any], order: int) -> None:
    found = benzer.find_duplicates(PAIR[::order], **how)
    assert (found.removed, len(found.kept)) == ({}, 2)


@pytest.mark.parametrize("how", [{}, {"recall": 1}], ids=["bands", "exact join"])
def test_a_forged_value_set_removes_nothing(how: dict[str, Any]) -> None:
    found = benzer.find_duplicates(SETS, schema=Schema(values=ValueSet()), **how)
    assert (found.removed, len(found.kept)) == ({}, 2)


@pytest.mark.parametrize("other", ["a title of both", None, ""])
def test_a_forged_field_among_others_removes_nothing(other: str | None) -> None:
    schema = Schema(title=Text(), body=Text())
    rows = [{"title": other, "body": FORGED}, {"title": other, "body": VICTIM}]
    assert benzer.find_duplicates(rows, schema=schema, threshold=0.9).removed == {}


@pytest.mark.parametrize("how", [{}, {"recall": 1}], ids=["bands", "exact join"])
def test_many_texts_of_one_content_hash_are_kept(how: dict[str, Any]) -> None:
    found = benzer.find_duplicates(dict(enumerate(MANY[:3000])), threshold=0.9, **how)
    assert (len(found.kept), len(found.removed)) == (3000, 0)


def test_each_copy_of_forged_texts_goes_for_its_own_original(tmp_path: Path) -> None:
    chance = random.Random(3)
    texts = equal_sums(200)
    rows = [(at, text) for at, text in enumerate(texts)]
    rows += [(at, chance.choice([str.upper, str])(texts[at])) for at in range(0, 200, 2)]
    chance.shuffle(rows)
    path = tmp_path / "forged.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for _, text in rows))
    first: dict[int, int] = {}
    for place, (at, _) in enumerate(rows):
        first.setdefault(at, place)
    want = {place: first[at] for place, (at, _) in enumerate(rows) if first[at] != place}
    for how in ({}, {"threads": 1}, {"memory": "64MB"}):
        found = benzer.find_duplicates(path, threshold=0.9, **how)
        places = {id: place for place, id in enumerate(found.corpus.ids())}
        got = {places[id]: places[removal.kept_id] for id, removal in found.removed.items()}
        assert got == want
        assert found.counts["identical"] == len(want)


def test_a_forged_text_does_not_answer_for_another_against_an_index() -> None:
    with benzer.Index.open("memory:") as index:
        index.add([Document("old", VICTIM)])
        for order in (1, -1):
            found = benzer.find_duplicates(PAIR[::order], against=index)
            assert found.kept == ["attacker"]
            assert {id: one.kept_id for id, one in found.removed.items()} == {"victim": "old"}


def test_an_index_does_not_confuse_forged_documents() -> None:
    with benzer.Index.open("memory:") as index:
        index.add([Document("attacker", FORGED), Document("victim", VICTIM)])
        assert [match.id for match in index.find_similar(VICTIM)] == ["victim"]
        assert [match.id for match in index.find_similar(FORGED)] == ["attacker"]


def test_a_forged_text_is_no_copy_among_contained_documents() -> None:
    found = benzer.find_contained(PAIR)
    assert (found.copies, found.counts["copies"], found.pairs()) == ({}, 0, [])


def test_a_forged_text_is_no_copy_in_an_estimate() -> None:
    assert benzer.price(PAIR).identical == 0


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("frequencies", [False, True])
def test_identical_is_what_the_reference_says_whatever_the_content_hash(size: int, frequencies: bool) -> None:
    chance = random.Random(size)
    words = ["to", "be", "or", "To", "be!", "é"]
    texts = [
        None if chance.random() < 0.05 else " ".join(chance.choices(words, k=chance.randrange(5)))
        for _ in range(600)
    ]
    schema = Schema(text=Text(shingle_size=size, frequencies=frequencies))
    recipe = Recipe(shingle_size=size, frequencies=frequencies)
    corpus = corpus_of(schema)
    corpus.add(0, range(1, 601), range(600), [texts])
    meaning = [text is None or frozenset(Counter(shingle_hashes(text, recipe)).items()) for text in texts]
    rank = np.random.default_rng(size).permutation(600).astype(np.uint32)
    first: dict[Any, int] = {}
    for at in np.argsort(rank).tolist():
        first.setdefault(meaning[at], at)
    content, empty = np.zeros((600, 2), dtype=np.uint64), np.zeros(600, dtype=bool)
    for threads in (1, 2):
        found = corpus.identical(content, empty, rank, threads)
        assert found.tolist() == [first[one] for one in meaning]
