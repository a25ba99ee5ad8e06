"""A measured recall: what is drawn, what counts as found, and what is said of it."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import pytest

import benzer.recall.measuring
from benzer import Bands, Options, Schema, Text, ValueSet, find_duplicates
from benzer.errors import SettingsError
from benzer.recall import RecallEstimate, Reported, measure
from tests.corpora import collection
from tests.recall_runs import Known, RunReport, described, known, permuted, reported_run
from tests.reference.hashing import shingle_hashes
from tests.reference.text import Recipe
from tests.results import pairs_of, true_pairs


def estimated(collection: Known, documents: int = 50, **options: Any) -> RecallEstimate:
    """What is measured of a collection."""
    return measure(collection.corpus, collection.reported, Schema(), 0.8, documents=documents, **options)


def test_all_documents_asked_give_the_recall_itself() -> None:
    made = known(seed=3, families=30, alone=20, largest=6, found=0.8)
    estimate = estimated(made, documents=10**6)
    assert estimate.exhaustive
    assert estimate.drawn == estimate.contents == made.corpus.count
    assert estimate.recall == pytest.approx(made.document_recall, rel=1e-12)
    assert (estimate.low, estimate.high) == (estimate.recall, estimate.recall)
    assert estimate.pair_recall == pytest.approx(made.pair_recall, rel=1e-12)
    assert "exact: measured on all" in str(estimate)


def test_a_document_answers_for_the_share_of_its_own_neighbours() -> None:
    """0 is alike 1 and 2, of which 1 was found: the answers are 1/2, 1 and 0."""
    made = described(frozenset({(0, 1), (0, 2)}), {(0, 1)}, 5, seed=1)
    estimate = estimated(made)
    assert (estimate.recall, estimate.asked) == (pytest.approx(0.5), 3)
    assert estimate.pair_recall == pytest.approx(0.5)
    assert estimate.missed_pairs == 2  # one pair, as seen from both of its documents
    assert [(one.left_id, one.right_id) for one in estimate.missed] in ([(0, 2)], [(2, 0)])


def test_as_many_documents_with_a_neighbour_are_asked_as_wanted() -> None:
    made = known(seed=5, families=200, alone=500, largest=4, found=0.9)
    estimate = estimated(made, documents=70)
    assert estimate.asked == 70
    assert not estimate.exhaustive
    assert estimate.drawn < estimate.contents


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_the_estimate_does_not_depend_on_the_order_of_the_documents(seed: int) -> None:
    made = known(seed=7, families=60, alone=60, largest=7, found=0.9)
    order = list(range(made.corpus.count))
    random.Random(seed).shuffle(order)
    corpus, reported = permuted(made, order)
    again = measure(corpus, reported, Schema(), 0.8, documents=50, seed=seed)
    numbers = {**estimated(made, seed=seed).to_dict(), "missed": ()}
    assert {**again.to_dict(), "missed": ()} == numbers


def test_another_seed_asks_others() -> None:
    made = known(seed=7, families=200, alone=60, largest=7, found=0.6)
    assert len({estimated(made, seed=seed).found for seed in range(8)}) > 1


def test_few_documents_with_a_neighbour_are_looked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run found nothing, so that what it found tells too little of how many to draw."""
    made = known(seed=2, families=20, alone=3000, largest=3, found=0.0)
    calls = []
    looked = RunReport.exact_neighbours
    monkeypatch.setattr(
        RunReport, "exact_neighbours", lambda *args: calls.append(len(args[1])) or looked(*args)
    )
    monkeypatch.setattr(benzer.recall.measuring, "MOST_DRAWN", 2500)
    estimate = estimated(made, documents=40)
    assert sum(calls) == 2500
    assert estimate.recall == 0.0
    calls.clear()
    found = known(seed=2, families=200, alone=100, largest=3, found=0.9)
    estimated(found, documents=40)
    assert len(calls) == 1


def test_a_draw_ends_where_it_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benzer.recall.measuring, "MOST_DRAWN", 300)
    made = known(seed=2, families=20, alone=3000, largest=3, found=0.5)
    estimate = estimated(made, documents=1000)
    assert estimate.drawn == 300
    assert estimate.asked < 30
    assert estimate.high - estimate.low > 0.2


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_NEIGHBOURS"])
def test_long_documents_and_large_families_draw_fewer(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benzer.recall.measuring, limit, 1)
    assert estimated(known(seed=2, families=200, alone=100, largest=9, found=0.9)).drawn <= 100


def with_copies(collection: Known, copies: dict[int, int]) -> tuple[RunReport, Reported]:
    """The collection with identical copies of documents: `copies[new] = old`."""
    old = collection.reported
    count = collection.corpus.count + len(copies)
    stands_for = np.array([*range(collection.corpus.count), *copies.values()], dtype=np.uint32)
    of = {place: [place, *[new for new, one in copies.items() if one == place]] for place in range(count)}
    pairs = {(a, b) for left, right in collection.corpus.pairs for a in of[left] for b in of[right]}
    pairs |= {(a, b) for same in of.values() for a in same for b in same if a < b}
    fresh = reported_run(set(), count, 0)
    reported = Reported(
        content=old.content[stands_for],
        empty=fresh.empty,
        stands_for=stands_for,
        left=old.left,
        right=old.right,
        proposed=old.proposed,
        stays=fresh.stays,
    )
    return RunReport(frozenset((min(pair), max(pair)) for pair in pairs), count), reported


def test_a_family_in_large_buckets_draws_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 pages of one template have 399 neighbours each, few of them listed: 80,000 are those of 200 draws."""
    monkeypatch.setattr(benzer.recall.measuring, "MOST_NEIGHBOURS", 80_000)
    shared = " ".join(f"w{number}" for number in range(60))
    found = find_duplicates(
        {f"d{at}": f"{shared} own{at}" for at in range(400)}, options=Options(bucket_limit=10)
    )
    assert found.counts["oversized_buckets"]
    assert len(found.pairs) < 400 * 399 / 20
    measured = found.measure_recall()
    assert measured.drawn == 80_000 // 399


def test_a_pair_that_shares_a_large_bucket_counts_as_found() -> None:
    """Letters of one template: the share of true pairs that share a bucket is the same, listed or not."""
    draw = random.Random(4)
    template = [f"w{number}" for number in range(60)]
    letters = {}
    for number in range(300):
        words = list(template)
        for _ in range(1):
            words[draw.randrange(60)] = f"own{draw.randrange(10**6)}"
        letters[number] = " ".join(words)
    few, every = (find_duplicates(letters, options=Options(bucket_limit=limit)) for limit in (10, 1000))
    assert len(few.pairs) < len(every.pairs) / 5
    assert few.measure_recall().recall == every.measure_recall().recall
    assert few.counts["removed"] == every.counts["removed"]


def test_identical_copies_change_nothing() -> None:
    made = known(seed=11, families=40, alone=10, largest=5, found=0.7)
    count = made.corpus.count
    corpus, reported = with_copies(made, {count + place: place % 17 for place in range(60)})
    assert measure(corpus, reported, Schema(), 0.8, documents=30) == estimated(made, documents=30)


def test_nothing_alike_is_nothing_to_miss() -> None:
    alone = Known(RunReport(frozenset(), 40), reported_run(set(), 40, 1), 1.0, 1.0)
    estimate = estimated(alone)
    assert (estimate.recall, estimate.pair_recall, estimate.predicted) == (None, None, None)
    assert "no near-duplicates among" in str(estimate)
    nobody = Known(RunReport(frozenset(), 0), reported_run(set(), 0, 1), 1.0, 1.0)
    assert estimated(nobody).drawn == 0


def test_empty_documents_are_not_asked() -> None:
    made = known(seed=3, families=30, alone=20, largest=6, found=0.8)
    told_of = made.reported
    empty = told_of.empty.copy()
    empty[-20:] = True
    estimate = measure(made.corpus, Reported(**{**vars(told_of), "empty": empty}), Schema(), 0.8)
    assert estimate.contents == made.corpus.count - 20


def test_missed_pairs_are_shown_with_their_similarity_and_whether_both_stay() -> None:
    made = described(frozenset({(0, 1), (2, 3), (4, 5)}), {(0, 1)}, 6, seed=1)
    stays = np.array([True, False, True, True, True, False])
    reported = Reported(**{**vars(made.reported), "stays": stays})
    estimate = measure(made.corpus, reported, Schema(), 0.8)
    shown = {frozenset((one.left_id, one.right_id)): one for one in estimate.missed}
    assert {pair: one.both_stay for pair, one in shown.items()} == {
        frozenset({2, 3}): True,
        frozenset({4, 5}): False,
    }
    assert {one.similarity for one in estimate.missed} == {0.9}


def test_no_more_than_five_missed_pairs_are_shown() -> None:
    pairs = frozenset((place, place + 1) for place in range(0, 80, 2))
    estimate = estimated(described(pairs, set(), 80, seed=4))
    assert len(estimate.missed) == 5
    assert estimate.recall == 0.0


def test_what_the_curve_predicts_is_found_over_what_it_stands_for() -> None:
    """A pair of probability p of being found stands for 1/p pairs (Horvitz and Thompson 1952)."""
    similarities = [0.8, 0.8, 0.9, 1.0]
    made = known(seed=1, families=5, alone=0, largest=3, found=1.0)
    reported = Reported(**{**vars(made.reported), "proposed": np.array(similarities)})
    bands = Bands(2, 5)
    expected = len(similarities) / sum(1 / (1 - (1 - s**5) ** 2) for s in similarities)
    estimate = measure(made.corpus, reported, Schema(), 0.8, bands)
    assert estimate.predicted == pytest.approx(expected, rel=1e-9)


def test_nothing_is_predicted_where_pairs_of_a_bucket_were_left_out() -> None:
    """The S-curve assumes that all pairs of a bucket are compared."""
    made = known(seed=1, families=5, alone=0, largest=3, found=1.0)
    proposed = {**vars(made.reported), "proposed": np.array([0.8, 0.9])}
    bands = Bands(2, 5)
    whole, cut = (
        measure(made.corpus, Reported(**{**proposed, "cut_short": count}), Schema(), 0.8, bands)
        for count in (0, 1)
    )
    assert whole.predicted is not None
    assert cut.predicted is None
    assert (cut.recall, cut.pair_recall) == (whole.recall, whole.pair_recall)
    assert json.loads(json.dumps(cut.to_dict()))["predicted"] is None


def test_a_run_with_a_bucket_above_the_limit_predicts_nothing() -> None:
    same = " ".join(f"word{n}" for n in range(60))
    texts = {number: f"{same} {number}" for number in range(50)}
    flooded = find_duplicates(texts, threshold=0.8, options=Options(bucket_limit=10))
    assert (flooded.counts["oversized_buckets"] > 0) == (flooded.measure_recall().predicted is None)
    assert (
        find_duplicates(texts, threshold=0.8, options=Options(bucket_limit=1000)).measure_recall().predicted
        is not None
    )


def test_an_estimate_is_told_in_json() -> None:
    estimate = estimated(known(seed=3, families=30, alone=20, largest=6, found=0.8), documents=20)
    said = json.loads(json.dumps(estimate.to_dict()))
    assert said["recall"] == estimate.found / estimate.asked
    assert said["missed"][0].keys() == {"left_id", "right_id", "similarity", "both_stay"}


@pytest.mark.parametrize("confidence", [0, 1, -1, math.nan, True, "0.9"])
def test_a_confidence_that_is_none_is_told(confidence: Any) -> None:
    with pytest.raises(SettingsError, match=f"confidence must be in .*{confidence}"):
        estimated(known(1, 3, 3, 3, 0.5), confidence=confidence)


def test_a_seed_that_is_no_whole_number_is_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"seed must be a whole number from 0 to 18446744073709551615, got 1\.5"
    ):
        find_duplicates({"a": "one two three"}).measure_recall(seed=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("documents", [0, -3, 1.5, math.nan, math.inf, True, "all"])
def test_a_number_of_documents_that_is_none_is_told(documents: Any) -> None:
    with pytest.raises(SettingsError, match=f"documents must be .*{documents}"):
        estimated(known(1, 3, 3, 3, 0.5), documents=documents)


def truly_found(texts: dict[str, str], recipe: Recipe, run: Any) -> tuple[float, float]:
    """The recall of a run of distinct contents: as documents ask for it, and of pairs, by comparing all."""
    truth = true_pairs(texts, recipe, run.threshold)
    found = set(pairs_of(run.expanded_pairs()))
    neighbours: dict[str | int, list[bool]] = {}
    for pair in truth:
        for one in pair:
            neighbours.setdefault(one, []).append(pair in found)
    shares = [sum(flags) / len(flags) for flags in neighbours.values()]
    return sum(shares) / len(shares), sum(pair in found for pair in truth) / len(truth)


def distinct(texts: dict[str, str], recipe: Recipe) -> dict[str, str]:
    """The texts without those that have the shingles of another."""
    kept = {frozenset(shingle_hashes(text, recipe)): name for name, text in texts.items()}
    return {name: texts[name] for name in kept.values()}


RUNS = [
    ("word", 3, Bands(2, 8)),
    ("word", 2, Bands(1, 3)),
    ("char", 4, Bands(3, 12)),
    ("word", 3, None),
]


@pytest.mark.parametrize("unit, size, bands", RUNS)
def test_of_a_run_with_poor_bands_the_misses_are_found(unit: Any, size: int, bands: Bands | None) -> None:
    recipe = Recipe(unit, size, punctuation="drop" if unit == "word" else "keep")
    texts = distinct(collection(seed=21, count=350), recipe)
    schema = Schema(text=Text(unit=unit, shingle_size=size))
    run = find_duplicates(texts, threshold=0.5, schema=schema, options=Options(bands=bands))
    documents, pairs = truly_found(texts, recipe, run)
    estimate = run.measure_recall()
    assert estimate.exhaustive
    assert estimate.recall == pytest.approx(documents, rel=1e-12)
    assert estimate.pair_recall == pytest.approx(pairs, rel=1e-12)
    assert all(one.similarity >= 0.5 for one in estimate.missed)
    assert bool(estimate.missed) == (pairs < 1)
    part = run.measure_recall(documents=60, seed=3, threads=1)
    assert part.asked >= 60
    assert part == run.measure_recall(documents=60, seed=3, threads=3)


def test_of_several_fields_those_alike_in_their_mean_are_asked_for() -> None:
    schema = Schema(one=ValueSet(), two=ValueSet(weight=3))
    documents = [
        {"id": 0, "one": [1, 2, 3], "two": [1, 2, 3, 4]},
        {"id": 1, "one": [1, 2, 3], "two": [7, 8, 9]},  # alike 0 in one field alone: 1/4
        {"id": 2, "one": [4, 5], "two": [1, 2, 3, 4, 5]},  # 0 and 2: 3/4 x 4/5
        {"id": 3, "one": None, "two": [1, 2, 3, 4, 5, 6]},  # 0 and 3: 4/6, 2 and 3: 5/6
    ]
    run = find_duplicates(documents, threshold=0.6, schema=schema, options=Options(bands=Bands(1, 60)))
    assert not run.pairs
    estimate = run.measure_recall()
    assert (estimate.recall, estimate.asked, estimate.missed_pairs) == (0.0, 3, 6)
    shown = {frozenset((one.left_id, one.right_id)): one.similarity for one in estimate.missed}
    assert shown == {
        frozenset({0, 2}): pytest.approx(0.6),
        frozenset({0, 3}): pytest.approx(4 / 6),
        frozenset({2, 3}): pytest.approx(5 / 6),
    }


def test_an_exact_run_misses_nothing() -> None:
    run = find_duplicates(collection(seed=22, count=200), threshold=0.5, recall=1.0)
    estimate = run.measure_recall()
    assert (estimate.recall, estimate.pair_recall, estimate.missed) == (1.0, 1.0, ())
    assert estimate.predicted is None


def test_a_raised_threshold_is_measured_at_that_threshold() -> None:
    run = find_duplicates(collection(seed=23, count=300), threshold=0.4, options=Options(bands=Bands(2, 8)))
    low, high = run.measure_recall(), run.rethreshold(0.9).measure_recall()
    assert low.recall is not None
    assert high.recall is not None
    assert high.recall > low.recall
