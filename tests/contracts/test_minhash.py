"""What every minhash algorithm must do: one suite over all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benzer import MinHash, Text
from benzer.errors import SettingsError
from benzer.experiments.hashing import INTEGER_FAMILIES

ALGORITHMS = ("fast", "kmins", "bottomk")
MAKERS = [*ALGORITHMS, *(f"kmins {family}" for family in INTEGER_FAMILIES.names if family != "mixed")]
SIZES = (0, 1, 2, 17, 64, 300, 5000)
EMPTY = 2**32 - 1


@pytest.fixture(params=MAKERS)
def minhash(request: pytest.FixtureRequest) -> MinHash:
    """A sketch by the name of its algorithm and, where it takes another, of its family of hash functions."""
    algorithm, _, family = request.param.partition(" ")
    return MinHash(algorithm, num_hashes=64, seed=5, family=family or "mixed")


def hashes(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, count]).integers(0, 2**64, count, dtype=np.uint64)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("count", SIZES)
def test_order_and_repeats_do_not_matter(minhash: MinHash, count: int) -> None:
    plain = hashes(count)
    assert (minhash.signature(plain) == minhash.signature(np.concatenate((plain[::-1], plain)))).all()


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("count", SIZES)
def test_the_merge_is_the_signature_of_the_union(minhash: MinHash, count: int) -> None:
    a, b = hashes(count), hashes(100, seed=1)
    union = minhash.signature(np.concatenate((a, b)))
    assert (minhash.merge(minhash.signature(a), minhash.signature(b)) == union).all()
    assert (minhash.merge(union, minhash.signature(a)) == union).all()


def test_a_batch_gives_what_each_gives_alone_for_any_number_of_threads(minhash: MinHash) -> None:
    sets = [hashes(count, seed) for seed in range(100) for count in SIZES]
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    alone = np.stack([minhash.signature(one) for one in sets])
    for threads in (1, 2, 4):
        assert (minhash.signatures(offsets, np.concatenate(sets), threads=threads) == alone).all()


def test_texts_give_what_their_shingle_hashes_give(minhash: MinHash) -> None:
    texts = ["the quick brown fox jumps over the lazy dog", "", "x", "東京都の天気"] * 100
    field = Text()
    alone = np.stack([minhash.signature(field.shingle_hashes(text), hashed=True) for text in texts])
    for threads in (1, 2):
        assert (minhash.of(field, texts, threads=threads) == alone).all()


def test_equal_sets_are_estimated_as_equal_and_the_empty_set_like_itself_only(minhash: MinHash) -> None:
    empty, some = minhash.signature(hashes(0)), minhash.signature(hashes(30))
    assert (empty == EMPTY).all()
    assert (minhash.estimate(some, some), minhash.estimate(empty, empty)) == (1.0, 1.0)
    assert minhash.estimate(empty, some) == 0.0


def test_seeds_make_independent_signatures(minhash: MinHash) -> None:
    other = replace(minhash, seed=6)
    assert minhash.estimate(minhash.signature(hashes(500)), other.signature(hashes(500))) < 0.1


def test_signatures_have_one_shape_and_type(minhash: MinHash) -> None:
    signature = minhash.signature(hashes(10))
    assert (signature.shape, signature.dtype) == ((64,), np.uint32)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("num_hashes", [0, -1, 65_536])
def test_lengths_that_make_no_signature_are_refused(algorithm: str, num_hashes: int) -> None:
    with pytest.raises(
        SettingsError, match=r"num_hashes must be a whole number from 1 to 65535, got -?[0-9]+: try 128"
    ):
        MinHash(algorithm, num_hashes=num_hashes)
