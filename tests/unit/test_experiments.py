"""The published experiments come out as the mathematics says; bounds hold for a random seed but once in 10^8.

T2: of M unbiased estimates, MSE / (J (1 - J) / k) is at most 1 + 6 sqrt((2 + 1 / (k J (1 - J))) / M).
"""

from __future__ import annotations

import csv
import io
import runpy
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer.errors import MissingExtraError, OutputError, SettingsError
from benzer.experiments import (
    EXPERIMENTS,
    Figure,
    Panel,
    Result,
    Series,
    Table,
    run_experiment,
    write_results,
)
from benzer.experiments.all_queries import NUM_HASHES, ask_all, candidates
from benzer.experiments.base import QUESTIONS
from benzer.experiments.exact_pairs import Truth
from benzer.experiments.figures import draw
from benzer.experiments.made_texts import FIFTY_WORDS, collection
from benzer.experiments.random_sets import FAST, MANY, MANY_SET_JACCARD, ONE, ONE_OVERLAP, Sketch
from benzer.experiments.uniformity import collisions
from benzer.experiments.writing import csv_of, files_of

Z = 6
SPEEDS = ("modular", "fast (Benzer's default)")
REPEATABLE = ["E1", "E2", "E3", "E4", "E6", "E8"]


@cache
def result(name: str) -> Result:
    """An experiment as it comes out at the small scale."""
    return run_experiment(name)


def rows(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def greatest_mean_square(jaccard: float, num_hashes: int, pairs: int) -> float:
    """T2: the bound of the mean square error of that many estimates."""
    variance = jaccard * (1 - jaccard) / num_hashes
    return variance * (1 + Z * sqrt((2 + 1 / (num_hashes * jaccard * (1 - jaccard))) / pairs))


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


@pytest.mark.parametrize("name", ["E1", "E3", "E6"])
def test_another_seed_gives_another_result(name: str) -> None:
    assert run_experiment(name, seed=1).tables != result(name).tables


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "E9"}, 'there is no experiment "E9": choose one of E1, E2'),
        ({"name": "E4", "scale": "huge"}, 'scale must be "small" or "full", got \'huge\''),
        ({"name": "E4", "seed": -1}, "seed must be from 0 to 2^64 - 1, got -1"),
        ({"name": "E4", "texts": ["a", "b"]}, "experiment E4 has no option 'texts'"),
        ({"name": "E7", "texts": ["a"]}, "needs at least 2 documents, got 1"),
    ],
)
def test_impossible_experiments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        run_experiment(**options)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", ["E1", "E2", "E3"])
@pytest.mark.parametrize("sketch", [MANY, ONE, FAST], ids=lambda sketch: sketch.label)
def test_unbiased_estimates_err_as_theory_says(name: str, sketch: Sketch) -> None:
    for row in rows(result(name).tables["errors"].where(sketch=sketch.label)):
        jaccard, number, pairs = row["jaccard"], row["num_hashes"], row["pairs"]
        bound = greatest_mean_square(jaccard, number, pairs)
        assert row["rms_error"] ** 2 <= bound, row
        assert abs(row["bias"]) <= Z * sqrt(jaccard * (1 - jaccard) / number / pairs), row


def error(table: Table, column: str = "rms_error", **equal: str | int) -> float:
    (found,) = table.where(**equal).column(column)
    return float(found)


def test_e1_the_published_advantage_of_one_function_comes_from_its_generator() -> None:
    table = result("E1").tables["errors"]
    floor = 1 / 2 - 1 / 3
    wobble = Z * sqrt(1 / 3 * 2 / 3 / 1000 / 100)
    many = {"sets": "published", "sketch": MANY.label, "num_hashes": 1000}
    assert error(table, "rms_error_from_s_r", **many) >= floor - wobble
    one = {"sets": "published", "sketch": ONE_OVERLAP.label, "num_hashes": 1000}
    assert error(table, "rms_error_from_s_r", **one) == 0
    assert error(table, **one) == pytest.approx(floor)


@pytest.mark.parametrize("sets, jaccard", [("published", 1 / 3), ("corrected", 1 / 2)])
def test_e1_the_set_jaccard_of_signatures_estimates_something_else(sets: str, jaccard: float) -> None:
    biased = jaccard - jaccard / (2 - jaccard)
    wobble = Z * sqrt(jaccard * (1 - jaccard) / 1000 / 100)  # its slope 2 / (2 - J)^2 is below 1
    found = error(result("E1").tables["errors"], sets=sets, sketch=MANY_SET_JACCARD.label, num_hashes=1000)
    assert found >= biased - wobble


@pytest.mark.parametrize("size, union", [(200, 267), (1_000, 1_333), (10_000, 13_333)])
def test_e2_one_function_is_exact_once_it_holds_all(size: int, union: int) -> None:
    ties = 1e-4  # of 13,333 random values of 32 bits, two are equal in one pair of 50
    table = result("E2").tables["errors"].where(size=size)
    exact = [row for row in rows(table.where(sketch=ONE.label)) if row["num_hashes"] >= union]
    assert len(exact) == 2
    assert all(row["rms_error"] < ties for row in exact)
    assert error(table, "rms_error_from_s_r", sketch=ONE_OVERLAP.label, num_hashes=size) < ties


def test_e3_the_error_depends_on_the_similarity() -> None:
    for row in rows(result("E3").tables["errors"].where(sets="corrected", sketch=MANY.label, num_hashes=500)):
        jaccard, pairs = row["jaccard"], row["pairs"]
        variance = jaccard * (1 - jaccard) / 500
        least = variance * (1 - Z * sqrt((2 + 1 / (500 * jaccard * (1 - jaccard))) / pairs))
        assert row["rms_error"] ** 2 >= least


def test_e4_similarity_falls_with_the_size_of_shingles() -> None:
    assert len(set(FIFTY_WORDS.split())) == len(FIFTY_WORDS.split()) == 50
    means = result("E4").tables["similarities"].where(unit="char").column("mean")
    assert len(means) == 19
    assert list(means) == sorted(means, reverse=True)
    assert means[9 - 2] < 0.1
    assert max(means[13 - 2 :]) < 0.01


def test_e4_word_shingles_of_shuffled_words_have_little_in_common() -> None:
    """A pair of neighbours is one in another order with probability 1/50: 0.98 of 49 are, of 97 in all."""
    (mean,) = result("E4").tables["similarities"].where(unit="word", shingle_size=2).column("mean")
    assert mean == pytest.approx(0.98 / 97.02, abs=Z * sqrt(0.98) / 97.02 / sqrt(190))


def test_e5_times_all_shapes() -> None:
    table = result("E5").tables["times"]
    assert len(table.rows) == (11 + 5) * 5
    assert min(table.column("milliseconds")) > 0
    slowest, fastest = (
        error(table, "milliseconds", shingle_size=9, num_hashes=500, hash=name) for name in SPEEDS
    )
    assert fastest < slowest  # by a factor of more than 100


@pytest.mark.parametrize("family", ["modular", "murmur3_32", "mixed"])
def test_e6_estimates_on_shingle_hashes_converge(family: str) -> None:
    for row in rows(result("E6").tables["estimates"].where(elements="shingle hashes", family=family)):
        assert row["mean"] == pytest.approx(0.6, abs=Z * row["theory"] / sqrt(20) + 0.002)


def test_e6_multiplicative_hashing_sends_row_0_to_0() -> None:
    table = result("E6").tables["estimates"].where(family="multiplicative")
    assert set(table.where(elements="row numbers").column("mean")) == {1.0}
    (mean,) = table.where(elements="row numbers from 1", num_hashes=1000).column("mean")
    assert mean < 0.6 - Z * 4 * sqrt(0.6 * 0.4 / 1000 / 20)  # its errors are up to 4 times those of theory


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


def test_e7_bands_find_what_the_s_curve_says() -> None:
    table = result("E7").tables["found"]
    for bands in dict.fromkeys(table.column("bands")):
        part = rows(table.where(bands=bands))
        surplus = sum(r["pairs"] * (r["found"] - r["expected"]) for r in part)
        spread = sqrt(sum((r["pairs"] * r["standard error"]) ** 2 for r in part))
        assert abs(surplus) <= Z * spread
        assert sum(r["pairs"] for r in part) > 300


def test_e7_bands_of_20_rows_are_nearly_blind_and_bands_by_recall_are_not() -> None:
    table = result("E7").tables["errors"].where(threshold=0.8)
    published, chosen = rows(table)
    true_pairs = published["true pairs"]
    assert chosen["recall"] >= 0.95 - Z * sqrt(0.05 * 0.95 / true_pairs)
    assert published["recall"] < chosen["recall"] - 0.2
    for row in rows(result("E7").tables["errors"]):
        hits = row["candidates"] - row["false positives"]
        assert hits == row["true pairs"] - row["false negatives"]


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


def test_e8_signed_remainders_fill_bucket_0_twice() -> None:
    table = result("E8").tables["source-buckets"]
    counts = dict(zip(table.column("bucket"), table.column("signed remainder"), strict=True))
    assert (counts.pop(0), min(counts.values()), max(counts.values())) == (7704, 3837, 3867)
    true_remainders = [count for count in table.column("remainder") if count is not None]
    assert len(true_remainders) == 13
    assert sum(true_remainders) == sum(table.column("signed remainder")) == 100_000


@pytest.mark.parametrize("family", ["mixed", "murmur3_32", "murmur3_128", "xxh3", "tabulation"])
@pytest.mark.parametrize("column", ["chi-square by range", "chi-square by remainder"])
def test_e8_strong_families_are_as_even_as_chance(family: str, column: str) -> None:
    found = result("E8").tables["evenness"].where(family=family).column(column)
    assert len(found) == 3
    assert all(abs(square - 12) <= Z * sqrt(2 * 12 / 10) for square in found)


@pytest.mark.parametrize("family", ["linear", "modular", "multiplicative", "multiply_shift", "universal"])
def test_e8_affine_families_fill_buckets_in_turn(family: str) -> None:
    """A mean chi-square below 12 - 6 sqrt(24 / 10) is no chance."""
    table = result("E8").tables["evenness"].where(family=family, elements="1, 2, 3, …")
    assert table.column("chi-square by range")[0] < 12 - Z * sqrt(2 * 12 / 10)


def test_e8_djb2a_collides_as_published() -> None:
    table = result("E8").tables["collisions"]
    assert table.where(hash="djb2a").column("collisions") == (14, 910)
    assert set(table.where(bits=64).column("collisions")) == {0}
    assert collisions((4,)).where(hash="djb2a").column("collisions") == (38_980,)


def example(label: str = "one function") -> Figure:
    line = Series(label, (10, 100), (0.2, 0.1), low=(0.1, 0.05), high=(0.3, 0.2))
    points = Series("points", (10, 100), (0.2, 0.1), "points", low=(0.1, 0.05), high=(0.3, 0.2))
    bars, band = (
        Series("bars", (1, 2), (0.3, 0.1), "bars"),
        Series("band", (1, 2), (1, 1), "theory", (0, 0), (2, 2)),
    )
    log = Panel("log", "n", "error", (line, points), log_x=True, log_y=True, level=(0.1, "a level"))
    return Figure("An example", (log, Panel("names", "", "count", (bars, band), x_names=("a", "b", "c"))))


def test_figures_are_drawn_the_same_each_time() -> None:
    for format in ("svg", "png"):
        assert draw(example(), format) == draw(example(), format) != draw(example("two"), format)


def test_figures_leave_the_settings_of_matplotlib_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw(example(), "png")
    assert dict(mpl.rcParams) == before


def test_an_svg_says_nothing_of_when_and_where() -> None:
    tree = ET.fromstring(draw(example(), "svg"))
    words = {
        (element.text or "").strip() for element in tree.iter() if element.tag.endswith(("date", "title"))
    }
    assert words <= {""}


def test_only_figures_need_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = run_experiment("E4")
    with pytest.raises(
        MissingExtraError, match=r"figures need matplotlib.*pip install 'benzer\[experiments\]'"
    ):
        files_of(found)


def test_a_csv_holds_the_cells_of_its_table() -> None:
    table = result("E4").tables["similarities"]
    read = list(csv.DictReader(io.StringIO(csv_of(table).decode(), newline="")))
    assert [row["unit"] for row in read] == list(table.column("unit"))
    assert [float(row["mean"]) for row in read] == pytest.approx(table.column("mean"), rel=1e-5)


def test_results_are_written_all_or_none(tmp_path: Path) -> None:
    place = tmp_path / "results"

    def failing() -> Iterator[Result]:
        yield result("E4")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_results(failing(), place)
    assert list(tmp_path.iterdir()) == []
    names = write_results([result("E4")], place)
    assert sorted(names) == sorted(path.name for path in place.iterdir())
    assert names == [
        "e4-summary.csv", "e4-similarities.csv", "e4-similarities.svg", "e4-similarities.png",
    ]  # fmt: skip
    with pytest.raises(OutputError, match="exists already"):
        write_results([result("E4")], place)


@pytest.mark.parametrize("name", ["E4", "E8"])
def test_the_page_shows_what_comes_out(name: str) -> None:
    """Of those that take a second or two at the full scale; without times, which differ."""
    tool = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "make_experiments_page.py"))
    page = tool["PAGE"].read_text(encoding="utf-8")
    assert tool["replaced"](page, name, tool["section"](run_experiment(name, "full"))) == page, (
        f"stale: run `python tools/make_experiments_page.py {name}`"
    )
