"""The pinned vectors: reference and native core both still make them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from benzer import _native
from tests.golden import make_vectors
from tests.native import reader
from tests.reference import minhash
from tests.reference.text import Recipe

VECTORS: dict[str, Any] = json.loads(make_vectors.PATH.read_text(encoding="utf-8"))
SKETCHES = [(algorithm, seed) for algorithm in minhash.ALGORITHMS for seed in make_vectors.SEEDS]


def assert_sketched_as_pinned(hashes: list[int], pinned: dict[str, Any]) -> None:
    """Signatures and band keys of one set."""
    members = np.array(sorted(set(hashes)), dtype=np.uint64)
    offsets = np.array([0, len(members)], dtype=np.int64)
    for algorithm, seed in SKETCHES:
        vector = pinned[f"{algorithm} {seed}"]
        signatures = _native.signatures(algorithm, "mixed", offsets, members, VECTORS["num_hashes"], seed, 1)
        assert signatures.tolist() == [vector["signature"]], (algorithm, seed)
        for field, keys in enumerate(vector["band_keys"]):
            got = _native.band_keys(signatures, VECTORS["bands"], VECTORS["rows"], field)
            assert [f"{key:016x}" for key in got[0].tolist()] == keys, (algorithm, seed, field)


def test_the_reference_still_makes_the_pinned_vectors() -> None:
    assert json.loads(json.dumps(make_vectors.make_vectors())) == VECTORS


def recipe_of(vector: dict[str, Any]) -> Recipe:
    """The recipe that a vector was made by."""
    return Recipe(**vector["recipe"] | {"stop_words": tuple(vector["recipe"]["stop_words"])})


@pytest.mark.parametrize("name", VECTORS["texts"])
def test_texts_are_read_and_sketched_as_pinned(name: str, isa: str) -> None:
    vector = VECTORS["texts"][name]
    recipe = recipe_of(vector)
    if vector["tokens"] is not None:
        assert reader(recipe).tokens(vector["text"]) == vector["tokens"]
    hashes = reader(recipe).shingle_hashes(vector["text"]).tolist()
    assert [f"{value:016x}" for value in hashes] == vector["shingle_hashes"]
    assert_sketched_as_pinned(hashes, vector["sketches"])


@pytest.mark.parametrize("name", VECTORS["elements"])
def test_elements_of_other_kinds_are_as_pinned(name: str, isa: str) -> None:
    vector = VECTORS["elements"][name]
    elements = reader(recipe_of(vector)).shingle_hashes(vector["text"]).tolist()
    assert [f"{one:x}" for one in elements] == vector["elements"]


@pytest.mark.parametrize("name", VECTORS["value_sets"])
def test_value_sets_are_hashed_and_sketched_as_pinned(name: str, isa: str) -> None:
    vector = VECTORS["value_sets"][name]
    hashes = [_native.value_set_hash(value) for value in vector["values"]]
    assert [f"{value:016x}" for value in hashes] == vector["hashes"]
    assert_sketched_as_pinned(hashes, vector["sketches"])
