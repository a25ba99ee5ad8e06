"""Where the published texts are wrong, and that Benzer is not: W1 to W14 of docs/reference/sources.md.

Estimates by k independent functions are binomial shares, so their bounds are six standard errors: a new seed
breaks one with a probability below 1e-8.
"""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import benzer
from benzer.errors import SettingsError
from benzer.experiments.hashing import STRING_HASHES, HashFamily, Linear, Modular, Multiplicative, Universal
from benzer.experiments.matrices import characteristic_matrix, signature_matrix
from tests.arrays import paired_sets
from tests.reference.farey import share_of_minima

FUNCTIONS = 20_000
SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data" / "documents.jsonl"
Elements = NDArray[np.uint64]


def bound(share: float, trials: int) -> float:
    """Six standard errors of a share that is counted in so many independent trials."""
    return 6 * math.sqrt(share * (1 - share) / trials)


def span(start: int, end: int) -> Elements:
    """The numbers from start to end - 1: documents, or rows, that are numbered one after another."""
    return np.arange(start, end, dtype=np.uint64)


def estimate(family: str, a: Elements, b: Elements) -> float:
    """The share of equal minima under many functions of a family."""
    minhash = benzer.MinHash("kmins", FUNCTIONS, family=family)
    return float(minhash.estimate(minhash.signature(a), minhash.signature(b)))


def random_elements(count: int, seed: int) -> Elements:
    return np.random.default_rng(seed).integers(0, 2**32, size=count, dtype=np.uint64)


def one_function(a: Elements, b: Elements, num_hashes: int, seeds: int, estimator: str) -> float:
    """The mean estimate from the least values of one function, over many seeds."""
    sketches = [benzer.MinHash("bottomk", num_hashes, seed) for seed in range(seeds)]
    found = [one.estimate(one.signature(a), one.signature(b), estimator=estimator) for one in sketches]
    return float(np.mean(found))


def test_w01_the_published_generator_makes_sets_of_another_similarity() -> None:
    size, wanted = 1000, 0.5
    shared = round(wanted * size)
    a, b = span(0, size), span(size - shared, 2 * size - shared)
    truth = wanted / (2 - wanted)
    assert benzer.jaccard(a.tolist(), b.tolist()) == truth
    assert abs(estimate("mixed", a, b) - truth) <= bound(truth, FUNCTIONS)
    shared = round(2 * wanted * size / (1 + wanted))
    corrected = benzer.jaccard(range(size), range(size - shared, 2 * size - shared))
    assert corrected == pytest.approx(wanted, abs=1 / (2 * size - shared))


def test_w01_one_function_reads_the_generator_s_number_only_because_its_estimator_is_biased() -> None:
    a, b = span(0, 1000), span(500, 1500)
    assert one_function(a, b, 1000, 1, "overlap") == 0.5
    truth, seeds = 1 / 3, 400
    near = bound(truth, 100 * seeds)
    assert abs(one_function(a, b, 100, seeds, "unbiased") - truth) <= near
    assert one_function(a, b, 100, seeds, "overlap") > truth + near


@pytest.mark.parametrize("common, left, right", [(500, 500, 500), (50, 50, 950), (20, 0, 20), (20, 0, 0)])
def test_w02_the_default_estimator_is_unbiased_for_sets_of_every_size(
    common: int, left: int, right: int
) -> None:
    a, b = span(0, common + left), np.append(span(0, common), span(5000, 5000 + right))
    truth, seeds = common / (common + left + right), 400
    assert abs(one_function(a, b, 100, seeds, "unbiased") - truth) <= bound(truth, 100 * seeds)


@pytest.mark.parametrize("common, left, right", [(500, 500, 500), (20, 0, 20), (20, 0, 0)])
def test_w02_the_published_estimator_is_not(common: int, left: int, right: int) -> None:
    a, b = span(0, common + left), np.append(span(0, common), span(5000, 5000 + right))
    truth, seeds = common / (common + left + right), 400
    found = one_function(a, b, 100, seeds, "overlap")
    assert abs(found - truth) > max(bound(truth, 100 * seeds), 0.05)


def test_w03_a_modulus_above_the_word_never_acts() -> None:
    prime, x = 999999999989, random_elements(1000, seed=3)
    a, b = Linear(seed=1337).parameters(10)
    values = Linear(seed=1337).values(x, 10)
    by_hand = [[(int(a[i]) * int(one) + int(b[i])) % 2**32 for one in x] for i in range(10)]
    assert values.tolist() == by_hand
    assert [[value % prime for value in row] for row in by_hand] == by_hand
    ours = Modular(p=prime, multipliers=a.tolist(), addends=b.tolist()).values(x, 10)
    assert ours.tolist() == [[(int(a[i]) * int(one) + int(b[i])) % prime for one in x] for i in range(10)]


def test_w03_even_multipliers_lose_bits_and_ours_are_odd() -> None:
    pairs = np.array([5, 5 + 2**31], dtype=np.uint64)
    multipliers, _ = Linear(seed=1337).parameters(10)
    even = [int(a) % 2 == 0 for a in multipliers]
    assert sum(even) == 4
    values = Linear(seed=1337).values(pairs, 10)
    assert (values[:, 0] == values[:, 1]).tolist() == even
    for family in (Universal(seed=1), Multiplicative(seed=1)):
        assert all(int(a) % 2 for a in family.parameters(1000)[0])


def test_w04_buckets_are_counted_without_a_sign_and_fill_evenly() -> None:
    values = Linear(seed=1337).values(span(1, 100_001), 1)[0]
    counts = np.bincount((values % np.uint64(13)).astype(np.int64), minlength=13)
    assert len(counts) == 13
    assert np.abs(counts - 100_000 / 13).max() <= bound(1 / 13, 100_000) * 100_000


def test_w05_a_lower_threshold_means_more_work_and_more_bands() -> None:
    thresholds = (0.5, 0.7, 0.9, 0.99)
    picked = [benzer.Bands.by_rule("pick_bands", threshold, 100) for threshold in thresholds]
    assert [one.bands for one in picked] == [23, 14, 6, 2]
    assert [one.rows for one in picked] == [4, 7, 16, 50]
    chance = [one.probability(0.3) for one in picked]
    assert chance == sorted(chance, reverse=True)
    texts = {row["id"]: row["text"] for row in map(json.loads, SAMPLE.read_text("utf-8").splitlines()[:700])}
    candidates = [
        benzer.find_duplicates(texts, threshold=0.8, options=benzer.Options(bands=one)).counts["candidates"]
        for one in picked
    ]
    assert candidates == sorted(candidates, reverse=True)
    assert candidates[0] > candidates[-1]


def test_w05_values_beyond_the_bands_are_told_and_bands_without_a_row_are_refused() -> None:
    assert benzer.Bands.by_rule("pick_bands", 0.5, 100).num_values == 92
    with pytest.raises(SettingsError, match="gives no rows"):
        benzer.Bands.by_rule("pick_bands", 0.001, 100)


@pytest.mark.parametrize("name", STRING_HASHES.names)
def test_w06_characters_beyond_a_byte_are_hashed_whole(name: str) -> None:
    hashed = STRING_HASHES.load(name)()
    assert ord("ł") % 256 == ord("B")
    assert hashed.hash("ł") != hashed.hash("B")
    assert hashed.hash("ł") == hashed.hash("ł".encode())


def test_w07_multipliers_are_odd_addends_use_the_whole_word_and_minima_have_no_sign() -> None:
    multipliers, addends = Universal(seed=5).parameters(1000)
    assert all(int(a) % 2 for a in multipliers)
    assert any(int(b) >= 2**31 for b in addends)
    published = Universal.as_published(bits=14, count=1000).parameters(1000)
    assert {int(a) % 2 for a in published.multipliers} == {0, 1}
    assert int(published.addends.max()) < 2**14
    minhash = benzer.MinHash("kmins", 1000, seed=5, family="universal")
    alone = minhash.signature([77])
    assert alone.tolist() == [one[0] for one in Universal(seed=5).values([77], 1000).tolist()]
    assert (alone >= 2**31).any()


def test_w07_the_jaccard_of_two_signatures_as_sets_is_no_estimate_of_that_of_the_sets() -> None:
    minhash = benzer.MinHash("kmins", 1000)
    a, b = minhash.signature(span(0, 3000)), minhash.signature(span(1000, 4000))
    equal = int((a == b).sum())
    assert abs(float(minhash.estimate(a, b)) - 0.5) <= bound(0.5, 1000)
    assert minhash.estimate(a, b) == equal / 1000
    as_sets = len(set(a.tolist()) & set(b.tolist())) / len(set(a.tolist()) | set(b.tolist()))
    assert float(minhash.estimate(a, b, estimator="set_jaccard")) == pytest.approx(as_sets)
    assert as_sets == pytest.approx(equal / (2000 - equal), abs=0.01)


def test_w07_twenty_rows_a_band_find_next_to_nothing_at_four_fifths() -> None:
    published = benzer.Bands.with_rows(20, num_hashes=100)
    assert published == benzer.Bands(5, 20)
    assert published.probability(0.8) == pytest.approx(0.06, abs=0.005)
    assert benzer.Bands.for_recall(0.8, 0.95, num_hashes=100).probability(0.8) >= 0.95


def test_w08_elements_in_no_set_change_nothing() -> None:
    sets = [{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]
    functions = [[1, 2, 3, 4, 0, 9, 9], [1, 4, 2, 0, 3, 9, 9]]
    few = characteristic_matrix(sets, universe=range(5))
    more = characteristic_matrix(sets, universe=range(7))
    assert not more.matrix[5:].any()
    least = signature_matrix(few, [np.array(one[:5]) for one in functions])
    assert (signature_matrix(more, [np.array(one) for one in functions]) == least).all()


@pytest.mark.parametrize("bands, rows", [(20, 5), (50, 2), (16, 8), (1000, 3)])
def test_w08_at_the_knee_two_thirds_are_found_and_by_recall_what_was_asked_for(bands: int, rows: int) -> None:
    knee = (1 / bands) ** (1 / rows)
    found = benzer.Bands(bands, rows).probability(knee)
    assert 1 - 1 / math.e < found <= 1 - (1 - 1 / bands) ** bands + 1e-9
    assert benzer.Bands.for_recall(knee, 0.99, num_hashes=5000).probability(knee) >= 0.99


def test_w09_numbers_in_a_row_need_a_mixer() -> None:
    """With a random a, a·x mod 2^32 is frac(x·alpha): who has the minimum is a matter of Farey sequences."""
    shared, each = 333, 167
    a = span(1, 1 + shared + each)
    b = np.append(span(1, 1 + shared), span(1 + shared + each, 1 + shared + 2 * each))
    truth = shared / (shared + 2 * each)
    expected = share_of_minima(shared, of=shared + 2 * each)
    assert expected < truth - 0.1
    assert abs(estimate("multiplicative", a, b) - expected) <= bound(expected, FUNCTIONS)
    assert abs(estimate("mixed", a, b) - truth) <= bound(truth, FUNCTIONS)


def test_w09_linear_functions_of_interleaved_numbers_are_biased_and_the_default_is_not() -> None:
    prime, shared, each = 10_007, 333, 167
    other = np.random.default_rng(9).permutation(span(shared, prime))[: 2 * each]
    a, b = np.append(span(0, shared), other[:each]), np.append(span(0, shared), other[each:])
    truth = shared / (shared + 2 * each)
    expected = mean_over_all_linear_functions(prime, shared, np.append(span(0, shared), other))
    read = [minima_agree(Modular(p=prime, seed=seed), a, b, 4000) for seed in range(10)]
    assert expected > truth + 0.02
    assert abs(np.mean(read) - expected) <= bound(expected, 40_000)
    assert abs(estimate("mixed", a, b) - truth) <= bound(truth, FUNCTIONS)


def minima_agree(family: HashFamily, a: Elements, b: Elements, count: int) -> float:
    """The share of functions that have the same minimum on both sets."""
    return float((family.values(a, count).min(axis=1) == family.values(b, count).min(axis=1)).mean())


def mean_over_all_linear_functions(prime: int, shared: int, union: Elements) -> float:
    """The share of all functions a·x + b mod p whose minimum over the union is one of its first elements.

    The addend turns the circle of residues: an element is least for as many addends as there are steps from
    its predecessor to it.
    """
    found = 0
    for multiplier in range(1, prime):
        residues = multiplier * union % np.uint64(prime)
        order = np.argsort(residues)
        gaps = np.diff(residues[order].astype(np.int64), prepend=int(residues[order[-1]]) - prime)
        found += int(gaps[order < shared].sum())
    return found / (prime * (prime - 1))


def test_w10_a_shingle_says_what_it_is_made_of() -> None:
    text = "its quite sunny today"
    words, characters = benzer.Text(shingle_size=2), benzer.Text(unit="char", shingle_size=2)
    assert words.shingles(text) == ["its quite", "quite sunny", "sunny today"]
    assert characters.shingles(text) == [text[i : i + 2] for i in range(len(text) - 1)]


def test_w10_values_that_fill_no_band_are_left_alone() -> None:
    bands = benzer.Bands.with_rows(30, num_hashes=100)
    signature = benzer.MinHash(num_hashes=100).signature(span(0, 50))
    other = np.append(signature[:90], signature[90:] ^ np.uint32(1))
    assert bands.keys(signature).shape == (3,)
    assert (bands.keys(signature) == bands.keys(other)).all()


def test_w11_word_zero_is_hashed_like_any_other() -> None:
    others = random_elements(398, seed=11)
    a, b = np.append(span(0, 1), others[:199]), np.append(span(0, 1), others[199:])
    truth = benzer.jaccard(a.tolist(), b.tolist())
    assert truth == 1 / 399
    assert abs(estimate("universal", a, b) - truth) <= bound(truth, FUNCTIONS)
    published = Universal.as_published(bits=14, count=100)
    assert not published.values([0], 100).any()
    assert minima_agree(published, a, b, 100) == 1.0


def test_w11_a_range_of_the_vocabulary_s_bits_ties_minima_and_32_bits_do_not() -> None:
    size, shared, bits = 550, 100, 10
    elements = random_elements(2 * size - shared, seed=12)
    a, b = elements[:size], elements[size - shared :]
    truth = shared / (2 * size - shared)
    assert truth == 0.1
    assert abs(estimate("universal", a, b) - truth) <= bound(truth, FUNCTIONS)
    narrow = minima_agree(Universal(bits=bits, seed=12), a, b, 4000)
    expected = chance_of_equal_minima(shared, size - shared, 2**bits)
    assert expected > 3 * truth
    assert abs(narrow - expected) <= bound(expected, 4000)


def chance_of_equal_minima(shared: int, own: int, values: int) -> float:
    """The probability that two sets have equal minima, whose elements have uniform hashes of so many values.

    Either the least hash is that of a shared element, or the sets' own elements have equal ones below it.
    """
    least = np.arange(values)

    def from_here(count: int) -> NDArray[np.float64]:
        """The probability that the hashes of all `count` elements are `least` or more."""
        return ((values - least) / values) ** count

    def above(count: int) -> NDArray[np.float64]:
        return ((values - least - 1) / values) ** count

    by_shared = (from_here(shared) - above(shared)) * from_here(own) ** 2
    by_own = above(shared) * (from_here(own) - above(own)) ** 2
    return float((by_shared + by_own).sum())


def test_w12_row_zero_is_the_minimum_of_plain_multiplication_and_of_no_other() -> None:
    a, b = span(0, 300), np.append(span(0, 1), span(300, 599))
    truth = 1 / 599
    assert not Multiplicative(seed=1).values([0], 100).any()
    assert estimate("multiplicative", a, b) == 1.0
    for family in ("mixed", "murmur3_32", "xxh3"):
        assert abs(estimate(family, a, b) - truth) <= bound(truth, FUNCTIONS)


def test_w13_single_hashes_as_keys_find_nearly_everything() -> None:
    pairs, similarity = 2000, 2 / 40
    left, right = paired_sets(pairs, common=2, each=19, seed=13)
    minhash, single = benzer.MinHash("kmins", 300), benzer.Bands(50, 1)
    signatures = [minhash.signatures(*side) for side in (left, right)]
    published = 1 - (1 - similarity) ** 50
    assert published == pytest.approx(0.92, abs=0.005)
    assert single.probability(similarity) == pytest.approx(published)
    assert abs(share_found(single, *signatures) - published) <= bound(published, pairs)
    chosen = benzer.Bands.for_recall(0.5, 0.95, num_hashes=300)
    expected = chosen.probability(similarity)
    assert expected < 0.1
    assert share_found(chosen, *signatures) <= expected + bound(expected, pairs)


def share_found(bands: benzer.Bands, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> float:
    """The share of rows that have a band key in common."""
    return float((bands.keys(left) == bands.keys(right)).any(axis=1).mean())


def test_w13_equal_values_of_different_functions_have_different_keys() -> None:
    keys = benzer.Bands(50, 1).keys(np.full(50, 7, dtype=np.uint32))
    assert len(set(keys.tolist())) == 50


def english_texts() -> list[str]:
    rows = map(json.loads, SAMPLE.read_text("utf-8").splitlines())
    return [row["text"] for row in rows if row["source"] == "django"]


def test_w14_djb2a_collides_on_short_shingles_and_hardly_moves_similarities() -> None:
    texts, lost = english_texts(), []
    for size in (3, 5, 9):
        plain = benzer.Text(unit="char", shingle_size=size, case="keep", normalize="none")
        shingles = sorted(set().union(*map(plain.shingles, texts)))
        lost.append(1 - len(set(STRING_HASHES.load("djb2a")().hashes(shingles).tolist())) / len(shingles))
        assert len(set(STRING_HASHES.load("benzer")().hashes(shingles).tolist())) == len(shingles)
        assert lost[-1] > 10 * len(shingles) / 2**33  # ten times what a random hash of 32 bits loses
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > 0.01


def test_w14_similarities_by_djb2a_are_off_by_half_a_hundredth_at_most() -> None:
    texts = english_texts()[::17]
    default = benzer.Text(unit="char", shingle_size=5)
    djb2a = benzer.Text(unit="char", shingle_size=5, shingle_hash="djb2a")
    for a, b in combinations(texts, 2):
        exact, hashed = (jaccard_of(field, a, b) for field in (default, djb2a))
        assert abs(exact - hashed) <= 0.005


def jaccard_of(field: benzer.Text, a: str, b: str) -> float:
    return benzer.jaccard(field.shingle_hashes(a).tolist(), field.shingle_hashes(b).tolist())
