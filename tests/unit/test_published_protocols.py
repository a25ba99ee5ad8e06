"""Do the commands for CORE and NEWS-COPY follow the published protocols? Tiny files with answers by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import published
from benchmarks.quality_scores import adjusted_rand_index, bcubed, sweep_components, sweep_pairs
from benchmarks.quality_sets import Truth
from benzer import Document

ONE = "near duplicates of scholarly documents are found by their words"
TWO = "a second text about bees and the flowers which they visit in spring"
THREE = "nothing here has been said before by anybody else on this page"
CORE = {
    # id: (text, labels); the comment says what the protocol makes of it
    "a": (ONE, ["b"]),  # true positive, and equal
    "b": (ONE, ["a"]),  # true positive, and equal
    "c": ("stands alone among all of these rows", []),  # true negative, and equal
    "d": ("one text of a labelled pair of very different words", ["e"]),  # false negative
    "e": ("its partner says the same thing quite otherwise", ["d"]),  # false negative
    "f": (TWO, []),  # false positive
    "g": (TWO, []),  # false positive
    "h": (THREE, ["i"]),  # true positive: {i} lies within {i, j}; not equal
    "i": (THREE, ["h"]),  # true positive, not equal
    "j": (THREE, []),  # false positive
}
CORE_FIGURES = {
    "precision, duplicates": 4 / 7,
    "recall, duplicates": 4 / 6,
    "precision, others": 1 / 3,
    "recall, others": 1 / 4,
    "mean precision": (4 / 7 + 1 / 3) / 2,
    "accuracy": 3 / 10,
    "pair P": 2 / 5,  # ab, fg, hi, hj, ij were found; ab, de, hi are true
    "pair R": 2 / 3,
    "pair F1": 1 / 2,
    "B³ P": (5 + 2 * 1 / 2 + 2 * 2 / 3 + 1 / 3) / 10,
    "B³ R": 9 / 10,  # d and e find half of their cluster, themselves
    "B³ F1": 2 * (23 / 30) * (9 / 10) / (23 / 30 + 9 / 10),
}
NEWS = [
    ("The presi-\ndent spoke at length today.\nMany listened, and nobody left", "1"),
    ("The president spoke at “length” today Many listened and nobody left", "1"),
    ("A storm has reached the coast and roofs are gone", "2"),
    ("Wind took houses apart on Tuesday, said the mayor", "2"),
]


def core_rows() -> list[dict[str, Any]]:
    """The rows as published: the first words as title, the rest as abstract, in capitals to be lowered."""
    return [
        {
            "core_id": name,
            "processed_title": " ".join(text.split()[:3]).upper(),
            "processed_abstract": " ".join(text.split()[3:]),
            "labelled_duplicates": labels,
        }
        for name, (text, labels) in CORE.items()
    ]


def news_rows() -> list[dict[str, Any]]:
    return [{"id": at, "article": text, "cluster": cluster} for at, (text, cluster) in enumerate(NEWS)]


def run(name: str, rows: list[dict[str, Any]]) -> Mapping[str, list[dict[str, float]]]:
    protocol = published.PROTOCOLS[name]
    return published.evaluate(protocol, protocol.read(rows), range(2))


def test_core_is_scored_by_document_as_published() -> None:
    for way, runs in run("core", core_rows()).items():
        for figures in runs:
            assert figures == pytest.approx(CORE_FIGURES), way


def test_labels_written_as_json_or_naming_absent_documents_are_read() -> None:
    rows = core_rows()
    rows[0]["labelled_duplicates"] = '["b"]'
    rows[2]["labelled_duplicates"] = "['not in the file']"
    labelled = published.read_core(rows)
    assert labelled.listed[0] == {1}
    figures = published.core_figures(labelled, labelled.clusters)
    assert figures["accuracy"] == 9 / 10, "a label that is not in the file can never be predicted"


def test_news_copy_is_cleaned_and_scored_by_the_rand_index() -> None:
    for way, runs in run("news-copy", news_rows()).items():
        for figures in runs:
            # 6 pairs; 1 in found clusters, 2 in true ones, 1 in both: (1 - 1/3) / (3/2 - 1/3)
            assert figures["ARI"] == pytest.approx(4 / 7), way
            assert (figures["pair P"], figures["pair R"]) == (1.0, 0.5)
            assert (figures["B³ P"], figures["B³ R"]) == (1.0, 3 / 4)


def test_only_the_published_way_joins_what_is_below_the_threshold() -> None:
    """Similarity 0.49: a run of 50 bands of 4 misses it with (1 - 0.49^4)^50 = 0.051, five in a row with 4e-7."""
    shared = [f"s{number}" for number in range(49)]
    documents = [
        Document(at, {"shingles": [*shared, *(f"{at}-{one}" for one in range(own))]})
        for at, own in ((0, 25), (1, 26))
    ]
    protocol = published.PROTOCOLS["core"]
    found = [published.found_clusters(protocol, documents, seed) for seed in range(5)]
    assert any(one["as published"][0] == one["as published"][1] for one in found)
    for one in found:
        assert one["verified"][0] != one["verified"][1]
        assert one["verified, leaders"][0] != one["verified, leaders"][1]


def test_the_published_settings_are_those_of_the_protocols() -> None:
    core, news = published.PROTOCOLS["core"], published.PROTOCOLS["news-copy"]
    assert (core.num_hashes, core.bands.bands, core.bands.rows, core.threshold) == (200, 50, 4, 0.5)
    assert (news.num_hashes, news.bands.bands, news.bands.rows, news.threshold) == (256, 47, 5, 0.45)


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_packed(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path)


@pytest.mark.parametrize(
    "name, write",
    [("core.jsonl", write_jsonl), ("core.jsonl.gz", write_packed), ("core.parquet", write_parquet)],
)
def test_the_command_prints_its_figures_beside_the_published_ones(
    name: str, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / name, core_rows())
    monkeypatch.setattr("sys.argv", ["published", "core", str(tmp_path / name), "--seeds", "1"])
    published.main()
    said = capsys.readouterr().out
    assert "| Benzer, as published | 0.5714 ±0.0000 | 0.6667 ±0.0000 |" in said
    assert "| text-dedup (published) | 0.9587 | 0.9416 | 0.9450 | 0.9611 | 0.9518 | 0.9277 |" in said


def plain_rand(found: list[int], true: list[int]) -> float:
    """Hubert and Arabie by counting every pair."""
    pairs = [(a, b) for a in range(len(found)) for b in range(a)]
    both = sum(found[a] == found[b] and true[a] == true[b] for a, b in pairs)
    ours, theirs = (sum(labels[a] == labels[b] for a, b in pairs) for labels in (found, true))
    expected, most = ours * theirs / len(pairs), (ours + theirs) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def plain_bcubed(found: list[int], true: list[int]) -> tuple[float, float]:
    """Means over documents, by their definition."""
    count = range(len(found))
    shares = []
    for labels in (found, true):
        parts = []
        for a in count:
            mine = [b for b in count if labels[b] == labels[a]]
            parts.append(sum(found[a] == found[b] and true[a] == true[b] for b in mine) / len(mine))
        shares.append(sum(parts) / len(parts))
    return shares[0], shares[1]


@pytest.mark.parametrize("seed", range(20))
def test_cluster_scores_equal_their_definitions(seed: int) -> None:
    choice = np.random.default_rng(seed)
    found, true = choice.integers(0, 1 + seed, 30), choice.integers(0, 8, 30)
    assert adjusted_rand_index(found, true) == pytest.approx(plain_rand(found.tolist(), true.tolist()))
    assert bcubed(found, true) == pytest.approx(plain_bcubed(found.tolist(), true.tolist()))


@pytest.mark.parametrize("rule", ["all", "cross", "anchors"])
def test_pairs_are_cut_and_counted_by_the_rule_of_the_set(rule: str) -> None:
    choice = np.random.default_rng(9)
    count = 40
    left, right = np.triu_indices(count, 1)
    drawn = choice.permutation(len(left))[:200]
    true = choice.permutation(len(left))[:60]
    side = choice.integers(0, 2, count)
    counts = {
        "all": lambda a, b: True,
        "cross": lambda a, b: side[a] != side[b],
        "anchors": lambda a, b: side[a] or side[b],
    }
    wanted = {
        (a, b) for a, b in zip(left[true].tolist(), right[true].tolist(), strict=True) if counts[rule](a, b)
    }
    a, b = np.array(sorted(wanted)).T
    truth = Truth(count, a, b, rule, None if rule == "all" else side)
    similarity = choice.random(200).round(2)
    for score in sweep_pairs(truth, left[drawn], right[drawn], similarity):
        kept = [at for at, value in zip(drawn, similarity, strict=True) if value >= score.threshold]
        found = {(int(left[at]), int(right[at])) for at in kept}
        found = {pair for pair in found if counts[rule](*pair)}
        assert score.precision == pytest.approx(len(found & wanted) / max(len(found), 1))
        assert score.recall == pytest.approx(len(found & wanted) / len(wanted))
    for score in sweep_components(truth, left[drawn], right[drawn], similarity):
        closure = within_components(
            count, [at for at, value in zip(drawn, similarity, strict=True) if value >= score.threshold]
        )
        found = {pair for pair in closure if counts[rule](*pair)}
        assert score.precision == pytest.approx(len(found & wanted) / max(len(found), 1))
        assert score.recall == pytest.approx(len(found & wanted) / len(wanted))


def within_components(count: int, edges: list[int]) -> set[tuple[int, int]]:
    """All pairs within the components of some edges (numbers of pairs), by colouring until nothing changes."""
    left, right = np.triu_indices(count, 1)
    colour = list(range(count))
    for _ in range(count):
        for at in edges:
            one, other = int(left[at]), int(right[at])
            colour[one] = colour[other] = min(colour[one], colour[other])
    return {(a, b) for a in range(count) for b in range(a + 1, count) if colour[a] == colour[b]}
