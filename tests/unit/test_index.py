"""The index: what it finds, what it keeps, and what it refuses."""

from __future__ import annotations

import json
import pickle
import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benzer.bands import Bands
from benzer.document import Document
from benzer.errors import InputError, SettingsError, SettingsMismatchError, StorageError, StoreFormatError
from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index, IndexSettings
from benzer.storage.layout import load_settings, save_settings

SURE = IndexSettings(threshold=0.5, recall=0.999999)
FIELDS = Schema(title=Text(shingle_size=1), tags=ValueSet(weight=3.0))


def words(*numbers: int) -> str:
    """A text of one word for each number."""
    return " ".join(f"w{number}" for number in numbers)


def shared(count: int, of: int = 10) -> str:
    """A text that has the first `count` of the shingles of `words(0, …, of + 1)`, and others."""
    return words(*range(count + 2), *range(1000, 1000 + of - count))


@pytest.fixture(params=["memory:", "file"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    location = tmp_path / "index.benzer" if request.param == "file" else request.param
    with closing(Index.open(location, SURE)) as opened:
        yield opened


def jaccard(a: str, b: str) -> float:
    """By plain Python: word 3-shingles."""
    sets = [{tuple(text.split()[at : at + 3]) for at in range(len(text.split()) - 2)} for text in (a, b)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_similar_documents_come_best_first_with_exact_similarities(index: Index) -> None:
    texts = {f"s{count}": shared(count) for count in range(11)}
    index.add(texts)
    found = index.find_similar(shared(10), limit=None)
    wanted = sorted(((jaccard(text, shared(10)), name) for name, text in texts.items()), reverse=True)
    assert [(match.similarity, match.id) for match in found] == [one for one in wanted if one[0] >= 0.5]
    assert found[0].fields == {"text": 1.0}
    assert [match.id for match in index.find_similar(shared(10), limit=2)] == ["s10", "s9"]


def test_nothing_below_the_threshold_comes_back(index: Index) -> None:
    index.add({f"s{count}": shared(count) for count in range(11)})
    for threshold in (0.0, 0.3, 0.5, 0.8, 1.0):
        found = index.find_similar(shared(10), limit=None, threshold=threshold)
        assert all(match.similarity >= threshold for match in found)
    assert [match.id for match in index.find_similar(shared(10), threshold=1.0)] == ["s10"]
    assert len(index.find_similar(shared(10), threshold=0.3)) >= len(index.find_similar(shared(10)))


def test_a_similarity_that_equals_the_threshold_counts(index: Index) -> None:
    index.add([("a", words(0, 1, 2, 3, 4))])
    found = index.find_similar(words(0, 1, 2, 3, 9), threshold=0.5)
    assert [match.similarity for match in found] == [0.5]


def test_ties_come_in_the_order_of_arrival(index: Index) -> None:
    index.add([(one, words(0, 1, 2, 3)) for one in ("c", "a", 9, "b")])
    index.add([("c", words(0, 1, 2, 3))])
    assert [match.id for match in index.find_similar(words(0, 1, 2, 3))] == ["a", 9, "b", "c"]


def test_a_document_is_not_offered_as_like_itself(index: Index) -> None:
    index.add([(1, words(0, 1, 2, 3)), ("1", words(0, 1, 2, 3)), ("x", words(0, 1, 2, 3))])
    own = index.get(1)
    assert own is not None
    assert [match.id for match in index.find_similar(own)] == ["1", "x"]
    assert [match.id for match in index.find_similar(own, limit=1)] == ["1"]
    assert [match.id for match in index.find_similar(Document("new", words(0, 1, 2, 3)))] == [1, "1", "x"]
    assert len(index.find_similar(words(0, 1, 2, 3))) == 3


def test_empty_documents_are_kept_and_like_no_other(index: Index) -> None:
    index.add([("empty", ""), ("blank", " ... "), ("short", "one"), ("same", "One!")])
    assert len(index) == 4
    assert index.find_similar("") == []
    assert index.find_similar("", threshold=0.0) == []
    assert [match.id for match in index.find_similar("one")] == ["short", "same"]


def test_many_are_asked_for_as_one_by_one(index: Index) -> None:
    random_ = random.Random(1)
    texts = [words(*(random_.randrange(3) for _ in range(6))) for _ in range(320)]
    index.add(enumerate(texts))
    asked = [Document(number, text) for number, text in enumerate(texts[:300])]
    together = index.find_similar_batch(asked, limit=5)
    assert together == [index.find_similar(one, limit=5) for one in asked]
    assert sum(map(len, together)) > 300
    assert index.find_similar_batch([]) == []


def test_documents_are_taken_in_every_usual_shape() -> None:
    index = Index.open("memory:")
    added = index.add(
        [
            Document("a", "one"),
            ("b", "two"),
            ("c", {"text": "three"}),
            {"id": "d", "text": "four"},
            ("e", b"five"),
        ]
    )
    assert added == 5
    assert index.add({"f": "six", 7: "seven"}) == 2
    assert list(index) == ["a", "b", "c", "d", "e", "f", 7]
    assert [document.fields["text"] for document in index.documents()] == [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
    ]


@pytest.mark.parametrize(
    "wrong,message",
    [
        ("text", "a document must be a Document"),
        (("a",), "a document must be a Document"),
        ({"text": "no id"}, 'a mapping with an "id"'),
        (("a", 5), "a text or a mapping of fields, got int"),
        (("a", {"body": "x"}), "has an unknown field 'body': use text"),
        ((True, "x"), "a document id must be a str or an int, got bool"),
        ((1.5, "x"), "a document id must be a str or an int, got float"),
    ],
)
def test_what_is_no_document_is_refused(wrong: object, message: str) -> None:
    index = Index.open("memory:")
    with pytest.raises(InputError, match=message):
        index.add([("a", "one"), wrong])
    assert len(index) == 0


def test_questions_that_make_no_sense_are_refused() -> None:
    index = Index.open("memory:")
    for arguments in ({"limit": 0}, {"threshold": 1.1}, {"threshold": float("nan")}):
        with pytest.raises(SettingsError):
            index.find_similar("text", **arguments)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="got int"):
        index.find_similar(5)
    with pytest.raises(InputError, match="put it into a list"):
        index.remove("abc")
    with pytest.raises(SettingsError, match="batch_size must be 1 or more"):
        index.add([], batch_size=0)


def test_several_fields_are_weighed() -> None:
    index = Index.open("memory:", IndexSettings(FIELDS, threshold=0.2, recall=0.9999))
    index.add(
        [("a", {"title": "one two", "tags": ["x", 1]}), ("b", {"title": "one two"}), ("c", {"tags": []})]
    )
    found = {match.id: match for match in index.find_similar({"title": "one three", "tags": ["x", 1, 2]})}
    assert found["a"].fields == {"title": 1 / 3, "tags": 2 / 3}
    assert found["a"].similarity == pytest.approx((1 / 3 + 3 * 2 / 3) / 4)
    assert found["b"].fields == {"title": 1 / 3}
    assert found["b"].similarity == pytest.approx(1 / 3)
    assert "c" not in found
    with pytest.raises(InputError, match="is ambiguous for the fields title, tags"):
        index.find_similar("one two")


def test_documents_come_back_as_they_were_given() -> None:
    index = Index.open("memory:", IndexSettings(FIELDS))
    index.add([(7, {"title": "Ünïcode \u6771\u4eac", "tags": ["b", 2, "a"]}), ("7", {"title": ""})])
    first, second = index.get(7), index.get("7")
    assert first is not None
    assert second is not None
    assert (first.id, first.fields["title"]) == (7, "Ünïcode \u6771\u4eac")
    assert set(first.fields["tags"] or ()) == {"a", "b", 2}
    assert second.fields == {"title": "", "tags": None}
    assert index.get("8") is None
    assert (7 in index, "7" in index, "8" in index, 7.5 in index, True in index) == (
        True,
        True,
        False,
        False,
        False,
    )


def test_replaced_and_removed_documents_are_not_found_again(index: Index) -> None:
    asked = words(0, 1, 2, 3, 4, 5)
    index.add([("a", asked), ("b", words(0, 1, 2, 3, 4, 6))])
    index.commit()
    index.add([("a", words(7, 8, 9))])
    assert [match.id for match in index.find_similar(asked)] == ["b"]
    assert index.remove(["b", "b", "x"]) == 1
    assert index.find_similar(asked) == []
    index.rollback()
    assert [match.id for match in index.find_similar(asked)] == ["a", "b"]


def test_batches_do_not_change_the_answers(tmp_path: Path) -> None:
    random_ = random.Random(2)
    documents = [(number, words(*(random_.randrange(6) for _ in range(9)))) for number in range(200)]
    answers = []
    for batch_size in (1, 7, 2000):
        with Index.open(tmp_path / f"{batch_size}.benzer", SURE) as index:
            index.add(documents, batch_size=batch_size)
            answers.append(index.find_similar_batch([text for _, text in documents]))
    assert answers[0] == answers[1] == answers[2]


def test_the_recall_is_what_was_promised() -> None:
    """Of 2,000 pairs at similarity 0.6 the share found is within five standard errors of what is stated."""
    settings = IndexSettings(threshold=0.6, recall=0.9)
    index = Index.open("memory:", settings)
    texts = {pair: words(*range(100 * pair, 100 * pair + 10)) for pair in range(2000)}
    index.add(texts)
    asked = [words(*range(100 * pair, 100 * pair + 8), 10**6 + pair, 10**7 + pair) for pair in texts]
    assert jaccard(asked[5], texts[5]) == 0.6
    found = [len(matches) for matches in index.find_similar_batch(asked)]
    promised = index.probability(0.6)
    assert promised >= 0.9
    assert sum(found) / 2000 == pytest.approx(promised, abs=5 * (promised * (1 - promised) / 2000) ** 0.5)


def test_with_commits_on_success_and_undoes_on_error(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    with Index.open(path) as index:
        index.add([("a", "one")])
    with pytest.raises(InputError), Index.open(path) as index:
        index.add([("b", "two"), "no document"], batch_size=1)
    index = Index.open(path)
    index.add([("c", "three")])
    index.close()
    with pytest.raises(StorageError, match="is closed"):
        len(index)
    with Index.open(path, mode="read") as index:
        assert list(index) == ["a"]


def test_an_index_keeps_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    settings = IndexSettings(FIELDS, threshold=0.7, recall=0.9, minhash="kmins", bands=Bands(4, 3), seed=5)
    Index.open(path, settings).close()
    with Index.open(path) as index:
        assert index.settings == settings
        assert index.settings.fingerprint() == settings.fingerprint() == index.info()["fingerprint"]
        assert index.info()["settings"] == json.loads(settings.to_json())
    with Index.open(path, settings, mode="read") as index:
        assert index.settings.minhash.num_hashes == 12


OTHERS = {
    "threshold is 0.8, got 0.9": IndexSettings(threshold=0.9),
    "recall is 0.95, got 0.99": IndexSettings(recall=0.99),
    "seed is 0, got 1": IndexSettings(seed=1),
    "minhash is 'fast', got 'kmins'": IndexSettings(minhash="kmins"),
    "bands is ": IndexSettings(bands=Bands(3, 3)),
    "schema.text.shingle_size is 3, got 2": IndexSettings(Schema(text=Text(shingle_size=2))),
    "schema.tags.type is 'missing', got 'values'": IndexSettings(Schema(text=Text(), tags=ValueSet())),
}


@pytest.mark.parametrize("message", OTHERS)
def test_other_settings_are_refused_and_both_are_shown(tmp_path: Path, message: str) -> None:
    path = tmp_path / "index.benzer"
    Index.open(path).close()
    with pytest.raises(SettingsMismatchError, match=message) as raised:
        Index.open(path, OTHERS[message])
    assert "Open it without settings" in str(raised.value)
    Index.open(path, IndexSettings()).close()


def test_the_order_of_fields_is_a_setting(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    Index.open(path, IndexSettings(Schema(a=Text(), b=Text()))).close()
    with pytest.raises(SettingsMismatchError, match="the order of the fields"):
        Index.open(path, IndexSettings(Schema(b=Text(), a=Text())))


def test_settings_differ_by_fingerprint() -> None:
    prints = [settings.fingerprint() for settings in (*OTHERS.values(), IndexSettings())]
    assert len(set(prints)) == len(prints)
    assert IndexSettings(threshold=0.8).fingerprint() == IndexSettings().fingerprint()


@pytest.mark.parametrize(
    "options,message",
    [
        ({"threshold": 0}, r"threshold must be in \(0, 1\], got 0"),
        ({"threshold": 1.4}, r"threshold must be in \(0, 1\], got 1.4"),
        ({"recall": 1.0}, r"recall must be in \(0, 1\), got 1.0"),
        ({"minhash": "bottomk"}, "bottomk signatures have no bands"),
        ({"bands": Bands(10, 10), "num_hashes": 50}, "raise num_hashes"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        IndexSettings(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"hashing": 1}'])
def test_settings_that_cannot_be_read_say_so(text: str) -> None:
    with pytest.raises(StoreFormatError, match="the settings of the index cannot be read"):
        IndexSettings.from_json(text)


def test_an_index_of_other_hashing_rules_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "index.benzer"
    Index.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        save_settings(connection, load_settings(connection).replace('"hashing":1', '"hashing":2'))
        connection.commit()
    with pytest.raises(StoreFormatError, match="hashing rules 2, this version of benzer has rules 1"):
        Index.open(path)


def test_an_index_can_be_pickled_and_used_from_threads(index: Index) -> None:
    index.add([(number, words(number, number + 1, number + 2, number + 3)) for number in range(300)])
    index.commit()
    copy = pickle.loads(pickle.dumps(index))  # noqa: S301
    wanted = index.find_similar(words(5, 6, 7, 8))
    assert copy.find_similar(words(5, 6, 7, 8)) == wanted
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.append(copy.find_similar(words(5, 6, 7, 8))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [wanted] * 8
    copy.close()


def test_the_probability_is_that_of_the_bands() -> None:
    index = Index.open("memory:", IndexSettings(bands=Bands(20, 5)))
    assert index.probability(0.5) == Bands(20, 5).probability(0.5)
    assert np.array_equal(index.probability([0.0, 1.0]), [0.0, 1.0])


def test_the_duplicates_of_an_index_are_those_of_its_documents(index: Index) -> None:
    index.add([("a", words(0, 1, 2, 3, 4)), ("b", words(9, 8, 7)), ("c", words(0, 1, 2, 3, 4)), (4, "")])
    found = index.find_duplicates()
    assert found.kept == ["a", "b", 4]
    assert index.find_duplicates(keep="last").kept == ["b", "c", 4]
