"""Every token stands where it is said to stand, in the text as it was given, however the text is read."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benzer.errors import InputError
from benzer.fields import Text
from tests.reference import text as reference
from tests.texts import CASES, FORMS, mixed_texts

FIELDS = st.builds(
    Text,
    tokenizer=st.sampled_from(["unified", "alnum"]),
    normalize=st.sampled_from(FORMS),
    case=st.sampled_from(CASES),
    punctuation=st.sampled_from(["keep", "drop"]),
    stop_words=st.sampled_from([(), ("the", "é", "東")]),
)
CHARACTERS = st.builds(
    Text,
    unit=st.just("char"),
    normalize=st.sampled_from(FORMS),
    case=st.sampled_from(CASES),
    punctuation=st.sampled_from(["keep", "drop"]),
    whitespace=st.sampled_from(["keep", "fold"]),
)


def places_of(field: Text, text: str) -> list[tuple[str, int, int]]:
    tokens, places = field.token_spans(text)
    assert places.dtype == np.int64
    assert places.shape == (len(tokens), 2)
    return [(token, start, end) for token, (start, end) in zip(tokens, places.tolist(), strict=True)]


def without_final_sigma(text: str) -> str:
    """Lower-casing looks at the neighbours of a sigma, and a stretch alone has none."""
    return text.replace("ς", "σ")


@given(FIELDS, mixed_texts())
def test_the_tokens_with_places_are_the_tokens(field: Text, text: str) -> None:
    found = places_of(field, text)
    assert [token for token, _, _ in found] == field.tokens(text)
    for _, start, end in found:
        assert 0 <= start < end <= len(text)
    for (_, start, end), (_, next_start, next_end) in pairwise(found):
        assert start <= next_start
        assert end <= next_end


@given(CHARACTERS, mixed_texts())
def test_the_characters_with_places_are_those_that_are_shingled(field: Text, text: str) -> None:
    found = places_of(field, text)
    recipe = reference.Recipe(
        unit="char",
        normalize=field.normalize,
        case=field.case,
        punctuation=str(field.punctuation),
        whitespace=field.whitespace,
    )
    assert "".join(token for token, _, _ in found) == reference.characters(text, recipe)


@given(FIELDS, mixed_texts())
def test_what_stands_at_a_place_reads_as_the_token(field: Text, text: str) -> None:
    for token, start, end in places_of(field, text):
        alone = [without_final_sigma(one) for one in field.tokens(text[start:end])]
        assert without_final_sigma(token) in alone


@given(CHARACTERS, mixed_texts())
def test_what_stands_at_a_place_reads_as_the_character(field: Text, text: str) -> None:
    for character, start, end in places_of(field, text):
        alone = "".join(field.token_spans(text[start:end])[0])
        assert character.isspace() or without_final_sigma(character) in without_final_sigma(alone)


@given(st.text(st.characters(max_codepoint=0x24F, exclude_categories=["Cf", "No", "Lm", "Sk"]), max_size=60))
def test_places_of_plain_text_are_those_of_a_regular_expression(text: str) -> None:
    plain = [c for c in text if unicodedata.normalize("NFKC", c) == c and len(c.casefold()) == 1]
    text = "".join(plain)
    words = re.finditer(r"[^\W_]+", text)
    assert [place[1:] for place in places_of(Text(), text)] == [match.span() for match in words]


@pytest.mark.parametrize("field, text, want", [
    (Text(), "The ﬁne ½ co\u00adop", [("the", 0, 3), ("fine", 4, 7), ("1", 8, 9), ("2", 8, 9), ("coop", 10, 15)]),
    (Text(), "½x", [("1", 0, 1), ("2x", 0, 2)]),
    (Text(), "e\u0301a 東京", [("éa", 0, 3), ("東", 4, 5), ("京", 5, 6)]),
    (Text(), "\u1112\u1161\u11ab글", [("한글", 0, 4)]),
    (Text(), "ΑΣ Σ", [("ασ", 0, 2), ("σ", 3, 4)]),
    (Text(case="lower"), "ΑΣ.", [("ας", 0, 2)]),
    (Text(case="lower"), "İx", [("i̇x", 0, 2)]),
    (Text(), "a\ud800b", [("a", 0, 1), ("b", 2, 3)]),
    (Text(), "\ufeffA\u200dB", [("ab", 1, 4)]),
    (Text(stop_words=["to"]), "To be", [("be", 3, 5)]),
    (Text(punctuation="keep"), "a—b", [("a", 0, 1), ("—", 1, 2), ("b", 2, 3)]),
    (Text(unit="char"), " Aß \t c", [("a", 1, 2), ("s", 2, 3), ("s", 2, 3), (" ", 3, 6), ("c", 6, 7)]),
    (Text(unit="char", punctuation="drop"), "a--b", [("a", 0, 1), (" ", 1, 3), ("b", 3, 4)]),
    (Text(unit="char"), "x\u0323\u0301", [("x", 0, 1), ("\u0323", 1, 2), ("\u0301", 2, 3)]),
    (Text(), "", []),
])  # fmt: skip
def test_places_count_code_points_of_the_text_as_it_was_given(
    field: Text, text: str, want: list[tuple[str, int, int]]
) -> None:
    assert places_of(field, text) == want


def test_places_in_utf8_are_those_of_the_decoded_text() -> None:
    assert Text().token_spans("é東b".encode())[1].tolist() == [[0, 1], [1, 2], [2, 3]]
    with pytest.raises(InputError, match="not valid UTF-8 at byte 1"):
        Text().token_spans(b"a\xff")
