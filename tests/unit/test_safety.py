"""No chain at any scale; what clusters hold and what ties them; what raises an alarm; what became of each source."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer.errors import SettingsError
from benzer.results import Alarm, AlarmLimits
from benzer.results.safety import Safety
from tests.corpora import collection, edited, prose
from tests.reference import clusters as reference
from tests.reference.hashing import shingle_hashes
from tests.reference.similarity import jaccard
from tests.reference.text import Recipe, word_tokens
from tests.results import SURE, Id, pairs_of, removed_of

WORDS = Recipe()
DOCUMENTS = 100_000
SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data" / "documents.jsonl"


def similarity_of(texts: dict[Id, str]) -> Any:
    """The exact similarity of two of the texts, by id."""

    @cache
    def shingles(one: Id) -> frozenset[int]:
        return frozenset(shingle_hashes(texts[one], WORDS))

    return lambda a, b: jaccard(shingles(a), shingles(b))


def leader_of(found: Any) -> dict[Id, Id]:
    """Who stays for each document."""
    return {**{one: one for one in found.kept}, **{one: kept for one, (kept, _) in removed_of(found).items()}}


# -- clusters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_least_similarity_inside_is_that_of_all_pairs(seed: int, threshold: float, keep: str) -> None:
    texts = collection(seed, 120)
    found = benzer.find_duplicates(texts, threshold=threshold, recall=SURE, keep=keep)
    similarity, clusters = similarity_of(dict(texts)), reference.members(leader_of(found))
    reports = Safety(found, most=120).reports(range(len(found.clusters)))
    assert sorted(str(report.representative) for report in reports) == sorted(
        str(c.representative) for c in found.clusters
    )
    for report in reports:
        cluster = clusters[report.representative]
        assert report.compared == "all"
        assert report.size == len(cluster)
        assert report.distinct == len({tuple(word_tokens(texts[str(one)], WORDS)) for one in cluster})
        assert report.least_similarity == reference.least_inside(cluster, similarity)
        assert set(report.least_pair) <= set(cluster)
        assert similarity(*report.least_pair) == report.least_similarity
        assert report.least_similarity >= 2 * threshold - 1 - 1e-12, "1 - Jaccard is a distance"


def family(seed: int, count: int) -> dict[Id, str]:
    """One text and its edited copies, each at another distance."""
    choice = random.Random(seed)
    words = prose(choice, 60)
    copies = [edited(choice, words, number % 9) for number in range(count - 1)]
    return {f"f{number}": " ".join(copy) for number, copy in enumerate([words, *copies])}


@pytest.mark.parametrize("most", [2, 3, 8])
@pytest.mark.parametrize("seed", range(5))
def test_of_a_large_cluster_those_least_like_the_representative_are_compared(seed: int, most: int) -> None:
    texts = family(seed, 40)
    found = benzer.find_duplicates(texts, threshold=0.3, recall=SURE)
    similarity = similarity_of(texts)
    (report,) = Safety(found, most=most).reports([0])
    members = reference.members(leader_of(found))["f0"]
    distinct = list({tuple(word_tokens(texts[one], WORDS)): one for one in members[::-1]}.values())
    assert report.compared == "some"
    assert report.size == len(members)
    assert report.distinct == len(distinct)
    least_known = reference.least_of_some("f0", distinct, most, similarity)
    assert report.least_similarity >= reference.least_inside(members, similarity)
    assert report.least_similarity <= min(similarity("f0", one) for one in members)
    values = sorted(similarity("f0", one) for one in distinct if one != "f0")
    if len(values) <= most - 1 or values[most - 2] < values[most - 1]:
        assert round(report.least_similarity, 12) == least_known


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("threshold", [0.3, 0.6])
def test_bridges_are_the_strongest_pairs_between_clusters(seed: int, threshold: float) -> None:
    texts = collection(seed, 150)
    found = benzer.find_duplicates(texts, threshold=threshold, recall=SURE)
    similarity, leader, pairs = similarity_of(dict(texts)), leader_of(found), pairs_of(found.pairs)
    expected = reference.bridges(leader, pairs)
    safety = found.safety
    seen = {}
    for at in range(len(safety.bridges)):
        own = found.ids[safety.bridges.left_leader[at]]
        bridge = safety.bridge(at, int(safety.bridges.left_leader[at]))
        assert (leader[bridge.left_id], leader[bridge.right_id]) == (own, bridge.representative)
        assert pairs[frozenset((bridge.left_id, bridge.right_id))] == bridge.similarity
        assert bridge.representatives == similarity(own, bridge.representative)
        seen[frozenset((own, bridge.representative))] = bridge.similarity
    assert seen == expected


def test_a_cluster_names_its_own_bridges_and_its_component() -> None:
    texts = collection(3, 200)
    found = benzer.find_duplicates(texts, threshold=0.3, recall=SURE)
    leader, pairs = leader_of(found), pairs_of(found.pairs)
    ties = reference.bridges(leader, pairs)
    component_of = {one: tied for tied in reference.components(list(texts), list(pairs)) for one in tied}
    assert ties, "the collection must have some"
    for report in found.cluster_report():
        own = report.representative
        assert {b.representative for b in report.bridges} == {
            o for tie in ties if own in tie for o in tie - {own}
        }
        assert [b.representatives for b in report.bridges] == sorted(
            b.representatives for b in report.bridges
        )
        assert report.component_size == len(component_of[own])
        assert report.component_clusters == sum(leader[one] == one for one in component_of[own])


def test_clusters_come_largest_or_most_doubtful_first() -> None:
    found = benzer.find_duplicates(collection(5, 300), threshold=0.4, recall=SURE)
    sizes = [report.size for report in found.cluster_report()]
    least = [report.least_similarity for report in found.cluster_report("doubtful")]
    assert sizes == sorted(sizes, reverse=True)
    assert least == sorted(least)
    assert len(found.cluster_report(limit=3)) == 3
    assert json.loads(json.dumps(found.cluster_report(limit=1)[0].to_dict()))["size"] == sizes[0]
    with pytest.raises(SettingsError, match="order must be 'largest' or 'doubtful', got 'best'"):
        found.cluster_report("best")  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", [{}, {"a": "one two three"}, {"a": "", "b": ""}])
def test_nothing_removed_makes_no_cluster_no_bridge_and_no_alarm(texts: dict[Id, str]) -> None:
    found = benzer.find_duplicates(texts)
    assert found.cluster_report() == []
    assert len(found.safety.bridges) == 0
    assert found.alarms() == []


# -- no chain, at scale -----------------------------------------------------------------------------------------------


def sliding(units: list[str], glue: str, size: int, step: int) -> dict[Id, str]:
    """Documents of `size` units, each `step` units further than the one before: neighbours are alike."""
    return {at: glue.join(units[at * step : at * step + size]) for at in range(DOCUMENTS)}


def likeness(apart: int, shingles: int, step: int) -> float:
    """The Jaccard similarity of two such documents, of units that never come again."""
    shared = max(shingles - apart * step, 0)
    return shared / (2 * shingles - shared)


@pytest.mark.slow
def test_d01_no_removal_through_a_chain_of_a_hundred_thousand() -> None:
    """Words 40, step 4: neighbours share 34 of 42 shingles (0.81), the next but one 30 of 46 (0.65)."""
    texts = sliding([f"w{number}" for number in range(4 * DOCUMENTS + 40)], " ", 40, 4)
    found = benzer.find_duplicates(texts, threshold=0.8, recall=SURE)
    removed = removed_of(found)
    assert likeness(1, 38, 4) >= 0.8 > likeness(2, 38, 4)
    assert {(abs(int(kept) - int(one)), value) for one, (kept, value) in removed.items()} == {
        (1, likeness(1, 38, 4))
    }
    assert list(found.kept) == list(range(0, DOCUMENTS, 2))
    assert {report.size for report in found.cluster_report()} == {2}
    assert len(found.safety.bridges) == DOCUMENTS // 2 - 1
    assert set(found.safety.bridges.leaders.tolist()) == {likeness(2, 38, 4)}
    (alarm,) = found.alarms()
    assert alarm.kind == "chain"
    assert (alarm.numbers["size"], alarm.numbers["clusters"]) == (DOCUMENTS, DOCUMENTS // 2)
    assert (alarm.numbers["largest_cluster"], alarm.numbers["similarity"]) == (2, 0.0)


@pytest.mark.slow
def test_d05_a_source_that_drifts_from_topic_to_topic_is_not_one_cluster() -> None:
    """Characters 60, step 3, shingles of 5: alike up to two steps (50 of 62, 0.81), and no further (47 of 65)."""
    choice = random.Random(5)
    units = [chr(0x3400 + choice.randrange(6000)) for _ in range(3 * DOCUMENTS + 60)]
    texts = sliding(units, "", 60, 3)
    recipe = benzer.Schema(text=benzer.Text(unit="char"))
    found = benzer.find_duplicates(texts, threshold=0.8, recall=SURE, schema=recipe)
    assert likeness(2, 56, 3) >= 0.8 > likeness(3, 56, 3)
    assert len(found.kept) == -(-DOCUMENTS // 3), "transitive closure would keep one"
    assert max(abs(int(kept) - int(one)) for one, (kept, _) in removed_of(found).items()) == 2
    for one, (kept, value) in removed_of(found).items():
        assert value == likeness(abs(int(kept) - int(one)), 56, 3) >= 0.8
    assert all(b - a == 3 for a, b in pairwise(map(int, found.kept)))
    assert {alarm.kind for alarm in found.alarms()} == {"source", "chain"}
    assert found.alarms()[0].numbers["removed"] == DOCUMENTS - len(found.kept)


# -- sources ----------------------------------------------------------------------------------------------------------


def write_source(path: Path, texts: list[str], broken: int = 0) -> Path:
    """A JSONL file with malformed lines at its end."""
    rows = [json.dumps({"id": f"{path.stem}{at}", "text": text}) for at, text in enumerate(texts)]
    path.write_text("\n".join([*rows, *["{"] * broken]) + "\n", encoding="utf-8")
    return path


def test_every_document_is_counted_in_its_source(tmp_path: Path) -> None:
    texts = [*collection(9, 150).values(), "", "...", "two words"]
    paths = [write_source(tmp_path / f"{name}.jsonl", texts[at::3], at) for at, name in enumerate("abc")]
    found = benzer.find_duplicates(paths, threshold=0.5, recall=SURE, options=benzer.Options(on_error="skip"))
    rows = found.by_source()
    originals = dict(zip(found.ids, (found.ids[at] for at in found.stands_for), strict=True))
    for place, row in enumerate(rows):
        own = [one for one in found.ids if str(one).startswith("abc"[place])]
        gone = [found.removed[one].kept_id == originals[one] for one in own if one in found.removed]
        assert row.name == str(paths[place])
        assert (row.read, row.documents, row.malformed) == (len(texts[place::3]) + place, len(own), place)
        assert (row.removed, row.identical, row.near) == (len(gone), sum(gone), len(gone) - sum(gone))
        assert row.kept == len(own) - len(gone)
        assert row.removed_share == len(gone) / len(own)
    totals = Counter(
        {name: sum(getattr(row, name) for row in rows) for name in found.counts if hasattr(rows[0], name)}
    )
    assert totals == {name: found.counts[name] for name in totals}
    assert {"read", "kept", "removed", "identical", "near", "short", "empty", "malformed"} <= set(totals)


# -- alarms -----------------------------------------------------------------------------------------------------------


def kinds(found: Any, limits: AlarmLimits | None = None) -> set[str]:
    """Which alarms a result raises."""
    return {alarm.kind for alarm in found.alarms(limits)}


def one_alarm(found: Any, kind: str, limits: AlarmLimits | None = None) -> Alarm:
    """The alarm of a kind, told as JSON can."""
    (alarm,) = (alarm for alarm in found.alarms(limits) if alarm.kind == kind)
    assert json.loads(json.dumps(alarm.to_dict()))["message"] == alarm.message
    return alarm


def distinct(count: int, seed: int = 1, words: int = 30) -> list[str]:
    """Texts that have nothing in common."""
    choice = random.Random(seed)
    return [" ".join(f"{word}{at}" for word in prose(choice, words)) for at in range(count)]


def test_a_source_that_loses_more_than_a_share_is_named(tmp_path: Path) -> None:
    texts = distinct(40)
    a, b = (
        write_source(tmp_path / "a.jsonl", texts),
        write_source(tmp_path / "b.jsonl", [*texts[:30], *distinct(10, 2)]),
    )
    found = benzer.find_duplicates([a, b])
    alarm = one_alarm(found, "source")
    assert alarm.message == f"{b} loses 75.0 % of its documents (30 of 40; 30 are identical to a kept one)"
    kept, gone = alarm.examples
    assert found.removed[gone].kept_id == kept
    assert "source" not in kinds(found, AlarmLimits(source=0.75)), (
        "three in four are not more than three in four"
    )


def test_a_giant_cluster_is_named() -> None:
    texts = dict(enumerate([*["the same words in every copy"] * 30, *distinct(170)]))
    found = benzer.find_duplicates(texts)
    alarm = one_alarm(found, "cluster")
    assert alarm.numbers == {"representative": 0, "size": 30, "share": 0.15}
    assert alarm.message == "15.0 % of the documents (30 of 200) are in one cluster, represented by 0"
    assert "cluster" not in kinds(found, AlarmLimits(cluster=0.15))


def test_boilerplate_is_shown_with_what_is_shared() -> None:
    """Sixty pages with 60 words of frame and 30 of their own: 58 shared shingles, 30 own ones each, 0.49 alike."""
    frame = " ".join(prose(random.Random(8), 60))
    texts = {at: f"{frame} {own}" for at, own in enumerate(distinct(60))}
    found = benzer.find_duplicates(texts, options=benzer.Options(bands=benzer.Bands(20, 1), bucket_limit=20))
    alarm = one_alarm(found, "boilerplate")
    assert alarm.numbers["documents"] == alarm.numbers["kept"] == 60
    assert len(frame) > 200
    assert alarm.passage == frame[:200] + "…"
    assert len(set(alarm.examples)) == 2
    assert "boilerplate" not in kinds(
        benzer.find_duplicates(texts, options=benzer.Options(bands=benzer.Bands(20, 1), bucket_limit=60))
    )


def test_large_buckets_of_true_duplicates_are_no_boilerplate() -> None:
    texts = {at: f"{' '.join(prose(random.Random(8), 60))} n{at}" for at in range(60)}
    found = benzer.find_duplicates(texts, options=benzer.Options(bucket_limit=20))
    assert found.counts["oversized_buckets"] > 0
    assert "boilerplate" not in kinds(found)


def test_many_short_documents_are_named() -> None:
    texts = dict(enumerate([*["", "one", "two words"] * 10, *distinct(70)]))
    found = benzer.find_duplicates(texts)
    alarm = one_alarm(found, "short")
    assert alarm.numbers == {"short": 20, "empty": 10}
    assert alarm.message.startswith("30.0 % of the documents have less than one shingle")
    assert "short" not in kinds(found, AlarmLimits(short=0.3))


def test_many_malformed_rows_are_named_with_the_first(tmp_path: Path) -> None:
    path = write_source(tmp_path / "a.jsonl", distinct(48), 2)
    found = benzer.find_duplicates(path, options=benzer.Options(on_error="skip"))
    alarm = one_alarm(found, "malformed")
    assert alarm.numbers == {"malformed": 2, "read": 50}
    assert f"4.0 % of the rows (2 of 50) are malformed; the first: {path} line 49" in alarm.message
    assert "malformed" not in kinds(found, AlarmLimits(malformed=0.04))


def test_an_ordinary_collection_raises_no_alarm() -> None:
    assert kinds(benzer.find_duplicates(SAMPLE)) == set()


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_limit_is_a_share(share: float) -> None:
    with pytest.raises(SettingsError, match=r"the limit source must be a share in \[0, 1\], got"):
        AlarmLimits(source=share)


def test_a_cluster_is_compared_through_two_members_at_least() -> None:
    with pytest.raises(SettingsError, match="most must be at least 2 documents, got 1"):
        Safety(benzer.find_duplicates({"a": "b"}), most=1)
