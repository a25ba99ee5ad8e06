"""The families of hash functions give what the reference gives, and refuse what makes no function."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import Bands, Document, MinHash, Schema
from benzer.errors import InputError, SettingsError
from benzer.experiments import hashing
from benzer.experiments.hashing import (
    INTEGER_FAMILIES,
    KNUTH,
    MERSENNE_61,
    STRING_HASHES,
    Djb2a,
    HashFamily,
    Linear,
    Modular,
    Multiplicative,
    MultiplyShift,
    Universal,
    signed,
)
from benzer.experiments.hashing.affine import is_prime, next_prime
from benzer.index.settings import IndexSettings
from benzer.minhash import FAMILIES
from benzer.registry import Registry
from benzer.sketcher import Sketcher
from tests.arrays import random_set
from tests.native import signatures
from tests.reference import families as reference

EDGES = [0, 1, 2, 255, 256, 2**31, 2**32 - 1, 2**32, MERSENNE_61 - 1, MERSENNE_61, 2**63, 2**64 - 1]
SEEDS = (0, 1337, 2**64 - 1)
every_family = pytest.mark.parametrize("family", INTEGER_FAMILIES.names)
AFFINE = ("linear", "mixed", "modular", "multiplicative", "multiply_shift", "universal")


def load(family: str, seed: int = 0) -> HashFamily:
    """A family of a seed."""
    made: HashFamily = INTEGER_FAMILIES.load(family)(seed)
    return made


def test_minhash_accepts_every_family() -> None:
    assert INTEGER_FAMILIES.names == FAMILIES


def test_the_reference_knows_every_family() -> None:
    assert sorted(reference.FAMILIES) == list(INTEGER_FAMILIES.names)


@every_family
@pytest.mark.parametrize("seed", SEEDS)
def test_values_are_those_of_the_reference(family: str, seed: int, isa: str) -> None:
    elements = [*EDGES, *sorted(random_set(30, 1))]
    expected = [[function(x) for x in elements] for function in reference.functions(family, seed, 6)]
    values = load(family, seed).values(np.array(elements, dtype=np.uint64), 6)
    assert (values.dtype, values.tolist()) == (np.uint64, expected)
    assert load(family, seed).values(elements, 2).tolist() == expected[:2]


@every_family
@pytest.mark.parametrize("size", [0, 1, 17, 100])
def test_kmins_takes_the_minima_of_every_family(family: str, size: int, isa: str) -> None:
    members = random_set(size, size)
    expected = reference.kmins(family, members, 12, 5)
    assert signatures("kmins", [members], 12, 5, family=family).tolist() == [expected]
    assert MinHash("kmins", 12, 5, family).signature(sorted(members)).tolist() == expected


@every_family
def test_values_lie_in_the_range_that_the_family_names(family: str) -> None:
    made = load(family)
    values = made.values(sorted(random_set(5000, 2)), 8)
    largest = int(values.max())
    assert (made.size - 1).bit_length() == made.bits
    assert made.size * 0.999 < largest < made.size


@every_family
def test_many_values_are_the_same_for_any_number_of_threads(family: str) -> None:
    elements = sorted(random_set(3000, 3))
    alone = load(family).values(elements, 65, threads=1)
    assert alone.shape == (65, 3000)
    assert (load(family).values(elements, 65, threads=2) == alone).all()
    assert (load(family).values(elements[:7], 65)[64] == alone[64, :7]).all()


@every_family
def test_a_family_is_a_value_and_another_seed_is_another(family: str) -> None:
    assert load(family, 3) == load(family, 3)
    assert len({load(family, 3), load(family, 3), load(family, 4)}) == 2
    assert (load(family, 3).values([1, 2, 3], 4) != load(family, 4).values([1, 2, 3], 4)).any()
    with pytest.raises(AttributeError):
        load(family).seed = 3  # type: ignore[misc]


@every_family
def test_no_elements_have_no_values(family: str) -> None:
    assert load(family).values([], 3).shape == (3, 0)


@pytest.mark.parametrize("family", [name for name in AFFINE if name != "mixed"])
def test_the_numbers_of_a_draw_make_its_functions(family: str) -> None:
    drawn: Any = load(family, 9)
    numbers = drawn.parameters(5)
    assert {array.dtype for array in numbers} == {np.dtype(np.uint64)}
    given = {"multipliers": numbers.multipliers.tolist(), "addends": numbers.addends.tolist()}
    if family == "multiplicative":
        assert given.pop("addends") == [0] * 5
    made = INTEGER_FAMILIES.load(family)(**given)
    assert (made.values(EDGES, 5) == drawn.values(EDGES, 5)).all()
    assert [array.tolist() for array in made.parameters(2)] == [array.tolist()[:2] for array in numbers]


def test_mixed_numbers_are_those_after_the_mixer() -> None:
    mixed = INTEGER_FAMILIES.load("mixed")(4)
    multipliers, addends = mixed.parameters(3)
    assert (multipliers % np.uint64(2) == 1).all()
    assert (addends == MultiplyShift(4).parameters(4).addends[:3]).sum() == 0


def test_given_numbers_count_modulo_the_word_of_the_family() -> None:
    plain = Linear(multipliers=[2**32 - 5], addends=[2**32 - 1]).values(EDGES, 1)
    assert (Linear(multipliers=[-5], addends=[-1]).values(EDGES, 1) == plain).all()
    assert Modular(p=7, multipliers=[-1, 15]).multipliers == (6, 1)
    assert Universal(multipliers=np.array([3, 5])).multipliers == (3, 5)  # type: ignore[arg-type]


def test_the_collection_of_java_is_that_of_the_source() -> None:
    family = Linear(seed=1337)
    x = Djb2a().hash("he")
    values = signed(family.values([x], 10))[:, 0].tolist()
    assert values[:3] == [480357896, 1614176836, 543325601]
    assert values[-2:] == [-789411859, -145694732]
    exact = Modular(
        p=999999999989, **{k: signed(v).tolist() for k, v in family.parameters(10)._asdict().items()}
    )
    assert exact.values([x], 10)[[0, 1, 9], 0].tolist() == [293140713005, 195425796639, 748920428300]


def test_a_signed_remainder_fills_zero_twice() -> None:
    values = signed(Linear(seed=1337).values(range(1, 100_001), 1))[0]
    counts = Counter(np.fmod(values, 13).tolist())
    assert (len(counts), counts.pop(0)) == (25, 7704)
    assert (min(counts.values()), max(counts.values())) == (3837, 3867)


@pytest.mark.parametrize("bits, value, expected", [(32, 2**31, -(2**31)), (64, 2**64 - 1, -1), (5, 15, 15)])
def test_signed_reads_twos_complement(bits: int, value: int, expected: int) -> None:
    assert signed(np.array([[value]], dtype=np.uint64), bits).tolist() == [[expected]]


def test_the_values_of_a_signature_can_be_read_as_signed_too() -> None:
    assert signed(np.array([7, 2**32 - 7], dtype=np.uint32)).tolist() == [7, -7]  # type: ignore[arg-type]


def test_knuths_multiplier_gives_the_worked_value() -> None:
    assert round(2**32 * 2 / (1 + 5**0.5)) == KNUTH
    assert Multiplicative(bits=14, multipliers=[KNUTH]).values([123456], 1).tolist() == [[67]]


def test_primes_are_told_from_other_numbers() -> None:
    sieve = [n for n in range(2000) if n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))]
    assert [n for n in range(2000) if is_prime(n)] == sieve
    pseudoprimes = [2047, 3215031751, 3825123056546413051, (2**31 - 1) * (2**31 - 1)]
    assert not any(map(is_prime, pseudoprimes))
    assert all(map(is_prime, [MERSENNE_61, 999999999989, 2**64 - 59]))
    assert (next_prime(5), next_prime(27**4)) == (7, 531457)


@pytest.mark.parametrize("number", [-5, 0, 1])
def test_the_first_prime_is_above_all_that_is_not(number: int) -> None:
    assert next_prime(number) == 2


@pytest.mark.parametrize(
    "family, settings",
    [
        (Modular, {"seed": 3, "p": 999999999989}),
        (Modular, {"p": 7, "multipliers": [3], "addends": [2]}),
        (Multiplicative, {"seed": 3, "bits": 14}),
        (MultiplyShift, {"seed": 3}),
        (Linear, {"seed": 3}),
        (Universal, {"seed": 3, "bits": 14}),
        (INTEGER_FAMILIES.load("mixed"), {"seed": 3}),
        (INTEGER_FAMILIES.load("xxh3"), {"seed": 3}),
    ],
)
def test_numbers_of_numpy_are_numbers(family: Any, settings: dict[str, Any]) -> None:
    plain = family(**settings)
    given = family(
        **{
            name: np.array(value, dtype=np.int64) if isinstance(value, list) else np.int64(value)
            for name, value in settings.items()
        }
    )
    assert repr(given) == repr(plain)
    assert (given, given.bits, given.size) == (plain, plain.bits, plain.size)
    assert (given.values([1, 2**40], 1) == plain.values([1, 2**40], 1)).all()


def test_a_published_family_takes_numbers_of_numpy() -> None:
    assert Universal.as_published(np.int64(5), 3) == Universal.as_published(5, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values, got",
    [
        (np.array([1]), "an array of int64"),
        (np.array([1.5]), "an array of float64"),
        ([1, 2], "list"),
        (5, "int"),
    ],
)
def test_signed_takes_what_the_families_give_and_no_other_numbers(values: Any, got: str) -> None:
    with pytest.raises(InputError, match=f"values must be a uint64 array, got {got}"):
        signed(values)


REFUSED = [
    (lambda: Modular(p=12), "p must be a prime, got 12: the next prime is 13"),
    (lambda: Modular(p=1), r"p must be a whole number from 2 to 18446744073709551615, got 1"),
    (lambda: Modular(p=5, multipliers=[1, 10]), "a multiplier is 0 modulo 5"),
    (lambda: Modular(addends=[1]), "give a multiplier for each addend"),
    (lambda: Modular(multipliers=[]), "give a multiplier for each addend"),
    (lambda: Linear(multipliers=[1, 2], addends=[3]), "equal in number, got 2 and 1"),
    (lambda: Linear(multipliers=[0.5]), r"multipliers must be whole numbers, got \[0.5\]"),
    (lambda: Multiplicative(multipliers=[4]), "a multiplier must be odd, got 4"),
    (lambda: MultiplyShift(multipliers=[4]), "a multiplier must be odd, got 4"),
    (lambda: Multiplicative(bits=33), "bits must be a whole number from 1 to 32, got 33"),
    (lambda: Universal(bits=0), "bits must be a whole number from 1 to 32, got 0"),
    (lambda: Universal.as_published(0, 3), "bits must be a whole number from 1 to 32, got 0"),
    (lambda: Linear(multipliers=[1]).values([1], 2), "count must be a whole number from 1 to 1, got 2"),
    (lambda: signed(np.zeros(1, dtype=np.uint64), 65), "bits must be a whole number from 1 to 64, got 65"),
]


@pytest.mark.parametrize("make, message", REFUSED)
def test_numbers_that_make_no_function_are_refused(make: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make()


@every_family
def test_what_no_family_can_take_is_refused(family: str) -> None:
    with pytest.raises(
        SettingsError, match="seed must be a whole number from 0 to 18446744073709551615, got -1"
    ):
        load(family, -1)
    for count in (0, 65_536, 1.5):
        with pytest.raises(SettingsError, match=f"count must be a whole number from 1 to 65535, got {count}"):
            load(family).values([1], count)  # type: ignore[arg-type]
    for elements in ([-1], [2**64], np.array([1]), np.array([[1]], dtype=np.uint64)):
        with pytest.raises(InputError, match="elements must be"):
            load(family).values(elements, 1)


def test_an_unknown_family_is_told_with_those_that_exist() -> None:
    with pytest.raises(SettingsError, match=r'no hash family "md5": choose one of .*mixed.*xxh3'):
        MinHash("kmins", family="md5")
    with pytest.raises(SettingsError, match=r'no hash family "md5"'):
        INTEGER_FAMILIES.load("md5")


@pytest.mark.parametrize("algorithm", ["fast", "bottomk"])
def test_only_kmins_takes_another_family(algorithm: str) -> None:
    with pytest.raises(SettingsError, match=rf'"{algorithm}" does not support a family, got family "xxh3"'):
        MinHash(algorithm, family="xxh3")
    assert MinHash(algorithm, family="mixed") == MinHash(algorithm)


@every_family
def test_batch_and_single_documents_are_filed_alike_by_every_family(family: str) -> None:
    """The corpus sketches natively, a search by way of `MinHash`: the band keys must be the same."""
    sketcher = Sketcher(Schema(), MinHash("kmins", 20, 3, family), Bands(5, 4))
    documents = [Document(i, f"the quick brown fox number {i} jumps over the lazy dog") for i in range(40)]
    corpus = sketcher.corpus()
    texts = [document.fields["text"] for document in documents]
    corpus.add(0, range(1, 41), [document.id for document in documents], [texts])
    assert (sketcher.sketch(corpus).keys == sketcher.keys(documents)).all()


def test_settings_name_the_family_only_where_it_is_not_the_default() -> None:
    plain, other = IndexSettings(minhash="kmins"), IndexSettings(minhash="kmins", family="modular")
    assert "family" not in plain.to_dict()
    assert other.to_dict()["family"] == "modular"
    assert (
        other.fingerprint()
        != plain.fingerprint()
        == IndexSettings(minhash="kmins", family="mixed").fingerprint()
    )
    for settings in (plain, other):
        assert IndexSettings.from_json(settings.to_json()) == settings
    with pytest.raises(SettingsError, match='"fast" does not support a family'):
        IndexSettings(family="modular")


@pytest.mark.parametrize("registry", [INTEGER_FAMILIES, STRING_HASHES], ids=lambda registry: registry.noun)
def test_the_reference_page_has_a_row_for_each(registry: Registry) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "hash-families.md"
    text = page.read_text(encoding="utf-8")
    for name in registry.names:
        assert f"| `{name}` | `{registry.load(name).__name__}` |" in text
        assert registry.load(name).name == name


def test_the_room_lists_what_it_holds() -> None:
    assert dir(hashing) == sorted(hashing.__all__)
    assert all(getattr(hashing, name) is not None for name in hashing.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Sha256'"):
        hashing.Sha256  # noqa: B018
