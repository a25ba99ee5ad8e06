"""Documents that break readers: none of them may crash, vanish, or be taken for another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import benzer
from benzer.errors import InputError
from tests.reference.text import Recipe
from tests.results import SURE, Id, assert_complete, removed_of

STRANGE: dict[Id, str] = {
    "empty": "",
    "space": " \t\n\u3000",
    "one letter": "x",
    "one token": "benzer",
    "one shingle": "exactly three words",
    "one shingle more": "exactly three words more",
    "Chinese": "機器學習是人工智慧的一個分支,近年來發展迅速",
    "Chinese, edited": "機器學習是人工智能的一個分支,近年來發展迅速",
    "Japanese": "これは日本語の文章です。テストに使います。",
    "half width": "ｺﾚﾊ ﾆﾎﾝｺﾞ ﾃﾞｽ",
    "full width": "コレハ ニホンゴ デス",
    "Thai": "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "Thai, edited": "ภาษาไทยไม่มีช่องว่างระหว่างประโยค",
    "Korean": "한국어 문장은 띄어쓰기를 합니다",
    "Arabic": "اللُّغَةُ العَرَبِيَّةُ جَمِيلَةٌ جِدًّا",
    "Hebrew": "שָׁלוֹם לְכֻלָּם וּבְרוּכִים הַבָּאִים",
    "emoji": "👩\u200d👩\u200d👧 ❤\ufe0f 🇹🇷 👍🏽",
    "emoji with words": "so 👩\u200d👩\u200d👧 many ❤\ufe0f emoji 🇹🇷 here",
    "composed": "le café crème de l'été à zürich",
    "decomposed": "le cafe\u0301 cre\u0300me de l'e\u0301te\u0301 a\u0300 zu\u0308rich",
    "marks": "a" + "\u0301" * 500 + " b\u0323\u0301 \u0301\u0301 c",
    "marks only": "\u0301\u0323\u20dd",
    "surrogate": "broken \ud800 half a pair \udfff in here",
    "pair of surrogates": "broken \ud83d\ude00 half a pair \udfff in here",
    "zero": "a\x00b c\x00d e\x00f",
    "controls": "\x00\x01\x02\x1b[31m red \x7f\x9f text here",
    "long token": "z" * 100_000,
    "long shingles": " ".join(letter * 5000 for letter in "abcdef"),
    "private use": "\ue000 private use \U0010fffd characters",
    "right to left": "\u202egnp.exe\u202c name of a file",
}


def strange_texts() -> dict[Id, str | bytes]:
    """Every strange text, and each again under another id."""
    again = {f"{one}, again": content for one, content in STRANGE.items()}
    return {**STRANGE, **again}


@pytest.mark.parametrize("threshold", [0.3, 0.8, 1.0])
def test_strange_documents_are_compared_as_the_reference_compares_them(threshold: float) -> None:
    texts = strange_texts()
    result = benzer.find_duplicates(texts, threshold=threshold, recall=SURE)
    assert_complete(result, texts, Recipe(), threshold)


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_strange_documents_are_compared_by_characters_too(threshold: float) -> None:
    texts = strange_texts()
    schema = benzer.Schema(text=benzer.Text(unit="char", shingle_size=5, punctuation="keep"))
    result = benzer.find_duplicates(texts, threshold=threshold, recall=SURE, schema=schema)
    assert_complete(result, texts, Recipe("char", 5, punctuation="keep"), threshold)


def test_normal_forms_of_one_text_are_one_text() -> None:
    for a, b in [("composed", "decomposed"), ("half width", "full width")]:
        result = benzer.find_duplicates({"a": STRANGE[a], "b": STRANGE[b]})
        assert removed_of(result) == {"b": ("a", 1.0)}


def test_all_documents_the_same() -> None:
    result = benzer.find_duplicates(dict.fromkeys(range(500), "a few words that are the same"))
    assert list(result.kept) == [0]
    assert removed_of(result) == dict.fromkeys(range(1, 500), (0, 1.0))


def test_all_documents_different() -> None:
    texts = {i: " ".join(f"w{i}x{j}" for j in range(20)) for i in range(500)}
    result = benzer.find_duplicates(texts)
    assert list(result.kept) == list(texts)
    assert not removed_of(result)


def test_no_documents() -> None:
    result = benzer.find_duplicates({})
    assert list(result.kept) == []
    assert not removed_of(result)
    assert dict(result.counts)["read"] == 0


def test_one_document() -> None:
    result = benzer.find_duplicates({"only": "one document and no other"})
    assert list(result.kept) == ["only"]


def test_ten_megabytes_in_one_document() -> None:
    words = [f"w{i * 2654435761 % 2**32:x}" for i in range(1_000_000)]
    large = " ".join(words)
    assert len(large) > 9_000_000
    changed = " ".join([*words[:500_000], "inserted", *words[500_000:]])
    result = benzer.find_duplicates({"a": large, "b": changed, "c": "small and other"}, threshold=0.9)
    assert removed_of(result) == {"b": ("a", (1_000_000 - 4) / (1_000_000 + 1))}


def test_bytes_are_text_when_they_are_utf8() -> None:
    text = "žluťoučký kůň úpěl ďábelské ódy"
    assert removed_of(benzer.find_duplicates({"a": text, "b": text.encode()})) == {"b": ("a", 1.0)}


INVALID = [b"\xff", b"one two \x80 three", b"\xc3", b"\xed\xa0\x80 lone", b"\xf5\x80\x80\x80", b"\xc0\xaf"]


@pytest.mark.parametrize("content", INVALID)
def test_bytes_that_are_no_utf8_are_told_with_the_document(content: bytes) -> None:
    documents = [("good", "some good text"), ("broken", content)]
    with pytest.raises(InputError, match=r"(?i)item 2.*utf-8"):
        benzer.find_duplicates(documents)


def test_a_file_that_is_no_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id": "a", "text": "fine"}\n{"id": "b", "text": "br\xffoken"}\n')
    with pytest.raises(InputError, match="2"):
        benzer.find_duplicates(str(path))
    result = benzer.find_duplicates(str(path), options=benzer.Options(on_error="skip"))
    assert list(result.kept) == ["a"]
    assert dict(result.counts)["malformed"] == 1


def test_escapes_in_a_file_are_read_like_text_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "strange.jsonl"
    rows = [{"id": one, "text": content} for one, content in strange_texts().items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    from_file, from_memory = (
        benzer.find_duplicates(source, threshold=0.3, recall=SURE) for source in (str(path), joined_texts())
    )
    assert removed_of(from_file) == removed_of(from_memory)


def joined_texts() -> dict[Id, str | bytes]:
    """The strange texts as JSON gives them back: two halves of a pair, side by side, become one character."""
    return {one: json.loads(json.dumps(content)) for one, content in strange_texts().items()}


@pytest.mark.parametrize("content", [3, 2.5, ["a"], object()])
def test_what_is_no_text_is_refused(content: Any) -> None:
    with pytest.raises((InputError, TypeError)):
        benzer.find_duplicates([("a", "some text"), ("b", content)])


def test_two_documents_with_one_id_are_told() -> None:
    with pytest.raises(InputError, match="same"):
        benzer.find_duplicates(
            [("same", "one text"), ("same", "another text")], options=benzer.Options(on_duplicate_id="stop")
        )


def test_the_number_seven_and_the_text_seven_are_two_ids() -> None:
    result = benzer.find_duplicates([(7, "the same few words"), ("7", "the same few words")])
    assert list(result.kept) == [7]
    assert removed_of(result) == {"7": (7, 1.0)}
