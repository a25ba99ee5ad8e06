"""The nearest documents are those that brute force finds, with the promised recall, at every threshold."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benzer import Document, Schema, Text, ValueSet
from benzer._native import equal_bytes
from benzer.errors import SettingsError
from benzer.index import Index, IndexSettings, nearest
from benzer.index.nearest import Agreement, most_similar, upper_bounds
from tests.redis_server import shared_server

VALUES = IndexSettings(Schema(tags=ValueSet()), threshold=0.5)
PAIRED = IndexSettings(Schema(tags=ValueSet(weight=2.0), others=ValueSet()), threshold=0.5)


def jaccard(a: list[int] | None, b: list[int] | None) -> Fraction:
    if not a or not b:
        return Fraction(0)
    return Fraction(len(set(a) & set(b)), len(set(a) | set(b)))


def related(random: np.random.Generator, one: list[int], count: int) -> list[list[int]]:
    """Sets that hold from a fifth to nine tenths of the values of one, and others of their own."""
    found = []
    for share in random.uniform(0.2, 0.9, count):
        kept = random.choice(one, max(1, int(share * len(one))), replace=False).tolist()
        found.append(kept + random.integers(10**9, 2**62, len(one) - len(kept)).tolist())
    return found


def true_nearest(similar: list[Fraction], limit: int, threshold: float) -> list[int]:
    order = sorted(range(len(similar)), key=lambda place: (-similar[place], place))
    return [place for place in order if float(similar[place]) >= threshold and similar[place] > 0][:limit]


def missed_share(recall: float, size: int, seed: int) -> tuple[int, int]:
    """Of the ten true nearest of 15 documents how many are missed, and how many there are."""
    random = np.random.default_rng(seed)
    missed = wanted = 0
    for _ in range(15):
        asked = random.integers(0, 2**62, size).tolist()
        documents = related(random, asked, 200)
        with Index.open("memory:", VALUES) as index:
            index.add((place, {"tags": tags}) for place, tags in enumerate(documents))
            found = index.find_nearest({"tags": asked}, limit=10, recall=recall)
        truth = true_nearest([jaccard(asked, tags) for tags in documents], 10, 0.1)
        wanted += len(truth)
        missed += len(set(truth) - {match.id for match in found})
    return missed, wanted


@pytest.mark.parametrize("size", [12, 60, 200])
@pytest.mark.parametrize("recall", [0.8, 0.99])
def test_a_true_neighbour_is_missed_no_more_often_than_promised(
    monkeypatch: pytest.MonkeyPatch, recall: float, size: int
) -> None:
    monkeypatch.setattr(nearest, "_FIRST_PORTION", 1)  # else 64 documents are compared in any case
    monkeypatch.setattr(nearest, "_LARGEST_PORTION", 1)
    missed, wanted = missed_share(recall, size, seed=size)
    # Neighbours of one query share its sketch; at the worst they are missed together, ten at a time.
    spread = math.sqrt(10 * wanted * recall * (1 - recall))
    assert missed <= wanted * (1 - recall) + 6 * spread


def test_a_bound_that_is_too_low_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "_FIRST_PORTION", 1)
    monkeypatch.setattr(nearest, "_LARGEST_PORTION", 1)
    monkeypatch.setattr(nearest, "upper_bounds", lambda fields, recall, slots: fields[0].equal / slots - 0.2)
    missed, wanted = missed_share(0.99, 60, seed=60)
    assert missed > wanted * 0.01 + 6 * math.sqrt(10 * wanted * 0.99 * 0.01)


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("limit", [1, 10, None])
def test_at_a_recall_of_one_the_answer_is_that_of_brute_force(limit: int | None, threshold: float) -> None:
    random = np.random.default_rng(3)
    documents = [random.integers(0, 60, int(size)).tolist() for size in random.integers(0, 25, 300)]
    with Index.open("memory:", VALUES) as index:
        index.add((place, {"tags": tags}) for place, tags in enumerate(documents))
        for asked in documents[:20]:
            found = index.find_nearest({"tags": asked}, limit, recall=1.0, threshold=threshold)
            similar = [jaccard(asked, tags) for tags in documents]
            truth = true_nearest(similar, limit or len(documents), threshold)
            assert [match.id for match in found] == truth
            assert [match.similarity for match in found] == [float(similar[place]) for place in truth]
            assert found.recall == 1.0
            assert found.compared >= (sum(map(bool, documents)) if asked else 0)


def test_several_fields_count_by_weight_where_both_hold_them() -> None:
    random = np.random.default_rng(4)
    first, second = random.integers(0, 2**62, 50).tolist(), random.integers(0, 2**62, 50).tolist()
    documents: list[dict[str, list[int] | None]] = [
        {"tags": tags, "others": others}
        for tags, others in zip(related(random, first, 150), related(random, second, 150), strict=True)
    ]
    documents += [{"tags": tags, "others": None} for tags in related(random, first, 50)]
    documents += [{"tags": [], "others": others} for others in related(random, second, 50)]
    similar = []
    for one in documents:
        both = [(jaccard(first, one["tags"]), 2)]
        both += [] if one["others"] is None else [(jaccard(second, one["others"]), 1)]
        similar.append(sum(part * weight for part, weight in both) / sum(weight for _, weight in both))
    truth = true_nearest(similar, 10, 0.1)
    with Index.open("memory:", PAIRED) as index:
        index.add(enumerate(documents))
        asked = {"tags": first, "others": second}
        exact = index.find_nearest(asked, recall=1.0)
        found = index.find_nearest(asked, recall=1 - 1e-9)
    assert [match.id for match in exact] == truth == [match.id for match in found]
    assert [match.similarity for match in exact] == pytest.approx([float(similar[one]) for one in truth])
    assert 10 <= found.compared < 250
    assert found.recall == 1 - 1e-9


@pytest.mark.parametrize("home", ["memory", "file", "redis"])
def test_the_scan_follows_what_is_added_replaced_removed_and_rolled_back(home: str, tmp_path: Path) -> None:
    place = {
        "memory": "memory:",
        "file": str(tmp_path / "index.benzer"),
        "redis": f"{shared_server().url}?prefix=nearest-{tmp_path.name}",
    }[home]
    asked = {"tags": list(range(20))}

    def nearest_ids() -> list[str | int]:
        return [match.id for match in index.find_nearest(asked, limit=None)]

    with Index.open(place, VALUES) as index:
        index.add({"a": {"tags": list(range(18))}, "b": {"tags": list(range(12))}})
        assert nearest_ids() == ["a", "b"]
        index.commit()
        index.add({"c": {"tags": list(range(19))}})
        assert nearest_ids() == ["c", "a", "b"]
        index.rollback()
        index.add({"d": {"tags": list(range(15))}, "b": {"tags": list(range(20))}})
        assert nearest_ids() == ["b", "a", "d"]
        index.remove(["a"])
        assert nearest_ids() == ["b", "d"]
        index.remove(["b"])
        index.add({"e": {"tags": [77]}})
        assert nearest_ids() == ["d"]
        index.compact()
        assert nearest_ids() == ["d"]


def test_what_another_process_commits_is_found(tmp_path: Path) -> None:
    place, asked = tmp_path / "index.benzer", {"tags": [1, 2, 3, 4]}
    with Index.open(place, VALUES) as writer, Index.open(place, mode="read") as reader:
        writer.add({"a": {"tags": [1, 2, 3]}})
        writer.commit()
        assert [match.id for match in reader.find_nearest(asked)] == ["a"]
        writer.add({"b": {"tags": [1, 2, 3, 4]}})
        writer.remove(["a"])
        writer.commit()
        assert [match.id for match in reader.find_nearest(asked)] == ["b"]


def test_a_document_is_not_its_own_neighbour_and_an_empty_one_has_none() -> None:
    with Index.open("memory:") as index:
        index.add({"a": "one two three four", "b": "one two three four", "empty": ""})
        assert [match.id for match in index.find_nearest(Document("a", "one two three four"))] == ["b"]
        assert list(index.find_nearest("", threshold=0.0)) == []
        assert list(index.find_nearest(Document("empty", ""), threshold=0.0)) == []


def test_of_equal_similarity_the_one_added_earlier_comes_first() -> None:
    with Index.open("memory:") as index:
        index.add((f"d{number}", "one two three four") for number in range(200))
        assert [match.id for match in index.find_nearest("one two three four", limit=3)] == ["d0", "d1", "d2"]


@pytest.mark.parametrize(
    "options,message",
    [
        ({"limit": 0}, "limit must be 1 or more, or None for all, got 0"),
        ({"recall": 0}, r"recall must be in \(0, 1\], got 0"),
        ({"recall": 1.01}, r"recall must be in \(0, 1\], got 1.01"),
        ({"threshold": -0.1}, r"threshold must be in \[0, 1\], got -0.1"),
        ({"threshold": float("nan")}, "threshold must be in"),
    ],
)
def test_a_question_out_of_range_is_refused(options: dict[str, float], message: str) -> None:
    with Index.open("memory:") as index, pytest.raises(SettingsError, match=message):
        index.find_nearest("one two three", **options)  # type: ignore[arg-type]


def test_d18_equal_bytes_by_chance_are_taken_off_the_bound() -> None:
    """Half a byte of 128 is equal by chance: sets that share nothing must not read as alike for it."""
    below = most_similar(0.5, 128)  # the median: no margin
    assert below[0] < 0.003
    share = float(below[64])
    assert 64 / 128 - 0.01 < share + (1 - share) / 256 < 64 / 128 + 0.01


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.999, 1 - 1e-9])
def test_the_bound_is_where_so_few_equal_bytes_become_too_unlikely(recall: float) -> None:
    slots = 128
    bounds = most_similar(recall, slots)
    assert (np.diff(bounds) >= 0).all()
    for equal in (0, 1, 13, 64, 100, 126, 127):
        similarity = float(bounds[equal])
        chance = similarity + (1 - similarity) / 256
        terms = [math.comb(slots, i) * chance**i * (1 - chance) ** (slots - i) for i in range(equal + 1)]
        assert math.fsum(terms) == pytest.approx(1 - recall, rel=1e-6)
    assert bounds[slots] == 1.0
    assert set(most_similar(1.0, slots).tolist()) == {1.0}


def test_the_margin_of_several_fields_is_that_of_hoeffding() -> None:
    equal = np.array([0, 64, 128], np.uint16)
    fields = [Agreement(np.full(3, weight), np.ones(3, bool), equal) for weight in (2.0, 1.0)]
    margin = math.sqrt(-math.log(0.001) / (2 * 128)) * math.sqrt(4 + 1) / 3 * 256 / 255
    estimates = [(one / 128 - 1 / 256) * 256 / 255 for one in equal.tolist()]
    wanted = [min(1.0, max(0.0, one + margin)) for one in estimates]
    assert upper_bounds(fields, 0.999, 128).tolist() == pytest.approx(wanted)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_equal_bytes_are_counted_alike_everywhere(threads: int) -> None:
    random = np.random.default_rng(8)
    for count, width in ((0, 128), (1, 1), (70_000, 3), (40_000, 130)):
        rows, one = random.integers(0, 4, (count, width), np.uint8), random.integers(0, 4, width, np.uint8)
        counts = equal_bytes(rows, one, threads)
        assert counts.dtype == np.uint16
        assert (counts == (rows == one).sum(axis=1)).all()


def test_sketches_of_other_widths_are_refused() -> None:
    with pytest.raises(SettingsError, match="a sketch of 3 bytes cannot be compared with sketches of 4"):
        equal_bytes(np.zeros((2, 4), np.uint8), np.zeros(3, np.uint8), 1)


def test_texts_are_found_at_every_distance() -> None:
    words = [f"w{number}" for number in range(40)]
    documents = {
        place: " ".join(words[:place] + [f"x{place}-{n}" for n in range(40 - place)]) for place in range(41)
    }
    settings = IndexSettings(Schema(text=Text()))
    with Index.open("memory:", settings) as index:
        index.add(documents)
        found = index.find_nearest(" ".join(words), limit=5)
    assert [match.id for match in found] == [40, 39, 38, 37, 36]


def test_without_a_threshold_the_nearest_are_given_however_far_away() -> None:
    """What lies below the promise fills the answer; with a threshold nothing below it is given."""
    words = [f"w{number}" for number in range(400)]
    with Index.open("memory:") as index:
        index.add({f"d{size}": " ".join(words[: 40 * size]) for size in range(1, 11)})
        asked = " ".join([*words[:5], "and", "then", "something", "else"])  # 3 of 7 shingles are shared
        found = index.find_nearest(asked, limit=4)
        sizes = [40 * size - 2 for size in range(1, 11)]
        exact = [3 / (7 + size - 3) for size in sizes]
        assert [match.similarity for match in found] == sorted(exact, reverse=True)[:4]
        assert max(exact) < found.threshold == 0.1
        assert list(index.find_nearest(asked, limit=4, threshold=0.1)) == []
        assert list(index.find_nearest("nothing that is there at all", limit=4)) == []
