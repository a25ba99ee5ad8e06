"""The plan: what a sample says of all pairs, what each method will cost, and which is taken."""

from __future__ import annotations

import json
import lzma
import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import Bands, Image, Options, Schema, Text, ValueSet, find_duplicates, planner
from benzer.corpus import corpus_of
from benzer.errors import SettingsError
from benzer.planner import Rarity, SampleSpread, choose, look, plan
from tests.arrays import csr
from tests.corpora import collection, shuffled
from tests.images import as_file, scene
from tests.reference.similarity import jaccard
from tests.reference.text import Recipe
from tests.results import true_pairs

WORDS = Schema(text=Text())
SETS = Schema(tags=ValueSet())


def corpus_of_texts(texts: Mapping[str, str], schema: Schema = WORDS) -> Any:
    """A corpus of texts by id."""
    corpus = corpus_of(schema)
    corpus.add(0, list(range(1, len(texts) + 1)), list(texts), [list(texts.values())])
    return corpus


def corpus_of_sets(sets: list[set[int]]) -> Any:
    """A corpus of value sets."""
    corpus = corpus_of(SETS)
    corpus.add(0, list(range(1, len(sets) + 1)), list(range(len(sets))), [[sorted(one) for one in sets]])
    return corpus


def families(count: int, size: int = 30) -> list[set[int]]:
    """Different sets, every third of them one like the one before but for a few values."""
    choice = np.random.default_rng(count)
    sets: list[set[int]] = []
    for number in range(count):
        fresh = set(choice.integers(0, 4000, size).tolist())
        sets.append({*list(sets[-1])[: size - number % 7 - 1], 5000 + number} if number % 3 == 2 else fresh)
    return sets


def similarities(sets: list[set[int]]) -> list[float]:
    """That of each pair, by comparing all."""
    return [jaccard(a, b) for a, b in combinations(sets, 2)]


def test_a_small_collection_is_known_pair_by_pair() -> None:
    sets = families(200)
    spread = look(corpus_of_sets(sets), SETS)
    truth = similarities(sets)
    bands = Bands(10, 3)
    assert (spread.sample, spread.contents) == (200, 200)
    assert spread.pairs(0.7) == pytest.approx(sum(s >= 0.7 for s in truth))
    expected = sum(1 - (1 - s**3) ** 10 for s in truth)
    assert spread.candidates(bands) == pytest.approx(expected, rel=1e-9)


def test_of_a_large_sample_all_pairs_that_are_near_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random pairs say how far apart most are; those from the floor on are all looked for."""
    monkeypatch.setattr(planner, "RANDOM_PAIRS", 1000)
    sets = families(300)
    spread = look(corpus_of_sets(sets), SETS)
    truth = similarities(sets)
    for threshold in (0.3, 0.5, 0.8):
        assert spread.pairs(threshold) == pytest.approx(sum(s >= threshold for s in truth))
    assert spread.weight.sum() == pytest.approx(len(truth), rel=0.02)


def test_no_pair_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs lie above the floor: random ones and those that are looked for would both see them."""
    monkeypatch.setattr(planner, "RANDOM_PAIRS", 1000)
    sets = [set(range(14)) | set(range(100 + 11 * number, 111 + 11 * number)) for number in range(120)]
    spread = look(corpus_of_sets(sets), SETS)
    truth = similarities(sets)
    assert min(truth) == max(truth) == 14 / 36
    assert spread.weight.sum() == pytest.approx(len(truth))
    assert spread.candidates(Bands(5, 2)) == pytest.approx(len(truth) * (1 - (1 - (14 / 36) ** 2) ** 5))


def test_what_random_pairs_show_well_is_not_looked_for_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of one template: all 19,900 pairs are alike by 39/41, which a thousand of them tell."""
    monkeypatch.setattr(planner, "RANDOM_PAIRS", 1000)
    monkeypatch.setattr(planner, "MOST_JOINED", 15_000)
    sets = [{*range(39), 100 + number} for number in range(200)]
    spread = look(corpus_of_sets(sets), SETS)
    assert len(spread.weight) == 1000
    assert spread.pairs(39 / 41) == pytest.approx(19_900)


def test_a_part_of_a_collection_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 of 900 sets, seen with their pairs: each pair stands for (900 x 899) / (100 x 99) pairs."""
    monkeypatch.setattr(planner, "SAMPLE", 100)
    spread = look(corpus_of_sets(families(900)), SETS)
    assert (spread.sample, spread.contents) == (100, 900)
    assert spread.weight.tolist() == pytest.approx([900 * 899 / (100 * 99)] * (50 * 99))


def test_identical_contents_count_once() -> None:
    sets = families(60)
    assert look(corpus_of_sets([*sets, *sets, *sets[:7]]), SETS).contents == 60


def test_long_documents_make_a_smaller_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """They hold 24 to 31 values."""
    monkeypatch.setattr(planner, "SAMPLE_ELEMENTS", 3900)
    assert 3900 // 31 <= look(corpus_of_sets(families(400)), SETS).sample <= 3900 // 24


def test_several_fields_are_found_by_any_and_alike_in_their_mean() -> None:
    schema = Schema(one=ValueSet(), two=ValueSet(weight=3))
    first, second = families(90), families(90, size=12)
    corpus = corpus_of(schema)
    columns = [[sorted(one) for one in sets] for sets in (first, second)]
    corpus.add(0, list(range(1, 91)), list(range(90)), columns)
    spread = look(corpus, schema)
    truth = list(zip(similarities(first), similarities(second), strict=True))
    found = sum(1 - ((1 - a**2) ** 5) * ((1 - b**2) ** 5) for a, b in truth)
    assert spread.candidates(Bands(5, 2)) == pytest.approx(found, rel=1e-9)
    assert spread.pairs(0.5) == pytest.approx(sum((a + 3 * b) / 4 >= 0.5 for a, b in truth))


def met_by_hand(sets: list[set[int]], threshold: float) -> float:
    """Pairs that share a prefix shingle, once for each, over all pairs; rare shingles come first."""
    count = Counter(value for one in sets for value in one)
    files: dict[int, list[int]] = {}
    for number, one in enumerate(sets):
        rare_first = sorted(one, key=lambda value: (count[value], value))
        for value in rare_first[: len(one) - math.ceil(threshold * len(one) - 1e-9) + 1]:
            files.setdefault(value, []).append(number)
    pairs = sum(len(filed) * (len(filed) - 1) / 2 for filed in files.values())
    return pairs / (len(sets) * (len(sets) - 1) / 2)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_who_meets_in_the_exact_join_is_counted_as_the_join_files_them(threshold: float) -> None:
    sets = [set(range(number % 5, 9 + number % 11)) | {100 + number} for number in range(40)]
    rarity = Rarity.of(csr(sets), 10**6)
    assert rarity.met(threshold) == pytest.approx(met_by_hand(sets, threshold))
    assert Rarity.of(csr(sets[:1]), 10**6).met(threshold) == 0.0
    assert Rarity.of(csr([set(), set()]), 10**6).met(threshold) == 0.0


@pytest.mark.parametrize("schema", [WORDS, Schema(text=Text(unit="char", shingle_size=5))])
def test_the_plan_does_not_depend_on_order_threads_or_ids(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "SAMPLE", 150)
    monkeypatch.setattr(planner, "RANDOM_PAIRS", 2000)
    texts = collection(seed=4, count=400)
    plans = [
        choose(corpus_of_texts(order, schema), schema, 0.6, 0.95, threads=threads)
        for order in (texts, shuffled(texts, 1), shuffled(texts, 2))
        for threads in (1, 2, 5)
    ]
    assert all(one == plans[0] for one in plans)
    renamed = {f"other {number}": text for number, text in enumerate(texts.values())}
    assert choose(corpus_of_texts(renamed, schema), schema, 0.6, 0.95) == plans[0]


def test_auto_takes_the_cheaper_and_says_so() -> None:
    spread = look(corpus_of_texts(collection(seed=4, count=200)), WORDS)
    chosen = plan(spread, WORDS, 0.8, 0.95)
    assert set(chosen.seconds) == {"lsh", "exact"}
    cheap = chosen.seconds["exact"] <= planner.WORTH * chosen.seconds["lsh"]
    assert chosen.method == ("exact" if cheap else "lsh")
    assert ("exact join, which finds all pairs" in chosen.reason) == cheap
    assert "200" in chosen.reason or "different documents" in chosen.reason


def costs(monkeypatch: pytest.MonkeyPatch, lsh: float, exact: float) -> None:
    """Methods of these costs."""
    monkeypatch.setattr(SampleSpread, "bands_cost", lambda self, bands: lsh)
    monkeypatch.setattr(SampleSpread, "exact_cost", lambda self, thresholds: exact)


@pytest.mark.parametrize("lsh, exact, method", [(1.0, 1.9, "exact"), (1.0, 2.1, "lsh"), (1.0, 0.1, "exact")])
def test_the_exact_join_may_cost_twice_as_much(
    lsh: float, exact: float, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spread = look(corpus_of_sets(families(30)), SETS)
    costs(monkeypatch, lsh, exact)
    assert plan(spread, SETS, 0.8, 0.95).method == method


def test_a_method_that_is_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = look(corpus_of_sets(families(30)), SETS)
    costs(monkeypatch, 1.0, 100.0)
    exact = plan(spread, SETS, 0.8, 0.95, "exact")
    assert (exact.method, exact.predicted_candidates) == ("exact", exact.predicted_pairs)
    assert "as requested" in exact.reason
    costs(monkeypatch, 100.0, 1.0)
    assert plan(spread, SETS, 0.8, 0.95, "lsh").method == "lsh"


def test_a_recall_of_one_is_the_exact_join() -> None:
    chosen = choose(corpus_of_sets(families(30)), SETS, 0.8, 1.0)
    assert (chosen.method, chosen.bands, list(chosen.seconds)) == ("exact", None, ["exact"])
    with pytest.raises(SettingsError, match="exact"):
        choose(corpus_of_sets(families(3)), SETS, 0.8, 1.0, "lsh")


@pytest.mark.parametrize("recall", [0.5, 0.95, 0.999])
def test_the_chosen_bands_keep_the_promise_at_the_least_predicted_cost(recall: float) -> None:
    spread = look(corpus_of_sets(families(100)), SETS)
    chosen = plan(spread, SETS, 0.7, recall, "lsh").bands
    assert chosen is not None
    assert float(chosen.probability(0.7)) >= recall - 1e-12
    assert spread.bands_cost(chosen) == min(map(spread.bands_cost, Bands.all_for_recall(0.7, recall)))


def test_num_hashes_bounds_the_bands() -> None:
    chosen = choose(corpus_of_sets(families(30)), SETS, 0.7, 0.95, "lsh", num_hashes=12)
    assert chosen.bands is not None
    assert chosen.bands.num_values <= 12


@pytest.mark.parametrize("sets", [[], [{1, 2}], [set(), set()]])
def test_next_to_nothing_has_a_plan(sets: list[set[int]]) -> None:
    chosen = choose(corpus_of_sets(sets), SETS, 0.8, 0.95)
    assert (chosen.predicted_pairs, chosen.predicted_candidates) == (0, 0)
    assert json.loads(json.dumps(chosen.to_dict()))["reason"] == chosen.reason


REFUSED = [
    ({"threshold": 0.0}, "threshold"),
    ({"threshold": math.nan}, "threshold"),
    ({"recall": 0}, "recall"),
    ({"recall": 1.5}, "recall"),
    ({"method": "best"}, "best"),
]


@pytest.mark.parametrize("options, name", REFUSED)
def test_what_makes_no_plan_is_told(options: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        choose(corpus_of_sets([{1}]), SETS, **{"threshold": 0.8, "recall": 0.9, **options})


LABELLED = [
    ("bible_kjv_asv", Text()),
    ("civil_codes_ocr", Text()),
    ("debian_desc_en", Text()),
    ("debian_desc_en", Text(unit="char", shingle_size=5)),
    ("licenses", Text()),
    ("noisy_news", Text(unit="char", shingle_size=5)),
    ("reuters", Text()),
    ("sets_debtags", ValueSet()),
    ("sets_mushroom", ValueSet()),
]


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("name, field", LABELLED, ids=lambda one: getattr(one, "unit", one))
def test_predicted_candidates_are_within_a_factor_of_two(shared_data: Path, name: str, field: Any) -> None:
    found_in = shared_data / name / ("sets.jsonl.xz" if isinstance(field, ValueSet) else "docs.jsonl.xz")
    with lzma.open(found_in, "rt", encoding="utf-8", newline="\n") as lines:
        documents = [json.loads(line) for line in lines]
    content = "set" if isinstance(field, ValueSet) else "text"
    schema = Schema(**{content: field})
    bands = Bands(10, 6)
    run = find_duplicates(
        [{"id": one["id"], content: one[content]} for one in documents],
        schema=schema, options=Options(bands=bands, bucket_limit=10**6),
    )  # fmt: skip
    predicted = look(run.corpus, schema).candidates(bands)
    assert len(run.proposed) / 2 <= predicted <= 2 * len(run.proposed)


def test_the_promise_of_pairs_is_that_of_the_reference() -> None:
    texts = collection(seed=9, count=120)
    distinct = {text: name for name, text in texts.items()}
    kept = {name: text for text, name in distinct.items()}
    truth = true_pairs(kept, Recipe("word", 3), 0.7)
    assert look(corpus_of_texts(kept), WORDS).pairs(0.7) == pytest.approx(len(truth))


def test_a_field_that_compares_by_more_than_its_sets_is_planned_for_bands() -> None:
    schema = Schema(image=Image(method="local"))
    pictures = [as_file(scene(seed), "PNG") for seed in range(3)]
    run = find_duplicates(
        [{"id": number, "image": one} for number, one in enumerate(pictures)],
        schema=schema, threshold=0.5,
    )  # fmt: skip
    chosen = choose(run.corpus, schema, 0.5, 0.95)
    assert (chosen.method, list(chosen.seconds)) == ("lsh", ["lsh"])
    with pytest.raises(SettingsError, match="use 'lsh'"):
        choose(run.corpus, schema, 0.5, 0.95, "exact")
    assert run.measure_recall().recall is None


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8, 0.95, 0.999, 1.0])
def test_the_bands_of_a_plan_are_the_cheapest_of_all_shapes(threshold: float) -> None:
    spread = look(corpus_of_texts(collection(seed=7, count=120)), WORDS)
    shapes = Bands.all_for_recall(threshold, 0.95)
    best = min(shapes, key=lambda shape: (spread.bands_cost(shape), shape.rows))
    assert plan(spread, WORDS, threshold, 0.95).bands == best


def test_the_histogram_counts_each_pair_in_its_bin() -> None:
    texts = collection(seed=8, count=80)
    once = {text: name for name, text in texts.items() if text.strip()}
    corpus = corpus_of_texts({name: text for text, name in once.items()})
    spread = look(corpus, WORDS)
    counts = spread.histogram(bins=20)
    assert counts.sum() == pytest.approx(spread.weight.sum())
    for place in range(20):
        beyond = spread.pairs((place + 1) / 20) if place < 19 else 0.0
        assert counts[place] == pytest.approx(spread.pairs(place / 20) - beyond)
