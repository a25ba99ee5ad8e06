"""Options check their settings when they are created, and every function accepts or refuses the same object."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from benzer import Bands, Client, Document, Index, MinHash, Options, find_contained, find_duplicates, price
from benzer.errors import SettingsError

TEXTS = {"a": "one two three four", "b": "One, two, three, four!", "c": "five six seven eight"}


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"minhash": "faster"}, 'there is no minhash algorithm "faster"'),
        ({"num_hashes": 0}, "num_hashes must be a whole number from 1 to 65535, got 0"),
        ({"bands": (20, 5)}, r"bands must be Bands, got \(20, 5\)"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"bucket_limit": 1}, "bucket_limit must be a whole number from 2 to 4294967295, got 1: try 1000"),
        ({"bucket_limit": 2.5}, "bucket_limit must be a whole number from 2 to 4294967295, got 2.5"),
        ({"bucket_limit": 2**70}, "bucket_limit must be a whole number"),
        ({"on_error": "ignore"}, 'on_error must be "stop" or "skip", got "ignore"'),
    ],
)
def test_options_check_their_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Options(**settings)


def test_options_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Options().seed = 3  # type: ignore[misc]


def test_a_minhash_sets_the_number_of_hashes_and_the_seed() -> None:
    options = Options(minhash=MinHash(num_hashes=64, seed=9), num_hashes=7, seed=1)
    assert (options.signature(100), options.most_values) == (MinHash(num_hashes=64, seed=9), 64)


def test_one_object_serves_all_functions(tmp_path: Path) -> None:
    options = Options(bands=Bands(12, 2), seed=3, on_error="skip", checkpoint=tmp_path / "saved")
    found = find_duplicates(TEXTS, options=options)
    assert (found.bands, found.settings.minhash.seed) == (Bands(12, 2), 3)
    assert [(one.bands, one.rows) for one in price(TEXTS, options=options).prices] == [(12, 2)] * 5
    assert len(find_contained(TEXTS, options=options)) == len(find_contained(TEXTS))


@pytest.mark.parametrize("options", [Options(seed=1), Options(bands=Bands(3, 2)), Options(minhash="kmins")])
def test_an_index_has_its_own_signatures(options: Options) -> None:
    with Index.open("memory:") as index:
        index.add([Document(name, text) for name, text in TEXTS.items()])
        with pytest.raises(
            SettingsError, match="is not supported for an index, which has its own: remove it"
        ):
            index.find_duplicates(options=options)
        assert list(index.find_duplicates(options=Options(bucket_limit=5)).removed) == ["b"]


def test_a_client_refuses_what_a_service_does_not_accept() -> None:
    with (
        Client("http://127.0.0.1:9") as client,
        pytest.raises(SettingsError, match="the option encoding is not supported for a service: remove it"),
    ):
        client.find_duplicates([], options=Options(encoding="latin-1"))
