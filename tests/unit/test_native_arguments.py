"""Arguments that do not fit are refused with a sentence, never with a panic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import benzer
from benzer import _native
from benzer.errors import BenzerError, InputError, SettingsError

U32, U64 = np.uint32, np.uint64
ENDS = (np.array([0], dtype=U32), np.array([1], dtype=U32))


def keys(rows: int, columns: int) -> Any:
    return np.arange(rows * columns, dtype=U64).reshape(rows, columns)


def corpus() -> Any:
    made = _native.Corpus([benzer.Text().reader])
    made.add(5, [1], [None], [["a text"]])
    return made


def deciding(**changed: Any) -> Any:
    given = {
        "rank": np.arange(3, dtype=U32),
        "left": ENDS[0],
        "right": ENDS[1],
        "similarity": np.ones(1),
        "threshold": 0.5,
        "stands_for": np.arange(3, dtype=U32),
        "members": np.zeros(0, dtype=U32),
        "ends": np.zeros(0, dtype=np.int64),
    }
    return _native.Deciding(*(given | changed).values())


CALLS: dict[str, Callable[[], Any]] = {
    "flags of fewer documents than keys": lambda: _native.candidate_pairs(
        keys(10, 3), 2, 1, np.ones(3, dtype=bool)
    ),
    "content of more documents than there are": lambda: corpus().identical(
        keys(5, 2), np.zeros(5, dtype=bool), np.arange(5, dtype=U32)
    ),
    "content of one column per document": lambda: corpus().identical(
        keys(1, 1), np.zeros(1, dtype=bool), np.arange(1, dtype=U32)
    ),
    "too few flags": lambda: corpus().identical(keys(1, 2), np.zeros(0, dtype=bool), np.arange(1, dtype=U32)),
    "too few ranks": lambda: corpus().identical(keys(1, 2), np.zeros(1, dtype=bool), np.zeros(0, dtype=U32)),
    "identities of positions beyond the documents": lambda: corpus().identities(ENDS[1]),
    "more documents than positions": lambda: _native.components(2**32, *ENDS),
    "fewer similarities than pairs": lambda: deciding(similarity=np.zeros(0)),
    "uneven ends of pairs": lambda: deciding(right=np.zeros(0, dtype=U32)),
    "ranks that are no order": lambda: deciding(rank=np.zeros(3, dtype=U32)),
    "large buckets that end beyond their documents": lambda: deciding(ends=np.array([4])),
    "large buckets of documents beyond all": lambda: deciding(
        members=np.array([7], dtype=U32), ends=np.array([1])
    ),
    "families of fewer ranks than documents": lambda: corpus().compare_families(
        np.zeros(0, dtype=U32),
        np.zeros(0, dtype=U32),
        np.zeros(0, dtype=np.int64),
        np.zeros(0, dtype=U32),
        0.5,
        [1.0],
        1,
    ),
    "batches of positions beyond the documents": lambda: corpus().batches(*ENDS, 1),
    "a source of a number beyond reason": lambda: corpus().name_source(2**32 - 1, "x"),
    "an instruction set that is none": lambda: _native.set_isa("foo"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_does_not_fit_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(BenzerError):
        call()


def test_an_id_is_made_of_a_source_without_a_name_too() -> None:
    assert corpus().ids() == [":1"]
    assert [one.tolist() for one in corpus().repeated_ids()] == [[], []]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": -1}, "threads must be from 0 \\(all cores\\) to 4096, got -1"),
        ({"threads": 1.5}, "threads must be from 0 \\(all cores\\) to 4096, got 1.5"),
        ({"threshold": "0.8"}, "threshold must be in"),
        ({"recall": "0.9"}, "recall must be in"),
        ({"schema": 5}, "schema must be a Schema, got 5"),
        ({"options": {"seed": 1}}, "options must be Options, got {'seed': 1}"),
    ],
)
def test_settings_are_checked_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        benzer.find_duplicates("/no/such/file.jsonl", **options)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_stop_words_with_lone_surrogates_are_read_like_texts(text: str) -> None:
    assert benzer.Text(stop_words=[text], shingle_size=1).tokens("a text")


def test_a_value_that_is_no_number_of_reason_is_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="digits"):
        benzer.ValueSet().sets([[10**5000]])


def test_flags_of_any_byte_are_true_unless_zero() -> None:
    flags = np.array([0, 1, 2, 255], dtype=np.uint8).view(np.bool_)
    same = np.full((4, 1), 7, dtype=U64)
    left, right, *_ = _native.candidate_pairs(same, 10, 1, flags)
    assert sorted(zip(left.tolist(), right.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 3)]


def test_signatures_are_made_of_a_column_that_is_read_only() -> None:
    data = np.frombuffer(b"one two three", dtype=np.uint8)
    column = (np.array([0, 13], dtype=np.int64), data, None)
    assert _native.column_signatures(benzer.Text().reader, column, "fast", "mixed", 16, 0, 1).shape == (1, 16)
    with pytest.raises(SettingsError, match="must be read-only"):
        _native.column_signatures(
            benzer.Text().reader, (column[0], data.copy(), None), "fast", "mixed", 16, 0, 1
        )
