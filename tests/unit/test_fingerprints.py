"""Fingerprints of passages: what is filed, what that promises, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benzer._native import winnowed
from benzer.document import Document
from benzer.errors import SettingsError, SettingsMismatchError
from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index, IndexSettings, Passages
from benzer.index import fingerprints as room
from benzer.index.fingerprints import Fingerprints
from tests.bounds import share_deviation
from tests.isas import each_isa
from tests.reference import winnowing as plain

VOCABULARY = [f"w{number}" for number in range(4000)]


@pytest.fixture(params=["memory:", "file"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    location = tmp_path / "index.benzer" if request.param == "file" else request.param
    with closing(Index.open(location, IndexSettings(passages=True))) as opened:
        yield opened


def random_words(choice: random.Random, count: int) -> list[str]:
    return choice.choices(VOCABULARY, k=count)


@pytest.mark.parametrize("window", [1, 2, 4, 9, 64])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_fingerprints_are_the_least_of_each_window(window: int, threads: int) -> None:
    choice = random.Random(window)
    texts = [" ".join(choice.choices(VOCABULARY[:9], k=choice.randint(0, 90))) for _ in range(60)]
    reader = Text(shingle_size=4)
    expected = [plain.winnowed(reader.shingle_hashes(text).tolist(), window) for text in texts]
    for _ in each_isa():
        offsets, hashes = winnowed(reader.reader, texts, window, threads)
        for at, wanted in enumerate(expected):
            assert hashes[offsets[at] : offsets[at + 1]].tolist() == sorted(wanted)


def test_each_field_files_under_keys_of_its_own() -> None:
    schema = Schema(title=Text(), tags=ValueSet(), body=Text())
    fingerprints = Fingerprints(schema, Passages())
    text = "one two three four five six seven eight"
    documents = [
        Document("a", {"title": text}),
        Document("b", {"body": text, "tags": ["red", "round"]}),
        Document("c", {"tags": []}),
        Document("d", {"title": text, "body": text, "tags": ["red"]}),
    ]
    offsets, keys = fingerprints.keys(documents)
    filed = [set(keys[start:end].tolist()) for start, end in pairwise(offsets.tolist())]
    assert filed[0].isdisjoint(filed[1])
    assert len(filed[1] & filed[3]) == len(filed[1]) - 1  # but for the tag "round"
    assert filed[2] == set()
    assert filed[3] > filed[0]


def test_band_keys_and_fingerprints_do_not_meet(index: Index) -> None:
    index.add(
        {"a": "the cat sat on the mat and looked at me", "b": "the cat sat on the mat but slept all day"}
    )
    assert [
        candidate.id for candidate in index.find_candidates("the cat sat on the mat but was hungry")
    ] == []
    assert index.find_containing("the cat sat on the mat", threshold=1.0, limit=None)[0].containment == 1.0


@pytest.mark.parametrize(
    "passages", [Passages(), Passages(3, 4), Passages(5, 8), Passages(1, 1), Passages(8, 2)]
)
def test_a_common_run_of_the_certain_length_is_always_found(passages: Passages) -> None:
    choice = random.Random(passages.size)
    run = random_words(choice, passages.certain)
    texts = {
        number: " ".join(
            random_words(choice, choice.randint(0, 40)) + run + random_words(choice, choice.randint(0, 40))
        )
        for number in range(150)
    }
    with Index.open("memory:", IndexSettings(passages=passages)) as index:
        index.add(texts)
        asked = " ".join(random_words(choice, 30) + run + random_words(choice, 30))
        found = index.find_containing(asked, threshold=1e-9, limit=None)
        assert found.candidates == found.compared == len(texts)


@pytest.mark.parametrize("words", range(15))
@pytest.mark.parametrize("edits", [0.0, 0.1, 0.5, 1.0])
def test_the_promise_is_the_probability_of_a_spared_run(words: int, edits: float) -> None:
    for passages in (Passages(2, 2), Passages(), Passages(1, 1)):
        expected = plain.probability_of_run(words, passages.certain, edits)
        assert passages.probability(words, edits) == pytest.approx(expected, abs=1e-12)


def edited(choice: random.Random, words: list[str], edits: float) -> list[str]:
    """Each word replaced, left out, or with another before it, with probability `edits`."""
    after: list[str] = []
    for word in words:
        kind = choice.randrange(3) if choice.random() < edits else None
        fresh = f"x{choice.getrandbits(60)}"
        after += {None: [word], 0: [fresh], 1: [], 2: [fresh, word]}[kind]
    return after


@pytest.mark.parametrize("length, edits", [(15, 0.1), (15, 0.2), (30, 0.2), (60, 0.3)])
def test_edited_passages_are_found_as_often_as_promised(length: int, edits: float) -> None:
    choice, trials = random.Random(length), 600
    passages = Passages()
    with Index.open("memory:", IndexSettings(passages=passages)) as index:
        asked = {}
        for number in range(trials):
            passage = [f"p{choice.getrandbits(60)}" for _ in range(length)]
            around = [f"o{choice.getrandbits(60)}" for _ in range(60)]
            asked[number] = " ".join(passage)
            index.add([(number, " ".join(around[:30] + edited(choice, passage, edits) + around[30:]))])
        found = sum(
            bool(index.find_containing(text, threshold=1e-9, limit=None).candidates)
            for text in asked.values()
        )
    promised = passages.probability(length, edits)
    assert found / trials >= promised - share_deviation(promised, trials)


@pytest.mark.parametrize("words", [4, 5, 6])
def test_a_short_document_that_stands_in_a_text_is_found_though_no_run_is_certain(words: int) -> None:
    choice = random.Random(words)
    texts = {number: random_words(choice, words) for number in range(200)}
    with Index.open("memory:", IndexSettings(passages=True)) as index:
        index.add((number, " ".join(text)) for number, text in texts.items())
        for number, text in texts.items():
            around = [f"o{choice.getrandbits(60)}" for _ in range(20)]
            asked = " ".join([*around[:10], *text, *around[10:]])
            assert [match.id for match in index.find_contained(asked, threshold=1.0)] == [number]


def test_half_of_the_promised_recall_would_be_noticed() -> None:
    """A power check of the bound above."""
    promised = Passages().probability(30, 0.2)
    assert promised / 2 < promised - share_deviation(promised, 600)


@pytest.mark.parametrize("most", [1, 30, 1000])
def test_wide_rows_are_handed_over_in_parts_and_come_out_the_same(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = random.Random(1)
    texts = {number: " ".join(random_words(choice, choice.choice([0, 5, 300]))) for number in range(40)}
    monkeypatch.setattr(room, "PADDED_KEYS", most)
    with Index.open("memory:", IndexSettings(passages=True)) as index:
        index.add(texts)
        assert list(index) == list(texts)
        for number, text in texts.items():
            if text:
                assert index.find_containing(text)[0] == (number, 1.0, 1.0, {"text": 1.0})


def test_settings_without_passages_are_what_they_were_before() -> None:
    assert "passages" not in IndexSettings().to_dict()
    assert IndexSettings(passages=False) == IndexSettings(passages=None) == IndexSettings()


def test_settings_with_passages_come_back_from_a_file(tmp_path: Path) -> None:
    location = tmp_path / "index.benzer"
    settings = IndexSettings(passages=Passages(5, 8))
    Index.open(location, settings).close()
    with Index.open(location) as again:
        assert again.settings.passages == Passages(5, 8)
    assert settings.fingerprint() != IndexSettings(passages=True).fingerprint()
    with pytest.raises(SettingsMismatchError, match=r"passages\.size is 5, got 4"):
        Index.open(location, IndexSettings(passages=True))


@pytest.mark.parametrize("question", ["find_containing", "find_contained", "find_passages"])
def test_an_index_without_passages_says_how_to_get_them(question: str) -> None:
    with (
        Index.open("memory:") as index,
        pytest.raises(SettingsError, match=r"IndexSettings\(passages=True\) or benzer index --passages"),
    ):
        getattr(index, question)("a text")


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: Passages(size=0), "size must be a whole number from 1 to 64, got 0"),
        (lambda: Passages(window=65), "window must be a whole number from 1 to 64, got 65"),
        (lambda: Passages(size=True), "size must be a whole number"),
        (lambda: IndexSettings(passages="yes"), r"passages must be True, False or Passages\("),  # type: ignore[arg-type]
        (lambda: IndexSettings(passages={"words": 4}), "passages must be .*size=.*, got {'words': 4}"),
        (lambda: Passages().probability(-1, 0.1), "words must be 0 or more"),
        (lambda: Passages().probability(5, 1.5), r"edits must be in \[0, 1\]"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: object, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        wrong()  # type: ignore[operator]


class Picture:
    """A field of one kind that has no parts to be found again."""

    kind = "image"
    sets = None


def test_a_schema_without_texts_and_values_has_no_passages() -> None:
    with pytest.raises(SettingsError, match="passages need a text or a value set"):
        Fingerprints(Schema(photo=Picture()), Passages())  # type: ignore[arg-type]


def test_a_window_out_of_range_is_refused_by_the_core() -> None:
    for window in (0, 65):
        with pytest.raises(SettingsError, match=r"window must be in 1\.\.64"):
            winnowed(Text().reader, ["a"], window, 1)


def test_characters_and_stop_words_are_read_as_the_field_reads_them() -> None:
    field = Text(stop_words=["the"], case="keep", normalize="none")
    words = room.words_of(field, 2)
    assert words.shingles("the Cat and the Dog") == ["Cat and", "and Dog"]
    assert room.words_of(Text(unit="char"), 2).shingles("Straße 東京") == ["strasse 東", "東 京"]


def test_weights_and_keys_are_arrays_of_the_right_kind() -> None:
    fingerprints = Fingerprints(Schema(), Passages())
    asked = fingerprints.query_keys(Document("a", {"text": "one two three four five"}))
    assert asked.keys.dtype == np.uint64
    assert asked.fields.tolist() == [0, 0]
