"""Planted passages are found, and little beside them; what is called equal is equal; the cost is linear in any text.

The shares of planted passages that must be found are those that were measured for this way of finding them before
it was built, with 120 trials for each: the deviation of such a share is at most sqrt(0.97 * 0.03 / 120) = 0.016,
three of which are less than 0.05.
"""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benzer import _native
from benzer.evidence import Evidence, find_passages
from benzer.fields import Text
from tests.bounds import share_deviation
from tests.corpora import VOCABULARY
from tests.texts import mixed_texts

TRIALS = 300
WEIGHTS = [1 / rank for rank in range(1, len(VOCABULARY) + 1)]
PUBLISHED = {
    15: {0.0: 1.0, 0.05: 0.99, 0.1: 0.98, 0.2: 0.97},
    30: {0.0: 1.0, 0.05: 1.0, 0.1: 1.0, 0.2: 0.97},
    60: {0.0: 1.0, 0.05: 1.0, 0.1: 1.0, 0.2: 1.0},
}
Place = tuple[int, int]


def prose(choice: random.Random, length: int) -> list[str]:
    """Words as unevenly frequent as those of a language (Zipf), so that unrelated texts share runs of three."""
    return choice.choices(VOCABULARY, WEIGHTS, k=length)


def edited(choice: random.Random, words: list[str], rate: float) -> list[str]:
    """A share of the words replaced, taken out, or followed by a new one."""
    changed = set(choice.sample(range(len(words)), round(rate * len(words))))
    copy = []
    for place, word in enumerate(words):
        kind = choice.randrange(3) if place in changed else None
        copy += [*([word] if kind in (None, 2) else []), *(prose(choice, 1) if kind in (0, 2) else [])]
    return copy


def planted(choice: random.Random, length: int, rate: float) -> tuple[str, str, Place]:
    """Two unrelated texts of 300 words with a passage in both, and where it stands in the first."""
    passage = prose(choice, length)
    before, after = prose(choice, 150), prose(choice, 150)
    b = prose(choice, 300)
    place = choice.randrange(300)
    b[place:place] = edited(choice, passage, rate)
    start = len(" ".join(before)) + 1
    return " ".join(before + passage + after), " ".join(b), (start, start + len(" ".join(passage)))


def covered(evidence: Evidence) -> set[int]:
    """The characters of the first text in a passage."""
    return {at for passage in evidence.passages for at in range(*passage.a)}


@cache
def trials(length: int, rate: float) -> tuple[float, float]:
    """The share of planted passages of which half is found, and the share of what is found that was planted."""
    choice = random.Random(1000 * length + round(100 * rate))
    found = right = everything = 0
    for _ in range(TRIALS):
        a, b, (start, end) = planted(choice, length, rate)
        cover = covered(find_passages(Text(), a, b))
        inside = len(cover & set(range(start, end)))
        found += 2 * inside >= end - start
        right, everything = right + inside, everything + len(cover)
    return found / TRIALS, right / everything


@pytest.mark.parametrize("length", PUBLISHED)
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.1, 0.2])
def test_planted_passages_are_found(length: int, rate: float) -> None:
    share, _ = trials(length, rate)
    assert share >= PUBLISHED[length][rate] - 0.05
    if rate == 0.0:
        assert share == 1.0


@pytest.mark.parametrize("length", PUBLISHED)
def test_nearly_all_that_is_found_was_planted(length: int) -> None:
    assert min(trials(length, rate)[1] for rate in PUBLISHED[length]) >= 0.95


def test_unrelated_texts_rarely_share_a_passage() -> None:
    """Published: 2 to 3 in 100. A share of at most 0.03 exceeds this bound once in 10^9 runs."""
    choice = random.Random(3)
    pairs = [(" ".join(prose(choice, 300)), " ".join(prose(choice, 300))) for _ in range(TRIALS)]
    share = sum(bool(find_passages(Text(), a, b).passages) for a, b in pairs) / TRIALS
    assert share <= 0.03 + share_deviation(0.03, TRIALS)


UNIQUE = st.permutations(range(120)).map(lambda numbers: [f"w{number}" for number in numbers])


@given(UNIQUE, UNIQUE, st.integers(8, 40), st.integers(0, 60), st.integers(0, 60))
def test_a_run_of_words_that_stands_once_in_both_is_found_whole(
    first: list[str], second: list[str], length: int, in_a: int, in_b: int
) -> None:
    run = [f"run{number}" for number in range(length)]
    a, b = [*first[:in_a], *run, *first[in_a:]], [*second[:in_b], *run, *second[in_b:]]
    text = " ".join(a)
    start = text.index("run0")
    assert set(range(start, start + len(" ".join(run)))) <= covered(find_passages(Text(), text, " ".join(b)))


FIELDS = st.sampled_from(
    [Text(), Text(tokenizer="alnum", case="lower"), Text(unit="char"), Text(shingle_size=1)]
)


@given(FIELDS, st.lists(mixed_texts(), max_size=6), st.data())
def test_what_is_called_equal_reads_as_the_same_tokens(
    field: Text, parts: list[str], data: st.DataObject
) -> None:
    joined = st.lists(st.sampled_from(parts), max_size=8) if parts else st.just([])
    a, b = (" ".join(data.draw(joined)) for _ in range(2))
    found = find_passages(field, a, b, least_tokens=3)
    assume(found.passages)
    places = [field.token_spans(text)[1].tolist() for text in (a, b)]
    assume(
        all(len(set(map(tuple, one))) == len(one) for one in places)
    )  # else a cut may go through a character
    for passage in found.passages:
        equal = list(pieces(passage.a, [difference[:2] for difference in passage.differences]))
        others = list(pieces(passage.b, [difference[2:] for difference in passage.differences]))
        tokens = [[inside(field, text, piece) for piece in side] for text, side in ((a, equal), (b, others))]
        assert tokens[0] == tokens[1]
        assert sum(map(len, tokens[0])) == passage.shared
        assert len(inside(field, a, passage.a)) == passage.tokens
        assert passage.shared >= 3


def pieces(whole: Place, cut: list[Place]) -> list[Place]:
    """The stretches of a passage between its differences."""
    edges = [whole[0], *(edge for place in cut for edge in place), whole[1]]
    return list(zip(edges[::2], edges[1::2], strict=True))


def inside(field: Text, text: str, place: Place) -> list[str]:
    """The tokens of a whole text that stand in one stretch of it."""
    tokens, places = field.token_spans(text)
    pairs = zip(tokens, places.tolist(), strict=True)
    return [token for token, (start, end) in pairs if place[0] <= start and end <= place[1]]


@given(st.lists(mixed_texts(), min_size=2, max_size=2))
def test_what_is_shared_is_symmetric_in_its_counts(texts: list[str]) -> None:
    there, back = find_passages(Text(), *texts), find_passages(Text(), *reversed(texts))
    assert there.shared_shingles == back.shared_shingles
    assert there.containment_a == back.containment_b
    assert there.shingles_a == back.shingles_b


@pytest.mark.parametrize("field, letters", [
    (Text(), "ab"), (Text(), "acgt"), (Text(unit="char"), "ab"), (Text(unit="char"), "acgt"),
])  # fmt: skip
def test_a_long_passage_is_found_in_texts_of_few_words_or_letters(field: Text, letters: str) -> None:
    """Every run of a seed's length stands in too many places to try all; the longer runs do not.

    A passage of 500 is found from its first tokens on, but for those that a run of other words may end with.
    """
    choice, space = random.Random(5), " " if field.unit == "word" else ""
    passage = space.join(choice.choices(letters, k=500))
    a, b = (
        space.join([*choice.choices(letters, k=before), passage, *choice.choices(letters, k=20_000 - before)])
        for before in (9_000, 15_000)
    )
    best = find_passages(field, a, b, least_tokens=300).passages[0]
    start = a.index(passage)
    inside = len(set(range(*best.a)) & set(range(start, start + len(passage))))
    assert inside >= 0.9 * len(passage)
    assert best.shared >= 450


STEPS = 245
"""The most that a token may cost, derived beside the same number in the core's own tests of `evidence`."""
LENGTH = 200_000
REPETITIVE = {
    "one letter": "a" * LENGTH,
    "one word": "word " * (LENGTH // 5),
    "two words": "to and fro, " * (LENGTH // 12),
    "one line with a number": "".join(f"{number} the same line again\n" for number in range(LENGTH // 30)),
}


@pytest.mark.parametrize("a", REPETITIVE)
@pytest.mark.parametrize("b", REPETITIVE)
@pytest.mark.parametrize("unit", ["word", "char"])
def test_no_text_however_repetitive_takes_more_than_its_length(a: str, b: str, unit: str) -> None:
    """Counted, not timed."""
    field = Text(unit=unit)  # type: ignore[arg-type]
    *_, tokens, work = _native.KnownText(field.reader, REPETITIVE[a]).passages(REPETITIVE[b], None, 8)
    assert work <= STEPS * (tokens[0] + tokens[1])
    if a == b:
        assert tokens[2:4] == tokens[:2]


TOKENS = st.lists(st.sampled_from("abc"), max_size=300).map(" ".join)
PERIODIC = st.builds(
    lambda period, times, odd: " ".join((period * times)[:400] + odd),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=7),
    st.integers(1, 200),
    st.lists(st.sampled_from("abcd"), max_size=9),
)


@given(st.one_of(TOKENS, PERIODIC), st.one_of(TOKENS, PERIODIC))
def test_no_text_of_few_words_takes_more_than_its_length(a: str, b: str) -> None:
    *_, tokens, work = _native.KnownText(Text().reader, a).passages(b, None, 8)
    assert work <= STEPS * (tokens[0] + tokens[1])
