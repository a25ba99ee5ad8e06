"""Where a field has a similarity of its own, measured recall equals an exhaustive comparison, whatever its bands."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import benzer
from benzer import Schema
from benzer.document import Description
from benzer.errors import InputError
from benzer.fields import FIELD_TYPES, Image
from benzer.fields.base import Kind, Sets
from benzer.recall import RecallEstimate, affordable, neighbours
from tests.images import scene


@dataclass(frozen=True)
class Rhyme:
    """Words as sets of letters; two words are similar if their last letters are equal.

    `band_threshold` claims that such words share half of their letters, which is not so.
    """

    weight: float = 1.0
    kind: ClassVar[Kind] = "text"
    reader: ClassVar[None] = None
    own_similarity: ClassVar[bool] = True

    def encode(self, content: Any) -> bytes:
        return content.data if isinstance(content, Description) else str(content).encode()

    def decode(self, data: bytes) -> Description:
        return Description(data)

    def describe(self, contents: Sequence[Any], threads: int = 1) -> list[bytes | InputError]:
        return [self.encode(content) for content in contents]

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        # The code of a letter times an odd number: any 64-bit numbers will do.
        sets = [
            sorted({(1 + one) * 0x9E3779B97F4A7C15 % 2**64 for one in content or b""}) for content in contents
        ]
        offsets = np.array([0, *itertools.accumulate(map(len, sets))], dtype=np.int64)
        return offsets, np.array([value for one in sets for value in one], dtype=np.uint64)

    def sets(self, contents: Sequence[Any], threads: int = 1) -> Sets:
        return self.encoded_sets([None if content is None else self.encode(content) for content in contents])

    def shared(self, a: Any, b: Any) -> list[str]:
        return []

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        return np.array([rhyme(a.decode(), other.decode()) for other in others])

    def band_threshold(self, threshold: float) -> float:
        return 0.5

    def to_dict(self) -> dict[str, Any]:
        return {"type": "rhyme", "weight": self.weight}


FIELD_TYPES.add("rhyme", f"{__name__}:Rhyme")
WORDS = ["".join(letters) for letters in itertools.combinations("abcdefghij", 4)]


def rhyme(a: str, b: str) -> float:
    return 0.9 if a[-1:] == b[-1:] else 0.1


def run_and_measure(words: Sequence[str], **options: Any) -> tuple[set[tuple[Any, Any]], RecallEstimate]:
    run = benzer.find_duplicates(dict(enumerate(words)), schema=Schema(text=Rhyme()), threshold=0.8)
    reported = {(min(pair.left_id, pair.right_id), max(pair.left_id, pair.right_id)) for pair in run.pairs}
    return reported, run.measure_recall(**options)


def true_recall(words: Sequence[str], reported: set[tuple[Any, Any]]) -> tuple[float, float]:
    """The mean share of a document's neighbours that was reported, and the share of all pairs, by comparing all."""
    true = {
        (i, j) for i, j in itertools.combinations(range(len(words)), 2) if rhyme(words[i], words[j]) >= 0.8
    }
    shares = [
        [pair in reported for pair in true if one in pair]
        for one in range(len(words))
        if any(one in pair for pair in true)
    ]
    return float(np.mean([np.mean(hits) for hits in shares])), len(true & reported) / len(true)


def test_pairs_whose_sets_are_less_similar_than_the_type_claims_count_as_missed() -> None:
    reported, estimate = run_and_measure(WORDS)
    by_document, by_pair = true_recall(WORDS, reported)
    assert by_document < 0.95
    assert estimate.exhaustive
    assert estimate.recall == pytest.approx(by_document)
    assert estimate.pair_recall == pytest.approx(by_pair)


def test_fewer_documents_are_drawn_than_would_take_too_many_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "MOST_COMPARED", 50 * len(WORDS))
    reported, estimate = run_and_measure(WORDS)
    assert estimate.drawn == 50
    assert not estimate.exhaustive
    assert estimate.low <= true_recall(WORDS, reported)[0] <= estimate.high


def test_empty_documents_are_no_neighbours_that_a_run_could_find() -> None:
    words = ["abcd", "xbcd", "", ""]
    reported, estimate = run_and_measure(words)
    assert (estimate.contents, len(reported)) == (2, 1)
    assert estimate.recall == 1.0


def test_as_many_documents_are_compared_as_take_some_minutes() -> None:
    unbounded, bounded = Schema(text=Rhyme()), Schema(image=Image("local"))
    assert [affordable(unbounded, count) for count in (0, 100, 1000, 10**7)] == [0, 100, 300, 20]
    assert [affordable(bounded, count) for count in (100, 10_000, 10**7)] == [100, 600, 20]
    assert affordable(Schema(image=Image("grid")), 10**7) == 10**7


@pytest.mark.parametrize("method", ["grid", "local", "seed16"])
def test_no_pair_of_images_is_more_similar_than_their_sets_allow(method: str) -> None:
    """Crops of a scene, from nearly all of it to a corner, and another scene."""
    field, picture = Image(method), np.kron(scene(1, 120, 160), np.ones((3, 3, 1), dtype=np.uint8))
    crops = [
        picture[offset : offset + size, offset : offset + size]
        for size in (360, 300, 200, 120, 80)
        for offset in (0, 70)
    ]
    descriptions = [field.encode(one) for one in [*crops, scene(2)]]
    sets = [set(field.encoded_sets([one])[1].tolist()) for one in descriptions]
    for at, one in enumerate(descriptions):
        for other, similarity in enumerate(field.compare(one, descriptions).tolist()):
            if similarity > 0:
                assert benzer.jaccard(sets[at], sets[other]) >= field.least_jaccard(similarity)


def test_bands_for_local_images_are_made_for_all_pairs_below_the_calibrated_threshold() -> None:
    field = Image("local")
    assert [field.band_threshold(one) for one in (0.5, 0.75, 1.0)] == [0.005] * 3
    assert [field.band_threshold(one) for one in (0.001, 0.25, 0.499)] == [0.001, 0.0015, 0.0015]
    assert [field.least_jaccard(one) for one in (0.001, 0.25, 1.0)] == [0.001, 0.0015, 0.0015]
