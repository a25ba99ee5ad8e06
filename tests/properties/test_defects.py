"""Faults that other libraries had or have, by number; each is a test that this one passes."""

from __future__ import annotations

import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benzer
from benzer import _native
from benzer.index import Index, IndexSettings
from tests.corpora import collection, edited, prose
from tests.isas import each_isa
from tests.native import reader, signatures
from tests.reference import bands as reference_bands
from tests.reference import similarity
from tests.reference.minhash import ALGORITHMS
from tests.reference.text import Recipe, word_tokens
from tests.results import SURE, Id, all_of, assert_complete, pairs_of, removed_of

WORDS = Recipe()


def text(words: list[str]) -> str:
    """Words as a text."""
    return " ".join(words)


def bridged(order: str) -> dict[Id, str | bytes]:
    """A, its copy a, B, its copy b, and the bridge C, half A and half B; in the order of the letters."""
    choice = random.Random(1)
    left, right = prose(choice, 200), prose(choice, 200)
    texts: dict[Id, str | bytes] = {
        "A": text(left),
        "a": text(edited(choice, left, 2)),
        "B": text(right),
        "b": text(edited(choice, right, 2)),
        "C": text(left[:120] + right[:120]),
    }
    return {letter: texts[letter] for letter in order}


@pytest.mark.parametrize("order", ["AaBbC", "AaCBb", "bBCaA", "CAaBb"])
def test_d01_no_removal_through_a_bridge(order: str) -> None:
    texts = bridged(order)
    assert similarity.text_similarity(texts["A"], texts["B"], WORDS) < 0.01
    assert similarity.text_similarity(texts["A"], texts["C"], WORDS) > 0.3
    result = benzer.find_duplicates(texts, threshold=0.3, recall=SURE)
    assert_complete(result, texts, WORDS, 0.3)
    for identity, (kept, _) in removed_of(result).items():
        assert similarity.text_similarity(texts[identity], texts[kept], WORDS) >= 0.3
    if order[0] != "C":
        assert {"A", "B"} == {str(one).upper() for one in result.kept}


SHORT = [
    "",
    "one",
    "two words",
    "now three words",
    "one two three four",
    "近似",
    "ไทย",
    "你好世界",
    "🙂",
    "...",
    "한국어",
]


def test_d02_short_and_unspaced_documents_stay_in_the_output() -> None:
    texts: dict[Id, str | bytes] = {f"short{i}": short for i, short in enumerate(SHORT)}
    result = benzer.find_duplicates(texts)
    assert list(result.kept) == list(texts)
    assert dict(result.counts)["read"] == dict(result.counts)["kept"] == len(SHORT)
    sizes = [len(word_tokens(short, WORDS)) for short in SHORT]
    assert dict(result.counts)["short"] == sum(0 < size < 3 for size in sizes) == 4
    assert dict(result.counts)["empty"] == sizes.count(0) == 3


def test_d02_an_unspaced_text_is_compared_within() -> None:
    text_a = "近似重複檢測是一個重要的問題需要仔細處理才能得到正確的結果"
    texts: dict[Id, str | bytes] = {"a": text_a, "b": text_a.replace("仔細", "小心"), "c": text_a[::-1]}
    result = benzer.find_duplicates(texts, threshold=0.6, recall=SURE)
    assert set(removed_of(result)) == {"b"}


@pytest.mark.parametrize("short", [short for short in SHORT if short not in ("", "🙂", "...")])
def test_d03_identical_documents_are_found_however_short(short: str) -> None:
    result = benzer.find_duplicates({"a": short, "b": "something else altogether", "c": short})
    assert removed_of(result) == {"c": ("a", 1.0)}


def write_rows(path: Path, texts: list[str]) -> str:
    """Rows without ids."""
    path.write_text("".join(json.dumps({"text": one}) + "\n" for one in texts), encoding="utf-8")
    return str(path)


def test_d04_ids_that_are_made_do_not_depend_on_the_order_of_the_files(tmp_path: Path) -> None:
    texts = list(collection(4, 120).values())
    paths = [write_rows(tmp_path / f"{part}.jsonl", texts[part::3]) for part in range(3)]
    forward, backward = (
        benzer.find_duplicates(given, threshold=0.5, recall=SURE) for given in (paths, paths[::-1])
    )
    assert pairs_of(forward.expanded_pairs()) == pairs_of(backward.expanded_pairs())
    ids = [{*result.kept, *removed_of(result)} for result in (forward, backward)]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 120


def test_d04_what_is_removed_resembles_what_is_kept_by_id() -> None:
    texts: dict[Id, str | bytes] = {**collection(6, 200)}
    for order in (list(texts), list(texts)[::-1], sorted(texts, key=str)):
        result = benzer.find_duplicates({one: texts[one] for one in order}, threshold=0.7)
        for identity, (kept, strength) in removed_of(result).items():
            assert similarity.text_similarity(texts[identity], texts[kept], WORDS) == strength >= 0.7


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("num_hashes", [64, 128, 256, 512])
def test_d07_d08_a_pair_at_the_threshold_is_found_as_promised(threshold: float, num_hashes: int) -> None:
    chosen = benzer.Bands.for_recall(threshold, 0.95, num_hashes=num_hashes)
    assert reference_bands.found(threshold, chosen.bands, chosen.rows) >= 0.95


def test_d07_threshold_one_finds_equal_sets() -> None:
    result = benzer.find_duplicates({"a": "A b c d.", "b": "a B, c D", "c": "a b c d e"}, threshold=1.0)
    assert removed_of(result) == {"b": ("a", 1.0)}


@pytest.mark.parametrize("place", [0, 1, 500, 2999])
def test_d09_one_insertion_into_a_long_document_is_found(place: int) -> None:
    words = prose(random.Random(3), 3000)
    changed = [*words[:place], "inserted", *words[place:]]
    result = benzer.find_duplicates({"a": text(words), "b": text(changed)}, threshold=0.95)
    assert set(removed_of(result)) == {"b"}


def test_d10_a_sketch_does_not_depend_on_the_order_of_tokens_or_lanes() -> None:
    choice = random.Random(7)
    members = [choice.getrandbits(64) for _ in range(300)]
    for algorithm in ALGORITHMS:
        expected = signatures(algorithm, [members], 64, 0).tolist()
        for isa in each_isa():
            for _ in range(20):
                choice.shuffle(members)
                row = np.array(members, dtype=np.uint64), np.array([0, len(members)], dtype=np.int64)
                assert (
                    _native.signatures(algorithm, "mixed", row[1], row[0], 64, 0, 1).tolist() == expected
                ), isa


def test_d10_one_reader_serves_many_threads() -> None:
    texts = [text(prose(random.Random(seed), 60)) for seed in range(300)]
    shared = reader(WORDS)

    def sketch(batch: list[str]) -> list[list[int]]:
        values: list[list[int]] = _native.text_signatures(shared, batch, "fast", "mixed", 64, 0, 1).tolist()
        return values

    expected = sketch(texts)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(sketch, [texts] * 12)) == [expected] * 12


def test_d10_a_trailing_zero_byte_is_a_difference() -> None:
    assert _native.value_set_hash("a") != _native.value_set_hash("a\0")
    chars = Recipe("char", 5, normalize="none", case="keep", punctuation="keep", whitespace="keep")
    assert reader(chars).shingle_hashes("a").tolist() != reader(chars).shingle_hashes("a\0").tolist()


def test_d11_a_band_key_is_no_sum() -> None:
    rows = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [2, 2, 3, 3], [0, 0, 0, 10]], dtype=np.uint32)
    keys = _native.band_keys(rows, 1, 4, 0)[:, 0].tolist()
    assert len(set(keys)) == 4


def test_d11_unrelated_long_documents_are_no_candidates() -> None:
    texts: dict[Id, str | bytes] = {
        f"d{seed}": text([f"{seed} {word}" for word in prose(random.Random(seed), 300)])
        for seed in range(300)
    }
    result = benzer.find_duplicates(texts, threshold=0.8)
    assert len(result.kept) == 300
    assert dict(result.counts)["candidates"] <= 3


@pytest.mark.parametrize("empty", ["", " \n", "...!?", "\u200b\u00ad", "\x00"])
def test_d12_empty_documents_are_nobodys_duplicates(empty: str) -> None:
    texts: dict[Id, str | bytes] = {"a": empty, "b": "some words here", "c": empty, "d": empty}
    result = benzer.find_duplicates(texts, threshold=0.5)
    assert list(result.kept) == ["a", "b", "c", "d"]
    assert dict(result.counts)["empty"] == 3
    assert not pairs_of(result.expanded_pairs())


@pytest.mark.parametrize("home", ["memory:", "documents.benzer"])
def test_d14_a_search_returns_only_what_is_similar_enough(home: str, tmp_path: Path) -> None:
    choice = random.Random(14)
    words = prose(choice, 100)
    texts: dict[Id, str | bytes] = {f"e{i}": text(edited(choice, words, i)) for i in range(0, 40, 2)}
    truth = {one: similarity.text_similarity(text(words), other, WORDS) for one, other in texts.items()}
    location = home if home == "memory:" else str(tmp_path / home)
    with Index.open(location, IndexSettings(threshold=0.3, recall=SURE)) as index:
        index.add(texts.items())
        for threshold in (0.3, 0.5, 0.7, 0.9, 0.95):
            found = index.find_similar(text(words), threshold=threshold, limit=None)
            expected = {one: value for one, value in truth.items() if value >= threshold}
            assert {match.id: match.similarity for match in found} == expected
            values = [match.similarity for match in found]
            assert values == sorted(values, reverse=True)
            assert index.find_similar(text(words), threshold=threshold, limit=3) == found[:3]


@pytest.mark.parametrize("count", [10, 1000, 20_000])
def test_d15_identical_documents_cost_linear_work(count: int) -> None:
    texts = dict.fromkeys(range(count), "the very same words in each of them")
    result = benzer.find_duplicates(texts)
    assert dict(result.counts)["candidates"] <= count
    assert list(result.kept) == [0]
    assert len(list(result.pairs)) <= count
    assert removed_of(result) == dict.fromkeys(range(1, count), (0, 1.0))


def test_d15_nearly_identical_documents_cost_no_quadratic_work() -> None:
    """A template of 60 words and a number: all pairs would be 18 million."""
    count = 6000
    body = prose(random.Random(15), 60)
    texts = {i: text([*body, f"n{i}"]) for i in range(count)}
    result = benzer.find_duplicates(texts, threshold=0.8)
    assert dict(result.counts)["candidates"] <= 500 * count
    assert len(result.kept) <= 0.05 * count, "the recall that is promised is 0.95"
    assert {strength for _, strength in removed_of(result).values()} == {58 / 60}


@pytest.mark.parametrize(
    "made", [benzer.Text(), benzer.Bands(9, 4), benzer.Schema(), benzer.Document(1, "a b c")]
)
def test_d16_settings_survive_pickling(made: Any) -> None:
    again = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert again == made


def test_d06_the_answer_is_the_same_for_every_number_of_threads() -> None:
    texts = collection(66, 300)
    results = [
        all_of(benzer.find_duplicates(texts, threshold=0.6, recall=0.5, threads=n)) for n in (1, 2, 4, 8)
    ]
    assert all(result == results[0] for result in results)
