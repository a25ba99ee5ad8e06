"""Faults that other libraries had or have, by number; each is a test that this one passes."""

from __future__ import annotations

import json
import pickle
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benzer
from benzer import _native
from benzer.errors import SettingsMismatchError
from benzer.experiments.hashing import Modular
from benzer.index import Index, IndexSettings
from tests.corpora import collection, edited, prose
from tests.isas import each_isa
from tests.native import reader, signatures
from tests.redis_server import shared_server
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


def write_rows(path: Path, texts: list[str]) -> Path:
    """Rows without ids."""
    path.write_text("".join(json.dumps({"text": one}) + "\n" for one in texts), encoding="utf-8")
    return path


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
    assert reference_bands.probability_found(threshold, chosen.bands, chosen.rows) >= 0.95


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


def test_d05_a_chain_of_topics_is_not_one_cluster() -> None:
    """Windows of 100 words that move on by 10: neighbours are alike, texts three steps apart are not.

    Two windows k steps apart share 10k fewer of their 498 or so character 5-shingles, so a document stays for
    at most two on each side: of n documents at least n / 5 stay, though all of them are one component.
    """
    count, chars = 300, Recipe("char", 5)
    words = [f"{word}{place}" for place, word in enumerate(prose(random.Random(5), 10 * count + 100))]
    texts: dict[Id, str | bytes] = {at: text(words[10 * at : 10 * at + 100]) for at in range(count)}
    near, far = (similarity.text_similarity(texts[0], texts[step], chars) for step in (1, 3))
    assert near > 0.7 > far
    field = benzer.Text(unit="char", shingle_size=5)
    result = benzer.find_duplicates(texts, schema=benzer.Schema(text=field), threshold=0.7, recall=SURE)
    tied = {frozenset((pair.left_id, pair.right_id)) for pair in result.pairs}
    assert all(frozenset((at, at + 1)) in tied for at in range(count - 1)), "one chain from end to end"
    assert len(result.kept) >= count / 5
    for identity, (kept, _) in removed_of(result).items():
        assert abs(int(identity) - int(kept)) <= 2


@pytest.fixture(params=["memory", "file", "redis"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for an index in each home."""
    places = {"memory": "memory:", "file": str(tmp_path / "documents.benzer")}
    return places.get(request.param) or f"{shared_server().url}?prefix={tmp_path}"


def test_d13_a_document_added_twice_is_held_once_and_removed_whole(location: str) -> None:
    words = text(prose(random.Random(13), 80))
    with Index.open(location, IndexSettings(threshold=0.5)) as index:
        for _ in range(2):
            index.add([("a", words)])
        assert [match.id for match in index.find_similar(words, limit=None)] == ["a"]
        assert len(index) == 1
        index.remove(["a"])
        assert len(index) == 0
        assert not index.find_similar(words, threshold=0.01, limit=None)


@pytest.mark.parametrize("home", ["file", "redis"])
def test_d13_another_threshold_is_refused_and_not_silently_empty(home: str, tmp_path: Path) -> None:
    url = f"{shared_server().url}?prefix={tmp_path}"
    place = url if home == "redis" else str(tmp_path / "documents.benzer")
    with Index.open(place, IndexSettings(threshold=0.5)) as index:
        index.add([("a", "one two three four five")])
    with pytest.raises(SettingsMismatchError, match=r"threshold is 0\.5"):
        Index.open(place, IndexSettings(threshold=0.9))


def test_d13_on_redis_a_search_is_few_round_trips_whatever_the_bands(tmp_path: Path) -> None:
    """One finds the candidates and one fetches them; a round trip for each band would be many times more."""
    url = f"{shared_server().url}?prefix={tmp_path}"
    client = shared_server().client()
    words = [text(prose(random.Random(seed), 60)) for seed in range(50)]
    with Index.open(url, IndexSettings(threshold=0.5, recall=0.999)) as index:
        index.add(list(enumerate(words)))
        assert index.settings.bands.bands >= 30
        index.find_similar(words[0])
        before = int(client.info("stats")["total_commands_processed"])
        assert [match.id for match in index.find_similar(words[0])] == [0]
        asked = int(client.info("stats")["total_commands_processed"]) - before - 1
    assert asked <= 10


FIELD_SETTINGS = {  # bands and rows that were found in use, and their recall at a similarity of 0.8
    (9, 13): 0.40,
    (20, 13): 0.68,
    (8, 8): 0.77,
    (26, 11): 0.90,
    (14, 8): 0.92,
    (25, 10): 0.94,
    (16, 8): 0.95,
    (20, 5): 1.00,
}


@pytest.mark.parametrize("shape", FIELD_SETTINGS)
def test_d17_settings_found_in_the_field_are_told_their_true_recall(shape: tuple[int, int]) -> None:
    assert benzer.Bands(*shape).probability(0.8) == pytest.approx(FIELD_SETTINGS[shape], abs=0.005)


@pytest.mark.parametrize("bands, rows", [(1, 1), (9, 13), (16, 8), (50, 4)])
def test_d17_more_bands_find_more_and_more_rows_less(bands: int, rows: int) -> None:
    inner = np.linspace(0.05, 0.95, 19)
    found = np.asarray(benzer.Bands(bands, rows).probability(inner))
    assert (np.asarray(benzer.Bands(bands + 1, rows).probability(inner)) >= found).all()
    assert (np.asarray(benzer.Bands(bands, rows + 1).probability(inner)) <= found).all()
    assert benzer.Bands(bands + 1, rows).probability(0.5) > benzer.Bands(bands, rows).probability(0.5)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_d18_unlike_sets_are_estimated_at_zero(algorithm: str) -> None:
    """200 pairs of disjoint sets, 128 values of 32 bits each: 25,600 chances of 2^-32 that two values are equal."""
    choice = np.random.default_rng(18)
    minhash = benzer.MinHash(algorithm, 128)
    for _ in range(200):
        both = choice.integers(0, 2**63, size=2000, dtype=np.uint64)
        one, other = minhash.signature(both[:1000]), minhash.signature(both[1000:])
        assert minhash.estimate(one, other) == 0.0


@pytest.mark.parametrize("prime", [2**61 - 1, 2**64 - 59, 4_294_967_291])
def test_d19_the_universal_family_never_wraps_before_the_modulus(prime: int) -> None:
    multipliers = [prime - 1, prime // 2, 3, 2**31 + 11]
    addends = [prime - 1, 1, 0, prime // 3]
    elements = [0, 1, 2**32, 2**63, prime - 1, prime, 2**64 - 1]
    family = Modular(p=prime, multipliers=multipliers, addends=addends)
    expected = [
        [((a % prime) * x + b % prime) % prime for x in elements]
        for a, b in zip(multipliers, addends, strict=True)
    ]
    assert family.values(np.array(elements, dtype=np.uint64), len(multipliers)).tolist() == expected


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.7, 0.8, 0.9])
def test_d20_unlike_pairs_are_hardly_ever_candidates(threshold: float) -> None:
    """One row and two bands would make 4 % of all pairs at a similarity of 0.02 candidates."""
    assert benzer.Bands(2, 1).probability(0.02) == pytest.approx(0.04, abs=0.001)
    chosen = benzer.Bands.for_recall(threshold, 0.95)
    assert chosen.rows >= 3
    assert chosen.probability(0.02) < 0.001


def test_d21_similarities_stay_exact_when_the_originals_are_gone(tmp_path: Path) -> None:
    """The index keeps the contents: what it says of an opened file is no estimate."""
    choice = random.Random(21)
    words = prose(choice, 400)
    texts: dict[Id, str | bytes] = {f"v{edits}": text(edited(choice, words, edits)) for edits in range(1, 12)}
    truth = {one: similarity.text_similarity(text(words), other, WORDS) for one, other in texts.items()}
    place = str(tmp_path / "documents.benzer")
    with Index.open(place, IndexSettings(threshold=0.5, recall=SURE)) as index:
        index.add(texts.items())
    with Index.open(place, mode="read") as opened:
        found = {match.id: match.similarity for match in opened.find_similar(text(words), limit=None)}
    assert found == {one: value for one, value in truth.items() if value >= 0.5}


def test_every_known_defect_has_a_test_by_its_number() -> None:
    """D1 to D22, wherever the feature has its tests."""
    names = re.compile(r"def test_((?:d\d\d_)+)")
    files = Path(__file__).parents[1].rglob("test_*.py")
    found = [match for file in files for match in names.findall(file.read_text(encoding="utf-8"))]
    numbers = {int(number) for name in found for number in re.findall(r"\d\d", name)}
    assert numbers >= set(range(1, 23)), sorted(set(range(1, 23)) - numbers)
