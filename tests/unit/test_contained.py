"""Documents that stand in others, in batch: all of them, exactly."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from benzer import Options
from benzer.contained import find_contained
from benzer.errors import MalformedRowError, OutputError, SettingsError
from benzer.fields import Image, Schema, Text, ValueSet
from tests.reference import winnowing as plain

VALUES = Schema(values=ValueSet())


def by_hand(sets: dict[Any, set[Any]], threshold: float) -> dict[tuple[Any, Any], float]:
    """Every ordered pair by trying it."""
    return {
        (a, b): share
        for a in sets
        for b in sets
        if a != b and sets[a] and (share := len(sets[a] & sets[b]) / len(sets[a])) >= threshold
    }


@pytest.mark.parametrize("seed", range(12))
def test_all_ordered_pairs_are_found_and_exact(seed: int) -> None:
    choice = random.Random(seed)
    sets = {
        number: set(choice.sample(range(choice.choice([8, 40])), choice.randint(0, 8)))
        for number in range(60)
    }
    given = [{"id": name, "values": sorted(values)} for name, values in sets.items()]
    for threshold in (0.2, 0.5, 0.75, 1.0):
        for threads in (1, 3):
            found = find_contained(given, schema=VALUES, threshold=threshold, threads=threads)
            listed = found.pairs(copies=True)
            assert {(a, b): share for a, b, share in listed} == by_hand(sets, threshold)
            assert len(listed) == len(by_hand(sets, threshold))
            firsts = {name for name in sets if name not in found.copies}
            assert {(a, b): share for a, b, share in found} == by_hand(
                {name: sets[name] for name in firsts}, threshold
            )


def test_texts_are_compared_by_their_shingles() -> None:
    texts = {"small": "a b c d e f", "large": "x y a b c d e g h i j", "none": ""}
    sets = {name: plain.word_shingles(text) for name, text in texts.items()}
    found = find_contained(texts, threshold=0.1)
    assert {(a, b): share for a, b, share in found} == by_hand(sets, 0.1)
    assert found.counts == {
        "read": 3, "malformed": 0, "documents": 3, "short": 0, "empty": 1, "copies": 0, "pairs": 2,
        "contained": 2, "containing": 2,
    }  # fmt: skip


def test_documents_of_less_than_a_shingle_are_counted() -> None:
    texts = {"two": "to be", "long": "to be or not to be", "none": "..."}
    assert find_contained(texts).counts["short"] == 1
    assert find_contained(texts).pairs() == []
    found = find_contained(texts, schema=Schema(text=Text(shingle_size=2)))
    assert (found.counts["short"], [pair[:2] for pair in found]) == (0, [("two", "long")])


def test_copies_stand_for_each_other() -> None:
    found = find_contained(
        {"a": "one two three", "b": "One two, three!", "c": "one two three four"}, threshold=0.5
    )
    assert found.copies == {"b": "a"}
    assert {(a, b) for a, b, _ in found} == {("a", "c"), ("c", "a")}
    assert {(a, b): share for a, b, share in found.pairs(copies=True)} == {
        ("a", "b"): 1.0, ("b", "a"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0, ("c", "a"): 0.5, ("c", "b"): 0.5,
    }  # fmt: skip


def test_many_copies_cost_no_more_than_one() -> None:
    found = find_contained(dict.fromkeys(range(20000), "one two three four"))
    assert len(found) == 0
    assert len(found.copies) == 19_999


def test_a_file_of_pairs_appears_whole(tmp_path: Path) -> None:
    found = find_contained({"a": "one two three", "b": "one two three four"}, threshold=1.0)
    assert found.write(tmp_path / "pairs.jsonl") == 1
    assert (tmp_path / "pairs.jsonl").read_text() == (
        '{"contained_id": "a", "containing_id": "b", "containment": 1.0}\n'
    )
    with pytest.raises(OutputError, match="already exists"):
        found.write(tmp_path / "pairs.jsonl")
    assert found.write(tmp_path / "pairs.parquet", tables="parquet") == 1
    assert found.summary()["settings"]["threshold"] == 1.0


def test_malformed_rows_stop_or_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": 1, "text": "one two three"}\n{"id": 2, "text": \n')
    with pytest.raises(MalformedRowError):
        find_contained(path)
    found = find_contained(path, options=Options(on_error="skip"))
    assert (found.counts["read"], found.counts["malformed"]) == (2, 1)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threshold": 0}, r"threshold must be in \(0, 1\], got 0"),
        ({"threshold": "0.5"}, r"threshold must be in \(0, 1\]"),
        ({"schema": Text()}, "schema must be a Schema"),
        ({"schema": Schema(a=Text(), b=Text())}, r"a schema with one field, got 2 \(a, b\)"),
        ({"schema": Schema(photo=Image())}, "supports texts and value sets, got a field of kind image"),
    ],
)
def test_what_has_no_answer_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        find_contained({"a": "text"}, **options)
