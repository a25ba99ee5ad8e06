"""The published experiments come out as the mathematics says.

Seeds are fixed, and bounds are derived: for a random seed each fails at most once in 10^9 where it comes from
`deviation` or `share_deviation`, and about as rarely where it is a quantile of chi-square (`greatest_mean_square` says
how closely). Tests that hold for the fixed seed alone, or at another rate, say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import benzer
from benzer.errors import SettingsError
from benzer.experiments import (
    EXPERIMENTS,
    ExperimentResult,
    ResultTable,
    convergence,
    family_speed,
    run_experiment,
    similarities,
)
from benzer.experiments.all_queries import COUNT, NUM_HASHES, ask_all, candidates, found_table, name_of
from benzer.experiments.base import QUESTIONS
from benzer.experiments.convergence import NUM_HASHES as FUNCTIONS
from benzer.experiments.convergence import SHINGLES, SIMILARITY, WORDS
from benzer.experiments.exact_pairs import Truth, distinct_pairs
from benzer.experiments.hashing import INTEGER_FAMILIES
from benzer.experiments.made_texts import FIFTY_WORDS, collection, pair_of_similarity
from benzer.experiments.random_sets import FAST, MANY, MANY_SET_JACCARD, ONE_FUNCTION, ONE_OVERLAP, Sketch
from benzer.experiments.uniformity import VIEWS, collisions, inputs, mean_chi_square
from tests.bounds import Z, chi_square, deviation, share_deviation

SPEEDS = ("modular", "fast (Benzer's default)")
REPEATABLE = ["E1", "E4", "E6", "E8"]  # E2 and E3 draw their sets as E1 does

pytestmark = pytest.mark.slow


@cache
def result(name: str) -> ExperimentResult:
    """An experiment as it comes out at the small scale."""
    return run_experiment(name)


def rows(table: ResultTable) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def greatest_mean_square(jaccard: float, num_hashes: int, pairs: int, z: float = Z) -> float:
    """T2: the mean square error of M estimates, each the mean of k yes-or-no values, is at most this; with -z at least.

    A square has the variance (2 + 1 / (k J (1 - J))) times its mean squared, so the sum is compared with a chi-square
    of the same mean and variance. By saddle points of the exact law of `kmins` a random seed passes the upper bound at
    most 5 times in 10^9, for the rows of E1 to E3. `bottomk` draws without replacement and errs less.
    """
    variance = jaccard * (1 - jaccard) / num_hashes
    freedom = 2 * pairs / (2 + 1 / (num_hashes * jaccard * (1 - jaccard)))
    return variance * chi_square(freedom, z) / freedom


def test_every_experiment_has_a_question() -> None:
    assert tuple(QUESTIONS) == EXPERIMENTS.names == tuple(f"E{number}" for number in range(1, 9))


@pytest.mark.parametrize("name", EXPERIMENTS.names)
def test_a_result_says_everything(name: str) -> None:
    found = result(name)
    assert found.name == name
    assert found.question == QUESTIONS[name]
    assert all(
        [found.settings, found.published, found.finding, found.tables, found.figures, found.short_tables]
    )
    assert all(len(row) == len(table.columns) for table in found.tables.values() for row in table.rows)


@pytest.mark.parametrize("name", REPEATABLE)
def test_equal_seeds_give_equal_results(name: str) -> None:
    assert run_experiment(name).tables == result(name).tables


def test_another_seed_gives_another_result() -> None:
    assert run_experiment("E1", seed=1).tables != result("E1").tables


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "E9"}, 'there is no experiment "E9": choose one of E1, E2'),
        ({"name": "E4", "scale": "huge"}, 'scale must be "small" or "full", got \'huge\''),
        ({"name": "E4", "seed": -1}, "seed must be a whole number from 0 to 18446744073709551615, got -1"),
        ({"name": "E4", "texts": ["a", "b"]}, "experiment E4 has no option 'texts'"),
        ({"name": "E7", "texts": ["a"]}, "needs at least 2 documents, got 1"),
    ],
)
def test_impossible_experiments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        run_experiment(**options)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "name, sketch",
    [
        (name, sketch)
        for name in ("E1", "E2", "E3")
        for sketch in (MANY, ONE_FUNCTION, FAST)
        if (name, sketch) != ("E2", FAST)
    ],
)
def test_unbiased_estimates_err_as_theory_says(name: str, sketch: Sketch) -> None:
    """The bounds are those of `kmins`; that `fast`, whose values are not independent, keeps them is measured."""
    found = rows(result(name).tables["errors"].where(sketch=sketch.label))
    assert found
    for row in found:
        jaccard, number, pairs = row["jaccard"], row["num_hashes"], row["pairs"]
        assert row["rms_error"] ** 2 <= greatest_mean_square(jaccard, number, pairs), row
        assert abs(row["bias"]) <= share_deviation(jaccard, number * pairs), row


def error(table: ResultTable, column: str = "rms_error", **equal: str | int) -> float:
    (found,) = table.where(**equal).column(column)
    return float(found)


def test_e1_the_published_advantage_of_one_function_comes_from_its_generator() -> None:
    table = result("E1").tables["errors"]
    floor = 1 / 2 - 1 / 3
    wobble = share_deviation(1 / 3, 1000 * 100)
    many = {"sets": "published", "sketch": MANY.label, "num_hashes": 1000}
    assert error(table, "rms_error_from_s_r", **many) >= floor - wobble
    one = {"sets": "published", "sketch": ONE_OVERLAP.label, "num_hashes": 1000}
    assert error(table, "rms_error_from_s_r", **one) == 0
    assert error(table, **one) == pytest.approx(floor)


@pytest.mark.parametrize("sets, jaccard", [("published", 1 / 3), ("corrected", 1 / 2)])
def test_e1_the_set_jaccard_of_signatures_estimates_something_else(sets: str, jaccard: float) -> None:
    biased = jaccard - jaccard / (2 - jaccard)
    slope = 2  # that of x / (2 - x), where it is steepest
    wobble = slope * share_deviation(jaccard, 1000 * 100)
    found = error(result("E1").tables["errors"], sets=sets, sketch=MANY_SET_JACCARD.label, num_hashes=1000)
    assert found >= biased - wobble


@pytest.mark.parametrize("size, union", [(200, 267), (1_000, 1_333), (10_000, 13_333)])
def test_e2_one_function_is_exact_once_it_holds_all(size: int, union: int) -> None:
    ties = 1e-4  # of 13,333 random values of 32 bits, two are equal in one pair of 50
    table = result("E2").tables["errors"].where(size=size)
    exact = [row for row in rows(table.where(sketch=ONE_FUNCTION.label)) if row["num_hashes"] >= union]
    assert len(exact) == 2
    assert all(row["rms_error"] < ties for row in exact)
    assert error(table, "rms_error_from_s_r", sketch=ONE_OVERLAP.label, num_hashes=size) < ties


def test_e3_the_error_depends_on_the_similarity() -> None:
    for row in rows(result("E3").tables["errors"].where(sets="corrected", sketch=MANY.label, num_hashes=500)):
        assert row["rms_error"] ** 2 >= greatest_mean_square(row["jaccard"], 500, row["pairs"], -Z)


def test_e4_similarity_falls_with_the_size_of_shingles() -> None:
    assert len(set(FIFTY_WORDS.split())) == len(FIFTY_WORDS.split()) == 50
    means = result("E4").tables["similarities"].where(unit="char").column("mean")
    assert len(means) == 19
    assert list(means) == sorted(means, reverse=True)
    assert means[9 - 2] < 0.1
    assert max(means[13 - 2 :]) < 0.01


def test_e4_word_shingles_of_shuffled_words_have_little_in_common() -> None:
    """A pair of neighbours is one in another order with probability 1/50: on average 0.98 of 49 are, and c of them
    give the similarity c / (98 - c). The 190 pairs of orders are uncorrelated, c has a variance below 1, and six
    standard errors of a mean of counts with so few of each are passed about once in 10^7.
    """
    table = result("E4").tables["similarities"].where(unit="word", shingle_size=2)
    curved = 2 / 97**2  # by how much the mean of c / (98 - c) may exceed that of its tangent at 0.98
    (mean,) = table.column("mean")
    assert mean == pytest.approx(0.98 / 97.02, abs=curved + Z * 98 / 97**2 / sqrt(190))


def test_e5_times_all_shapes() -> None:
    table = result("E5").tables["times"]
    assert len(table.rows) == (11 + 5) * 5
    assert min(table.column("milliseconds")) > 0
    slowest, fastest = (
        error(table, "milliseconds", shingle_size=9, num_hashes=500, hash=name) for name in SPEEDS
    )
    assert fastest < slowest  # by a factor of more than 100


def exact_similarity_of_e6() -> float:
    return pair_of_similarity(SIMILARITY, SHINGLES, WORDS, seed=0)[2]


@pytest.mark.parametrize("family", ["modular", "multiplicative", "murmur3_32", "mixed"])
def test_e6_estimates_on_shingle_hashes_converge(family: str) -> None:
    """Shingle hashes are as good as random numbers, which any of these functions brings into a random order; those of
    20 seeds are drawn independently.
    """
    exact = exact_similarity_of_e6()
    found = rows(result("E6").tables["estimates"].where(elements="shingle hashes", family=family))
    assert [row["num_hashes"] for row in found] == list(FUNCTIONS)
    for row in found:
        assert abs(row["mean"] - exact) <= share_deviation(exact, 20 * row["num_hashes"]), row


@pytest.mark.parametrize(
    "name, finding",
    [
        ("E3", similarities.finding),
        ("E5", family_speed.finding),
        ("E6", lambda table: convergence.finding(table, 0.6)),
    ],
)
def test_a_finding_says_what_its_table_says(name: str, finding: Callable[[ResultTable], str]) -> None:
    """Every fraction in it changes if all fractions of the table do."""
    table = next(table for table in result(name).tables.values() if len(table.rows) > 20)
    scaled = [
        tuple(cell * 7 if isinstance(cell, float) and column not in ("s_r", "jaccard") else cell
              for column, cell in zip(table.columns, row, strict=True))
        for row in table.rows
    ]  # fmt: skip
    before, after = (
        re.findall(r"\d\.\d{2,}", finding(t)) for t in (table, ResultTable(table.columns, tuple(scaled)))
    )
    kept = {"E6": {"0.600"}}.get(name, set())
    assert len(before) == len(after) > 4
    assert {a for a, b in zip(before, after, strict=True) if a == b} <= kept


def test_e6_multiplicative_hashing_sends_row_0_to_0() -> None:
    table = result("E6").tables["estimates"].where(family="multiplicative")
    assert set(table.where(elements="row numbers").column("mean")) == {1.0}


def test_e6_multiplicative_hashing_of_numbers_in_a_row_estimates_something_else() -> None:
    """20,000 multipliers are drawn independently: were each minimum shared with the probability J, as it should be,
    so small a share would be seen once in 10^9.
    """
    exact = exact_similarity_of_e6()
    table = result("E6").tables["estimates"].where(family="multiplicative", elements="row numbers from 1")
    (mean,) = table.where(num_hashes=1000).column("mean")
    assert mean < exact - share_deviation(exact, 20 * 1000)


def test_e7_the_truth_is_that_of_every_pair_compared() -> None:
    texts = collection(80, seed=3)
    field = benzer.Text()
    sets = [set(field.shingles(text)) for text in texts]
    expected = {
        a * len(texts) + b: benzer.jaccard(sets[a], sets[b])
        for a, b in combinations(range(len(texts)), 2)
        if sets[a] & sets[b]
    }
    truth = Truth.of(*field.sets(texts))
    assert dict(zip(truth.pairs.tolist(), truth.similarity.tolist(), strict=True)) == expected
    assert len(expected) > 20


@cache
def made() -> tuple[Truth, NDArray[np.bool_], NDArray[np.int64], NDArray[np.uint64]]:
    """The truth of E7's collection, which of its pairs stand alone, and its sets."""
    sets = benzer.Text().sets(collection(COUNT["small"], 0))
    truth = Truth.of(*sets)
    return truth, standing_alone(truth, COUNT["small"]), *sets


def standing_alone(truth: Truth, count: int) -> NDArray[np.bool_]:
    """A choice of pairs such that no document of one shares a shingle with a document of another.

    The minima of different elements are independent, so whether these pairs are found is, too: of all pairs that is
    not so, since many share a document.
    """
    near: list[set[int]] = [{document} for document in range(count)]
    ends = [divmod(pair, count) for pair in truth.pairs.tolist()]
    for left, right in ends:
        near[left].add(right)
        near[right].add(left)
    taken: set[int] = set()
    chosen = np.zeros(len(ends), dtype=bool)
    for at in np.argsort(-truth.similarity, kind="stable").tolist():
        if truth.similarity[at] >= 0.25 and taken.isdisjoint(ends[at]):
            chosen[at] = True
            taken |= near[ends[at][0]] | near[ends[at][1]]
    return chosen


def found_of(bands: benzer.Bands, seeds: range) -> NDArray[np.int64]:
    """By how many of these seeds each pair of `made` is found."""
    truth, _, offsets, hashes = made()
    found = np.zeros(len(truth.pairs), dtype=np.int64)
    for seed in seeds:
        signatures = benzer.MinHash("kmins", NUM_HASHES, seed).signatures(offsets, hashes)
        found += np.isin(truth.pairs, candidates(signatures, bands), assume_unique=True)
    return found


@pytest.mark.parametrize("bands", [benzer.Bands(5, 20), benzer.Bands(10, 6)], ids=name_of)
def test_e7_bands_find_what_the_s_curve_says(bands: benzer.Bands) -> None:
    truth, alone, *_ = made()
    seeds = range(20)
    found, promised = found_of(bands, seeds), np.asarray(bands.probability(truth.similarity))
    for low in (0.25, 0.5, 0.65, 0.8, 0.9):
        part = alone & (truth.similarity >= low)
        assert part.sum() > 15
        surplus = found[part].sum() - len(seeds) * promised[part].sum()
        spread = deviation(len(seeds) * float((promised[part] * (1 - promised[part])).sum()))
        assert abs(surplus) <= spread


def test_e7_bands_of_20_rows_are_nearly_blind_and_bands_by_recall_are_not() -> None:
    """Pairs from 0.8 to 0.85 are found by the one with a probability of at most 0.18, by the other of 0.95 at least."""
    truth, alone, *_ = made()
    seeds = range(20)
    part = alone & (truth.similarity >= 0.8) & (truth.similarity < 0.85)
    asked = int(part.sum()) * len(seeds)
    assert asked > 200
    published, chosen = benzer.Bands(5, 20), benzer.Bands.for_recall(0.8, 0.95, NUM_HASHES)
    most = float(published.probability(0.85))
    assert most < 0.18
    assert found_of(published, seeds)[part].sum() / asked <= most + share_deviation(most, asked)
    assert found_of(chosen, seeds)[part].sum() / asked >= 0.95 - share_deviation(0.95, asked)


def test_e7_errors_add_up() -> None:
    for row in rows(result("E7").tables["errors"]):
        hits = row["candidates"] - row["false positives"]
        assert hits == row["true pairs"] - row["false negatives"]


def test_e7_each_pair_is_counted_once() -> None:
    """A similarity on the edge of two steps belongs to the upper one, and equal sets have a row of their own."""
    edges = [step / 20 for step in range(21)]
    similarity = np.array([*edges, *(a / b for b in range(1, 60) for a in range(1, b + 1)), 0.8 + 1e-6])
    truth = Truth(np.arange(len(similarity)), similarity)
    none = np.zeros((2, NUM_HASHES), dtype=np.uint32)
    table = found_table([none], truth, [benzer.Bands(5, 20)])
    counts = dict(zip(table.column("from"), table.column("pairs"), strict=True))
    assert list(counts) == edges[5:]
    assert sum(counts.values()) == int((similarity >= 0.25).sum())
    assert counts[1.0] == int((similarity == 1).sum()) == 60
    assert (
        counts[0.8]
        == sum(4 * b <= 5 * a and 20 * a < 17 * b for b in range(1, 60) for a in range(1, b + 1)) + 2
    )


def test_e7_its_tables_count_the_same_pairs() -> None:
    found, errors = (result("E7").tables[name] for name in ("summary", "errors"))
    for threshold in (0.5, 0.8, 0.9):
        counted = sum(row["pairs"] for row in rows(found) if row["from"] >= threshold)
        assert {counted} == set(errors.where(threshold=threshold).column("true pairs"))
    truth = made()[0]
    assert sum(found.column("pairs")) == int((truth.similarity >= 0.25).sum())


@pytest.mark.parametrize("count", [2, 3, 10, 40, 2_000])
def test_e7_times_each_pair_at_most_once(count: int) -> None:
    left, right = distinct_pairs(count, 500, seed=4)
    assert len(left) == len(right) == min(500, count * (count - 1) // 2)
    assert (left < right).all()
    assert int(right.max()) < count
    assert len(set(zip(left.tolist(), right.tolist(), strict=True))) == len(left)


def test_e7_asking_for_each_document_finds_each_pair_twice() -> None:
    texts, bands = collection(300, seed=5), benzer.Bands.with_rows(5, NUM_HASHES)
    signatures = benzer.MinHash("kmins", NUM_HASHES).of(benzer.Text(), texts)
    settings = benzer.IndexSettings(minhash="kmins", num_hashes=NUM_HASHES, bands=bands)
    documents = [benzer.Document(number, text) for number, text in enumerate(texts)]
    with benzer.Index.open("memory:", settings) as index:
        index.add(documents)
        assert ask_all(index, documents) == 2 * len(candidates(signatures, bands)) > 0


def test_e7_takes_documents_of_your_own() -> None:
    texts = [
        "one two three four five six",
        "one two three four five six seven",
        "something else altogether here",
    ]
    found = run_experiment("E7", texts=texts)
    assert found.settings.startswith("3 documents")
    assert found.tables["errors"].where(threshold=0.8).column("true pairs") == (1, 1)
    assert "Of 1 pair with similarity 0.8 or more the published bands find" in found.finding
    assert "estimated" not in found.finding
    assert "blind" not in found.finding
    assert "16 with each pair" not in found.finding


def test_e7_says_that_nothing_can_be_missed_where_nothing_is_alike() -> None:
    found = run_experiment("E7", texts=["one two three four", "something else altogether here"])
    assert found.finding.startswith("No pair has similarity 0.8 or more, so none can be missed.")
    assert "An exact comparison of 1 pair takes" in found.finding


def test_e7_says_what_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benzer.experiments.exact_pairs.MOST_COMPARED", 1_000)
    found = run_experiment("E7", texts=collection(60, seed=2))
    assert "An exact comparison of all 1,770 pairs takes" in found.finding
    assert "estimated from 1,000 pairs" in found.finding
    assert any("estimated from 1,000 pairs" in step for step in found.tables["times"].column("step"))


def test_e8_signed_remainders_fill_bucket_0_twice() -> None:
    table = result("E8").tables["source-buckets"]
    counts = dict(zip(table.column("bucket"), table.column("signed remainder"), strict=True))
    assert (counts.pop(0), min(counts.values()), max(counts.values())) == (7704, 3837, 3867)
    true_remainders = [count for count in table.column("remainder") if count is not None]
    assert len(true_remainders) == 13
    assert sum(true_remainders) == sum(table.column("signed remainder")) == 100_000


MIXING = ("mixed", "murmur3_32", "murmur3_128", "xxh3")
CHANCE = 12 * 10
"""The degrees of freedom of the chi-squares of ten functions and 13 buckets together."""


@pytest.mark.parametrize(
    "family, elements",
    [
        *((family, elements) for family in MIXING for elements in ("1, 2, 3, …", "256, 512, …", "random")),
        *((family, "random") for family in INTEGER_FAMILIES.names if family not in MIXING),
    ],
)
@pytest.mark.parametrize("column", ["chi-square by range", "chi-square by remainder"])
def test_e8_buckets_are_as_even_as_chance(family: str, elements: str, column: str) -> None:
    """Of a family that mixes whatever the numbers, and of each family where the numbers are random themselves."""
    (found,) = result("E8").tables["evenness"].where(family=family, elements=elements).column(column)
    assert chi_square(CHANCE, -Z) <= 10 * found <= chi_square(CHANCE)


@pytest.mark.parametrize("view", ["range", "remainder"])
@pytest.mark.parametrize("elements", ["1, 2, 3, …", "256, 512, …"])
def test_e8_tabulation_is_as_even_as_chance_on_average(elements: str, view: str) -> None:
    """Three of the eight bytes of these numbers vary, and any three numbers have independent values.

    So chi-square has the mean 12. Its second moment sums over four numbers x, y, z, t the mean of (13 [x and y meet] -
    1) (13 [z and t meet] - 1) / n^2, which is 0 unless in each byte every value occurs twice. That is so of at most
    3^3 n^2 fours (Dahlgaard, Knudsen, Rotenberg and Thorup 2015): n^2 of them, where x = y and z = t, add 144, each
    other n^2 at most 12, the variance of 13 [x and y meet] - 1. So the variance is at most 26 times 12, against 2 times
    for random functions, and six standard errors of a mean of 400 are passed once in 36 by Chebyshev's inequality, by
    the central limit theorem once in 10^9.
    """
    families = [INTEGER_FAMILIES.load("tabulation")(seed) for seed in range(8)]
    numbers = inputs(0)[elements]
    squares = [mean_chi_square(VIEWS[view](family.values(numbers, 50), family.size)) for family in families]
    assert abs(np.mean(squares) - 12) <= Z * sqrt(26 * 12 / 400)


@pytest.mark.parametrize("family", ["linear", "modular", "multiplicative", "multiply_shift", "universal"])
def test_e8_affine_families_fill_buckets_in_turn(family: str) -> None:
    """By chance buckets are so even once in 10^9.

    That these families are so is a fact of this seed: with 3 to 6 of the seeds below 200, a multiplier is so close to
    a simple fraction of the range that some buckets stay almost empty.
    """
    table = result("E8").tables["evenness"].where(family=family, elements="1, 2, 3, …")
    assert 10 * table.column("chi-square by range")[0] < chi_square(CHANCE, -Z)


def test_e8_speaks_of_the_strings_that_were_tried() -> None:
    small = result("E8").finding
    assert "strings of 3 letters (0.045 by chance)" in small
    assert "4 letters" not in small


def test_e8_djb2a_collides_as_published() -> None:
    table = result("E8").tables["collisions"]
    assert table.where(hash="djb2a").column("collisions") == (14, 910)
    assert set(table.where(bits=64).column("collisions")) == {0}
    assert collisions((4,)).where(hash="djb2a").column("collisions") == (38_980,)
