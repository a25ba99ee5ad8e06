"""New documents against older collections: who is known, by what, and what becomes of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benzer
from benzer import Image, Index, IndexSettings, Schema, Text, ValueSet, find_duplicates
from benzer.errors import SettingsError, SettingsMismatchError
from tests.corpora import collection
from tests.doors.shell import rows
from tests.images import as_file, scene
from tests.reference.hashing import shingle_hashes
from tests.reference.similarity import jaccard
from tests.reference.text import Recipe
from tests.results import SURE, Id, grouped, removed_of, true_pairs, true_removals
from tests.unit.test_foreign_fields import FirstLetters

WORDS = Recipe()
Texts = dict[Id, str | bytes]
FOX = "the quick brown fox jumps over the lazy dog and sleeps"
FOX_AGAIN = "the quick brown fox jumps over the lazy dog and dreams"


@cache
def shingles(text: str | bytes) -> frozenset[int]:
    """The shingles of a text, by the reference."""
    return frozenset(shingle_hashes(text, WORDS))


def alike(a: str | bytes, b: str | bytes) -> float:
    """How alike two texts are."""
    return jaccard(shingles(a), shingles(b))


@contextmanager
def indexes(*old: Mapping[Any, Any], **settings: Any) -> Iterator[list[Index]]:
    """An index in memory of each collection, in which every pair is found."""
    wanted = IndexSettings(**{"threshold": 0.3, "recall": SURE, **settings})
    with ExitStack() as stack:
        opened = [stack.enter_context(Index.open("memory:", wanted)) for _ in old]
        for index, documents in zip(opened, old, strict=True):
            index.add(documents)
        yield opened


def true_matches(new: Texts, old: list[Texts], threshold: float) -> dict[Id, list[tuple[int, Id, float]]]:
    """For each new document its matches: by collection, the most similar first, then as they were added."""
    found: dict[Id, list[tuple[int, Id, float]]] = {}
    filled = {one: text for one, text in new.items() if shingles(text)}
    for one, text in filled.items():
        for number, documents in enumerate(old):
            scored = [
                (number, other, alike(text, theirs))
                for other, theirs in documents.items()
                if other != one and shingles(theirs)
            ]
            best = sorted((match for match in scored if match[2] >= threshold), key=lambda match: -match[2])
            found.setdefault(one, []).extend(best)
    return {one: matches for one, matches in found.items() if matches}


def split(seed: int) -> tuple[Texts, list[Texts]]:
    """New texts, and two older collections that hold some of the same, or like them."""
    texts: Texts = {**collection(seed, 150)}
    ids = list(texts)
    old = [{one: texts[one] for one in ids[:50]}, {one: texts[one] for one in ids[30:80]}]
    return {one: texts[one] for one in ids[60:]}, old


@pytest.mark.parametrize("threshold", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_d22_every_match_names_the_old_document_and_where_it_lies(seed: int, threshold: float) -> None:
    new, old = split(seed)
    expected = true_matches(new, old, threshold)
    with indexes(*old) as opened:
        found = find_duplicates(new, threshold=threshold, recall=SURE, against=opened)
    names = ["memory: (1)", "memory: (2)"]
    table = found.table("old_matches")
    told = zip(table["id"], table["index"], table["old_id"], table["similarity"].tolist(), strict=True)
    assert list(told) == [
        (one, names[number], other, strength)
        for one in new
        for number, other, strength in expected.get(one, [])
    ]
    known = {one: removal for one, removal in found.removed.items() if removal.kept_in is not None}
    assert set(known) == set(expected)
    for one, removal in known.items():
        number, other, strength = expected[one][0]
        assert (*removal, removal.kept_in) == (other, strength, names[number])
    assert found.counts["known"] == len(expected)


@pytest.mark.parametrize("seed", range(2))
def test_the_rest_is_what_it_would_be_without_the_known_ones(seed: int) -> None:
    new, old = split(seed)
    known = true_matches(new, old, 0.5)
    rest = {one: text for one, text in new.items() if one not in known}
    with indexes(*old) as opened:
        found = find_duplicates(new, threshold=0.5, recall=SURE, against=opened)
    gone = true_removals(rest, WORDS, 0.5)
    among = {one: tuple(removal) for one, removal in found.removed.items() if removal.kept_in is None}
    assert among == gone
    assert found.kept == [one for one in rest if one not in gone]
    assert {cluster.representative: cluster.removed for cluster in found.clusters} == grouped(gone)
    counts = found.counts
    assert counts["removed"] == counts["known"] + counts["identical"] + counts["near"]
    assert counts["kept"] + counts["removed"] == counts["documents"] == len(new)
    assert counts["clusters"] == len(grouped(gone))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("higher", [0.6, 0.9])
def test_a_raised_threshold_is_a_run_at_that_threshold(seed: int, higher: float) -> None:
    new, old = split(seed)
    with indexes(*old) as opened:
        low, high = (
            find_duplicates(new, threshold=threshold, recall=SURE, against=opened)
            for threshold in (0.3, higher)
        )
    raised = low.rethreshold(higher)
    assert raised.kept == high.kept
    assert raised.removed == high.removed
    assert [raised.removed[one].kept_in for one in raised.removed] == [
        high.removed[one].kept_in for one in high.removed
    ]
    assert raised.counts["known"] == high.counts["known"]


@pytest.mark.parametrize("method", ["lsh", "exact"])
def test_known_documents_still_stand_in_the_pairs(method: str) -> None:
    new, old = split(1)
    recall = SURE if method == "lsh" else 0.95
    with indexes(*old) as opened:
        found = find_duplicates(new, threshold=0.5, recall=recall, method=method, against=opened)
    pairs = {frozenset(pair[:2]): pair.similarity for pair in found.expanded_pairs()}
    assert pairs == true_pairs(new, WORDS, 0.5)


def test_the_first_index_names_the_witness_even_where_a_later_one_holds_a_better() -> None:
    with indexes({"like": FOX_AGAIN}, {"same": FOX}) as opened:
        found = find_duplicates({"new": FOX}, threshold=0.5, against=opened)
        turned = find_duplicates({"new": FOX}, threshold=0.5, against=opened[::-1])
    assert found.removed["new"].kept_id == "like"
    assert turned.removed["new"].kept_id == "same"
    assert len(found.table("old_matches")["id"]) == 2


def test_of_one_index_the_most_similar_is_the_witness_then_the_one_added_first() -> None:
    with indexes({"like": FOX_AGAIN, "same": FOX, "copy": FOX}) as opened:
        found = find_duplicates({"new": FOX}, threshold=0.5, against=opened)
    assert found.removed["new"] == ("same", 1.0)
    assert found.table("old_matches")["old_id"] == ["same", "copy", "like"]


def test_a_document_is_not_known_by_its_own_old_version() -> None:
    with indexes({"a": FOX, 7: "some other words of which there are quite a few"}) as opened:
        found = find_duplicates({"a": FOX_AGAIN, "b": FOX_AGAIN}, threshold=0.5, against=opened)
        numbered = find_duplicates(
            {"7": "some other words of which there are quite a few"}, threshold=0.5, against=opened
        )
    assert found.kept == ["a"]
    assert found.removed["b"] == ("a", pytest.approx(alike(FOX, FOX_AGAIN)))
    assert found.removed["b"].kept_in == "memory:"
    assert numbered.removed["7"] == (7, 1.0), "an id that is a number is not that which reads like it"


@pytest.mark.parametrize("keep", ["first", "last"])
def test_of_copies_the_one_that_is_not_known_stays_and_leads_none_that_is(keep: str) -> None:
    new = {"b": FOX, "a": FOX, "c": FOX, "near": FOX_AGAIN, "other": "words of an altogether different kind"}
    with indexes({"a": FOX}) as opened:
        found = find_duplicates(new, threshold=0.99, keep=keep, against=opened)
        lower = find_duplicates(new, threshold=0.5, keep=keep, against=opened)
    assert set(found.kept) == {"a", "near", "other"}
    assert removed_of(found) == {"b": ("a", 1.0), "c": ("a", 1.0)}
    assert not found.clusters
    assert set(lower.kept) == {"a", "other"}
    assert found.stays.tolist() == [False, True, False, True, True]


def test_empty_documents_are_known_by_none() -> None:
    with indexes({"nothing": "", "dots": "..."}) as opened:
        found = find_duplicates({"a": "", "b": "?!"}, threshold=0.3, against=opened)
    assert found.kept == ["a", "b"]


def mean(a: Mapping[str, Any], b: Mapping[str, Any], weight: float) -> float:
    """The similarity of two documents of a title and tags, either of which may be missing."""
    parts = []
    if "title" in a and "title" in b and (shingles(a["title"]) or shingles(b["title"])):
        parts.append((alike(a["title"], b["title"]), 1.0))
    if "tags" in a and "tags" in b and (a["tags"] or b["tags"]):
        parts.append((jaccard(a["tags"], b["tags"]), weight))
    return sum(value * share for value, share in parts) / sum(share for _, share in parts) if parts else 0.0


@pytest.mark.parametrize("weight", [0.5, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_several_fields_are_compared_by_their_weighted_mean(seed: int, weight: float) -> None:
    choice = np.random.default_rng(seed)
    documents: dict[str, dict[str, Any]] = {}
    for one, title in collection(seed, 60).items():
        fields: dict[str, Any] = {"title": title, "tags": sorted(set(title.lower().split()[:6]))}
        for name in list(fields):
            if choice.random() < 0.15:
                fields[name] = [] if name == "tags" else ""
            elif choice.random() < 0.15 and len(fields) > 1:
                del fields[name]
        documents[one] = fields
    old, new = dict(list(documents.items())[:30]), dict(list(documents.items())[20:])
    schema = Schema(title=Text(), tags=ValueSet(weight=weight))
    with indexes(old, schema=schema) as opened:
        found = find_duplicates(list(new.items()), threshold=0.4, recall=SURE, against=opened)
    table = found.table("old_matches")
    told = dict(
        zip(zip(table["id"], table["old_id"], strict=True), table["similarity"].tolist(), strict=True)
    )
    true = {
        (a, b): pytest.approx(similarity, abs=1e-12)
        for a in new
        for b in old
        if a != b and (similarity := mean(new[a], old[b], weight)) >= 0.4
    }
    assert told == true
    assert true


def test_fields_with_a_similarity_of_their_own_are_compared_by_that() -> None:
    schema = Schema(word=FirstLetters())
    with indexes({1: {"word": "abc"}, 2: {"word": "xyz"}}, schema=schema) as opened:
        found = find_duplicates(
            [{"id": "p", "word": "cab"}, {"id": "q", "word": "abd"}, {"id": "r", "word": "klm"}],
            threshold=0.4, recall=SURE, against=opened,
        )  # fmt: skip
    assert removed_of(found) == {"p": (1, 1.0), "q": (1, 0.5)}


def test_pictures_are_known_by_older_ones(tmp_path: Path) -> None:
    for name, seed in (("old", 1), ("new", 1), ("other", 2)):
        (tmp_path / f"{name}.png").write_bytes(as_file(scene(seed), "PNG"))
    schema = Schema(image=Image("grid"))
    old = [{"id": "old", "image": str(tmp_path / "old.png")}]
    new = [{"id": name, "image": str(tmp_path / f"{name}.png")} for name in ("new", "other")]
    with Index.open("memory:", IndexSettings(schema, threshold=0.7)) as index:
        index.add(old)
        found = find_duplicates(new, threshold=0.7, against=index)
    assert removed_of(found) == {"new": ("old", 1.0)}


def test_an_index_that_compares_otherwise_is_refused_and_both_are_named() -> None:
    with indexes({"a": FOX}) as opened, pytest.raises(SettingsMismatchError) as refused:
        find_duplicates({"b": FOX}, against=opened, schema=Schema(text=Text(shingle_size=5)))
    assert '"shingle_size": 3' in str(refused.value)
    assert '"shingle_size": 5' in str(refused.value)
    assert "memory:" in str(refused.value)


def test_without_a_schema_that_of_the_index_is_taken() -> None:
    with indexes({"a": {"body": FOX}}, schema=Schema(body=Text(shingle_size=2))) as opened:
        found = find_duplicates([{"id": "b", "body": FOX}], against=opened)
    assert found.settings.schema == Schema(body=Text(shingle_size=2))
    assert found.removed["b"] == ("a", 1.0)


def test_an_index_whose_bands_find_less_than_promised_is_refused_with_the_number() -> None:
    with indexes({"a": FOX}, threshold=0.8, recall=0.95) as opened:
        probability = opened[0].settings.bands.probability(0.5)
        with pytest.raises(
            SettingsError, match=f"probability {probability:.4f}, less than recall=0.9:"
        ) as refused:
            find_duplicates({"b": FOX}, threshold=0.5, recall=0.9, against=opened)
        advised = float(str(refused.value).split("at most ")[1].split(",")[0])
        assert 0 < probability - advised <= 1e-4
        assert find_duplicates({"b": FOX}, threshold=0.5, recall=advised, against=opened).removed
        assert find_duplicates({"b": FOX}, threshold=0.9, recall=0.95, against=opened).removed
        with pytest.raises(SettingsError, match="less than recall=1"):
            find_duplicates({"b": FOX}, threshold=0.9, recall=1.0, against=opened)


@pytest.mark.parametrize("given", ["old.benzer", ["old.benzer"], Path("old.benzer"), 5, [1], [None]])
def test_what_is_no_index_is_refused_by_its_name(given: Any) -> None:
    told = repr(given[0] if isinstance(given, list) else given)
    with pytest.raises(SettingsError, match=re.escape(f"against must be open indexes, got {told}")):
        find_duplicates({"a": FOX}, against=given)


def test_the_index_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.benzer"
    with Index.open(path, IndexSettings(threshold=0.5)) as index:
        index.add({f"d{number}": text for number, text in enumerate(collection(5, 100).values())})
    before = path.read_bytes()
    with Index.open(path, mode="read") as index:
        facts = index.info()
        found = find_duplicates(collection(5, 120), threshold=0.5, against=index)
        assert index.info() == facts
    assert path.read_bytes() == before
    assert found.counts["known"] > 20
    assert {removal.kept_in for removal in found.removed.values()} == {None, str(path)}


def test_the_files_say_which_old_document_and_where(tmp_path: Path) -> None:
    new = {
        "n1": FOX_AGAIN,
        "n2": FOX,
        "n3": "words of an altogether different kind",
        "n4": "words of an altogether different kind",
    }
    with indexes({"o1": FOX}) as opened:
        found = find_duplicates(new, threshold=0.5, against=opened)
    paths = found.write(tmp_path / "clean")
    similarity = alike(FOX, FOX_AGAIN)
    assert rows(paths["old_matches"]) == [
        {"id": "n1", "old_id": "o1", "index": "memory:", "similarity": similarity},
        {"id": "n2", "old_id": "o1", "index": "memory:", "similarity": 1.0},
    ]
    removed = rows(paths["removed"])
    assert [
        (one["id"], one["kept_id"], one["kept_in"], one["kept_file"], one["kept_row"]) for one in removed
    ] == [
        ("n1", "o1", "memory:", None, None),
        ("n2", "o1", "memory:", None, None),
        ("n4", "n3", None, "documents", 3),
    ]
    assert [one["id"] for one in rows(paths["kept"])] == ["n3"]
    assert found.to_arrow("removed").num_rows == 3
    plain = find_duplicates(new, threshold=0.5).write(tmp_path / "plain")
    assert "old_matches" not in plain
    assert "kept_in" not in rows(plain["removed"])[0]


def test_a_removal_is_a_pair_of_the_kept_one_and_the_similarity() -> None:
    with indexes({"o1": FOX}) as opened:
        removal = find_duplicates({"n": FOX}, threshold=0.5, against=opened).removed["n"]
    kept_id, similarity = removal
    assert (kept_id, similarity, removal.kept_in) == ("o1", 1.0, "memory:")
    assert repr(removal) == "Removal(kept_id='o1', similarity=1.0, kept_in='memory:')"
    assert benzer.results.Removal("a", 0.5).kept_in is None
