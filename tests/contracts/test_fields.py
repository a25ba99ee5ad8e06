"""What every field type must do: one suite over all of them. A new type adds a row to FIELDS and one to CONTENTS."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

from benzer.errors import BenzerError, SettingsError
from benzer.fields import FIELD_TYPES, Image, Schema, Text, ValueSet
from benzer.fields.schema import field_from_dict
from tests.images import as_file, flat, scene

FIELDS: dict[str, Any] = {
    "words": Text(),
    "characters": Text(unit="char", weight=2.5),
    "as it came": Text(
        unit="char", normalize="none", case="keep", punctuation="keep", whitespace="keep", shingle_size=3
    ),
    "without stop words": Text(stop_words=["the", "a"], shingle_size=2),
    "how often words occur": Text(shingle_size=1, frequencies=True),
    "how often characters occur": Text(unit="char", shingle_size=1, frequencies=True, hash_bytes=4),
    "hashes of four bytes": Text(hash_bytes=4),
    "djb2a": Text(unit="char", shingle_hash="djb2a"),
    "xxh3 of words": Text(shingle_hash="xxh3", hash_bytes=4, frequencies=True),
    "without the words of Turkish": Text(stop_words="tr", shingle_size=2),
    "values": ValueSet(weight=0.5),
    "pictures": Image(weight=3),
    "pictures by local features": Image("local"),
    "pictures as the source saw them": Image("seed16", max_pixels=10**6),
}
TEXTS = [
    "one two three four five",
    "a rose is a rose is a rose is a rose",
    "The sixth — a seventh!",
    "東京都の天気は晴れ",
    "x",
    "",
    "emoji 😀 é",
]
VALUES = [["red", "round"], [1, 2, 3], ["1", 1], [], [10**30, -5], ["é", "\ud800"]]


PICTURES = [scene(1), as_file(scene(2), "PNG"), scene(3)[:, :, 0], as_file(scene(4), "JPEG"), flat(90)]


def contents(field: Any) -> list[Any]:
    return {"text": TEXTS, "values": VALUES, "image": PICTURES}[field.kind]


@pytest.fixture(params=FIELDS, ids=str)
def field(request: pytest.FixtureRequest) -> Any:
    return FIELDS[request.param]


def sets_of(field: Any, given: list[Any], **options: Any) -> list[list[int]]:
    offsets, hashes = field.sets(given, **options)
    assert offsets.dtype == np.int64
    assert hashes.dtype == np.uint64
    return [hashes[start:end].tolist() for start, end in itertools.pairwise(offsets)]


def test_sets_are_ascending_and_without_repeats(field: Any) -> None:
    for one in sets_of(field, contents(field)):
        assert one == sorted(set(one))


def test_a_set_does_not_depend_on_its_neighbours_or_threads(field: Any) -> None:
    given = contents(field)
    alone = [sets_of(field, [content])[0] for content in given]
    assert sets_of(field, given * 10) == alone * 10 == sets_of(field, given * 10, threads=2)


def test_a_missing_content_is_an_empty_set(field: Any) -> None:
    assert sets_of(field, [None]) == [[]]


def test_different_contents_have_different_sets(field: Any) -> None:
    sets = [tuple(one) for one in sets_of(field, contents(field))]
    assert len(set(sets)) == len(sets)


def test_what_is_encoded_has_the_same_set_again(field: Any) -> None:
    given = contents(field)
    encoded = [field.encode(content) for content in given]
    offsets, hashes = field.encoded_sets(encoded)
    again = [hashes[start:end].tolist() for start, end in itertools.pairwise(offsets)]
    assert again == sets_of(field, given) == sets_of(field, [field.decode(data) for data in encoded])


def test_shared_elements_are_those_in_both_sets(field: Any) -> None:
    for content in contents(field):
        assert len(field.shared(content, content)) == len(sets_of(field, [content])[0])
        assert field.shared(content, None) == []


def test_settings_make_an_equal_field_again(field: Any) -> None:
    settings = dict(field.to_dict())
    assert settings["type"] in FIELD_TYPES.names
    assert field_from_dict(settings) == field == pickle.loads(pickle.dumps(field))  # noqa: S301
    assert hash(field_from_dict(settings)) == hash(field)


def test_the_wrong_kind_of_content_is_refused(field: Any) -> None:
    wrong = "a text" if isinstance(field, ValueSet) else ["a", "list"]
    with pytest.raises(BenzerError):
        field.sets([wrong])


@pytest.mark.parametrize("weight", [0, -1, float("inf"), float("nan")])
def test_a_weight_that_is_no_weight_is_refused(field: Any, weight: float) -> None:
    with pytest.raises(SettingsError, match="weight must be > 0"):
        field_from_dict({**field.to_dict(), "weight": weight})


def test_a_schema_survives_as_json_and_as_pickle() -> None:
    schema = Schema(**{name.replace(" ", "_"): field for name, field in FIELDS.items()})
    assert Schema.from_dict(schema.to_dict()) == schema == pickle.loads(pickle.dumps(schema))  # noqa: S301
