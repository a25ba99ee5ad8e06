"""Do the benchmarks measure and score what they say? Tiny corpora with answers by hand."""

from __future__ import annotations

import dataclasses
import doctest
import io
import json
import sys
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import figures, instructions, kernels, measure, scoring, tables
from benchmarks.corpus import planted
from benchmarks.machine import describe
from benchmarks.material import Corpus
from benchmarks.measure import Measurement
from benchmarks.peers import MODULES, NO_ANSWER, ONE_THREAD_ONLY, base
from benchmarks.peers.base import Task
from benchmarks.run import score
from benchmarks.scenarios import RECORDS, Scenario, load_environments, load_scenario, scenario_names
from benchmarks.scoring import Truth, characters

TEXTS = [
    "One two three four five six seven eight",
    "one two three four five six seven eight nine",  # 4 of 5 word shingles, .8
    "something else that nobody has written down before today",
    "ONE two three four five six seven eight",  # as the first
    "one two three four five six",  # 2 of 4: .5
]
PAIRS = list(combinations((0, 1, 3, 4), 2))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    rows = [{"id": number, "text": text} for number, text in enumerate(TEXTS)]
    (tmp_path / "tiny.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = [planted.jaccard(planted.shingles(TEXTS[a]), planted.shingles(TEXTS[b])) for a, b in PAIRS]
    left, right = zip(*PAIRS, strict=True)
    pq.write_table(
        pa.table({"left": left, "right": right, "jaccard": values}), tmp_path / "tiny.truth.parquet"
    )
    facts = {"documents": len(TEXTS), "jsonl_bytes": 400, "planted_pairs": len(PAIRS), "sha256": "of tiny"}
    return Corpus(tmp_path, "tiny", facts)


def scenario(**changes: object) -> Scenario:
    return dataclasses.replace(load_scenario("words"), **changes)  # type: ignore[arg-type]


def test_every_scenario_names_known_engines_and_its_reference() -> None:
    for name in scenario_names():
        loaded = load_scenario(name)
        assert set(loaded.engines) <= set(MODULES)
        assert loaded.reference in loaded.engines
        assert loaded.repetitions >= 5, "medians are of five runs or more"
    assert set(MODULES) >= NO_ANSWER | ONE_THREAD_ONLY


def test_every_peer_has_an_environment_of_pinned_versions() -> None:
    for name in set(MODULES) - {"benzer", "benzer-exact", "benzer-written", "pyarrow"}:
        assert all("==" in pin or ";" in pin for pin in load_environments()[name])


def test_unknown_scenario_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SystemExit, match=r"no scenario 'letters' .*words"):
        load_scenario("letters")


@pytest.mark.parametrize("module", [base, scoring, instructions], ids=lambda module: module.__name__)
def test_examples_in_the_benchmarks_hold(module: ModuleType) -> None:
    ran = doctest.testmod(module)
    assert (ran.attempted > 0, ran.failed) == (True, 0)


@pytest.mark.parametrize("text", ["", "abc", "abcde", "Straße ÄÖ\n\tx"])
def test_peers_and_truth_have_the_same_characters(text: str) -> None:
    assert characters(text) == set(base.shingles(text, "char"))


@pytest.mark.parametrize("text", ["", "one", "one two three four FIVE", TEXTS[1]])
def test_peers_and_truth_have_the_same_words(text: str) -> None:
    assert planted.shingles(text) == set(base.shingles(text))


def test_flags_are_scored_by_pairs_and_by_level(corpus: Corpus) -> None:
    truth = corpus.truth(scenario())
    assert truth.true_pairs() == {(0, 1), (0, 3), (1, 3)}
    found = truth.score_flags([3, 2], "removed")
    assert found.recall == 2 / 3  # (0, 1) stays whole
    assert found.precision == 1 / 2
    assert found.flagged_by_level == {"1.0": 1, "none": 1}
    assert truth.score_flags([0, 1, 3, 4], "any").recall == 1.0
    assert truth.score_flags([4], "removed").flagged_by_level == {".5-.7": 1}
    assert truth.score_flags([1], "any").recall == 0.0


def test_curve_gives_lone_pairs_by_similarity() -> None:
    truth = Truth({(0, 1): 0.72, (2, 3): 0.74, (4, 5): 1.0, (6, 7): 0.69, (8, 9): 0.9, (9, 10): 0.9}, 0.7)
    assert truth.score_flags([1, 5], "removed").curve == [
        (0.675, 0.7, 1, 0.0),
        (0.7, 0.725, 1, 1.0),
        (0.725, 0.75, 1, 0.0),
        (1.0, 1.0, 1, 1.0),
    ]


def test_pairs_that_were_not_planted_are_checked_from_their_texts(corpus: Corpus) -> None:
    truth = Truth({(0, 1): 0.8}, 0.7)
    found = truth.score_pairs([(3, 0, 1.0), (1, 0, 0.8), (2, 4, 0.9)], corpus.path("jsonl"))
    assert (found.recall, found.precision, found.unplanted) == (1.0, 2 / 3, 2)
    assert found.greatest_difference == 0.9
    assert truth.score_flags([3], "removed").precision == 1.0, "a confirmed pair makes its flag right"


def test_truth_of_characters_is_computed_once(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    asked = scenario(unit="char")
    truth = corpus.truth(asked)
    assert truth.similarity == {
        (a, b): planted.jaccard(characters(TEXTS[a]), characters(TEXTS[b])) for a, b in PAIRS
    }
    assert corpus.truth(asked).similarity == truth.similarity
    assert capsys.readouterr().out.count("once") == 1
    other = dataclasses.replace(corpus, facts=corpus.facts | {"sha256": "of another"})
    other.truth(asked)
    assert capsys.readouterr().out.count("once") == 1, "the truth of another corpus is not taken"


def test_any_file_becomes_a_corpus(tmp_path: Path) -> None:
    mine = tmp_path / "my.jsonl"
    mine.write_text('{"body": "eins"}\n\n{"body": null}\n{"body": "drei"}\n')
    made = Corpus.of_file(tmp_path, mine, "body")
    assert [json.loads(line) for line in made.path("jsonl").read_text().splitlines()] == [
        {"id": 0, "text": "eins"},
        {"id": 1, "text": ""},
        {"id": 2, "text": "drei"},
    ]
    assert made.facts["documents"] == 3
    assert pq.read_table(made.path("parquet"))["text"].to_pylist() == ["eins", "", "drei"]
    with pytest.raises(SystemExit, match="row 1 has no column 'text': name it with --column"):
        Corpus.of_file(tmp_path, mine, "text")


@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.parametrize("engine", ["benzer", "benzer-written", "benzer-exact"])
def test_benzer_answers_as_plain_python_does(corpus: Corpus, engine: str, unit: str) -> None:
    asked = scenario(unit=unit)
    measured = in_this_environment(engine, asked, corpus.path("jsonl"))
    truth = corpus.truth(asked)
    score([measured], truth, corpus.path("jsonl"), unit)
    assert measured.pairs is not None
    assert measured.flags is not None
    assert (measured.pairs.recall, measured.pairs.precision) == (1.0, 1.0)
    assert measured.pairs.greatest_difference == 0.0
    assert (measured.flags.recall, measured.flags.precision) == (1.0, 1.0)
    assert measured.peak_rss_mb[0] > 10
    assert 0 < measured.peak_anonymous_mb[0] <= 1.5 * measured.peak_rss_mb[0]


def in_this_environment(engine: str, asked: Scenario, path: Path) -> Measurement:
    measured = Measurement(engine, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "python_of", lambda _: Path(sys.executable))
        measure.run_once(measured, asked, path)
    assert measured.failure is None
    return measured


def test_engine_that_fails_says_why_and_does_not_end_the_run(tmp_path: Path) -> None:
    measured = Measurement("benzer", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "python_of", lambda _: Path(sys.executable))
        measure.run_once(measured, scenario(), tmp_path / "nothing.jsonl")
    assert measured.failure is not None
    assert "nothing.jsonl" in measured.failure
    assert not measured.wants_another(1, 10)


def test_table_compares_rows_of_as_many_threads(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "engine_versions", lambda _: {"benzer": "1"})
    truth = corpus.truth(scenario())
    rows = {("orjson", 1): 2.0, ("benzer", 1): 1.0, ("benzer", 2): 0.5, ("rensa", 1): 8.0, ("rensa", 2): 8.0}
    measurements = [
        Measurement(engine, threads, seconds=[taken], peak_rss_mb=[10], peak_anonymous_mb=[5])
        for (engine, threads), taken in rows.items()
    ]
    for item in measurements:
        if item.engine != "orjson":
            item.flags = truth.score_flags([3], "removed")
    body = tables.markdown(scenario(), corpus, describe(), measurements)
    assert "| rensa | 1 | 8.0 | 1 | 0 | 1 | 4.00 | 8.0 × | 10 | 5 |" in body
    assert "| rensa | 2 | 8.0 | 1 | 0 | 1 | 4.00 | 16.0 × |" in body
    assert "| benzer | 2 | 0.5 | 1 | 0 | 10 | 0.25 |  |" in body


def test_texts_of_a_kernel_lie_in_memory_as_arrow_has_them() -> None:
    sample = kernels.Sample.of("Unicode", ["grün".encode(), b"", b"tree"])
    assert sample.arrow().to_pylist() == ["grün", "", "tree"]
    assert sample.size == 9


def test_record_of_instructions_has_every_kernel_at_both_levels() -> None:
    record = json.loads((RECORDS / "instructions.json").read_text())
    listed = (Path(instructions.ROOT) / "crates/benzer-counts/src/kernels.rs").read_text()
    assert [kernel for kernel in record["counts"] if f'name: "{kernel}"' not in listed] == []
    assert listed.count("Kernel { name:") == len(record["counts"])
    assert all(set(levels) == set(instructions.LEVELS) for levels in record["counts"].values())


def test_curve_of_a_figure_joins_small_steps_and_leaves_gaps_open() -> None:
    curve = [
        (0.5, 0.525, 6, 0.0),
        (0.525, 0.55, 6, 1.0),
        (0.7, 0.725, 20, 1.0),
        (0.75, 0.775, 3, 0.0),
        (1.0, 1.0, 50, 1.0),
    ]
    points = figures._joined(curve)
    assert [(round(at, 3), share) for at, share in points if share == share] == [
        (0.525, 0.5),
        (0.725, 1.0),
        (1.0, 1.0),
    ]
    assert sum(share != share for _, share in points) == 2


def test_figures_can_be_drawn_of_a_record(corpus: Corpus) -> None:
    truth = corpus.truth(scenario())
    measured = [Measurement("benzer", threads, seconds=[1.0 / threads]) for threads in (1, 2)]
    measured += [Measurement("orjson", 1, seconds=[2.0])]
    for item in measured[:2]:
        item.flags = truth.score_flags([3], "removed")
    rows = [item.record() for item in measured]
    record = {"scenario": dataclasses.asdict(scenario()), "corpus": corpus.facts, "measurements": rows}
    drawn = [figures.recall(record, record, record), figures.seconds(record, record)]
    growth = [
        {"family": "ordinary", "documents": count, "threshold": 0.8, "memory": bound, "seconds": count / 1e5}
        | {"before": 10, "peak": 10 + count}
        for count in (1000, 10_000)
        for bound in (None, "1GB")
    ]
    drawn.append(figures.scaling({"rows": growth}))
    for figure in drawn:
        image = io.BytesIO()
        figure.savefig(image, format="svg")
        assert len(image.getvalue()) < 150_000


def test_task_and_scenario_share_their_names() -> None:
    own = {one.name for one in dataclasses.fields(Task)} - {"path"}
    assert own <= {one.name for one in dataclasses.fields(Scenario)}
