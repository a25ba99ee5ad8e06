"""What the published systems do, done through Benzer's public names: R1 to R19 of docs/reference/sources.md."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benzer
from benzer.advice import advise_shingle_size
from benzer.errors import InputError
from benzer.experiments.hashing import INTEGER_FAMILIES, STRING_HASHES, VECTOR_HASHES, Vocabulary
from benzer.experiments.matrices import (
    characteristic_matrix,
    estimated_similarities,
    signature_matrix,
    signature_steps,
)
from benzer.fields import FIELD_TYPES
from benzer.registry import Registry
from benzer.storage import HOMES
from benzer.verify import bag_jaccard, jaccard_sorted
from tests.redis_server import shared_server
from tests.reference import classical

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LINES = "to be or not to be that is the question"
OTHER = "to be or not to be is that the question"
WORDS = benzer.Text(shingle_size=1)


def test_r01_jaccard_of_sets_of_sorted_sequences_and_of_lists_with_repeats() -> None:
    a, b = [0, 1, 2, 5, 6], [0, 2, 3, 4, 5, 7, 9]
    assert benzer.jaccard(set(a), set(b)) == jaccard_sorted(a, b) == 3 / 9
    assert benzer.jaccard([2, 2, 3, 4], [1, 5, 4, 2]) == jaccard_sorted([2, 2, 3, 4], [1, 2, 4, 5]) == 2 / 5
    with pytest.raises(InputError, match="sort it first"):
        jaccard_sorted([2, 1], [1, 2])


def test_r02_bags_by_both_conventions() -> None:
    a, b = LINES.split(), OTHER.split()[:6]
    for union in ("sum", "max"):
        assert bag_jaccard(a, b, union=union) == pytest.approx(classical.bag_similarity(a, b, union))
    assert bag_jaccard(a, a, union="sum") == 1 / 2


REPRESENTATIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"shingle_size": 1}, ["to", "be", "or", "not", "that", "is", "the", "question"]),
    ({"shingle_size": 1, "stop_words": ["to", "be", "or", "the"]}, ["not", "that", "is", "question"]),
    ({"shingle_size": 3}, [" ".join(LINES.split()[i : i + 3]) for i in range(8)]),
    ({"unit": "char", "shingle_size": 9}, [LINES[i : i + 9] for i in range(len(LINES) - 8)]),
]


@pytest.mark.parametrize("options, elements", REPRESENTATIONS)
def test_r03_representations_of_a_text(options: dict[str, Any], elements: list[str]) -> None:
    field = benzer.Text(**options)
    assert list(dict.fromkeys(field.shingles(LINES))) == elements
    assert field.shared(LINES, LINES) == elements
    assert len(field.sets([LINES])[1]) == len(elements)


def test_r03_bags_of_words_count_how_often() -> None:
    words = benzer.Schema(text=benzer.Text(shingle_size=1, frequencies=True))
    compared = benzer.compare(LINES, "to be", words)
    assert compared.fields["text"].shingles_a == len(LINES.split())
    assert compared.similarity == bag_jaccard(LINES.split(), ["to", "be"])


def test_r03_stop_words_of_a_language() -> None:
    field = benzer.Text(shingle_size=1, stop_words="english")
    assert field.shingles(LINES) == ["question"]


def test_r03_words_become_ids_in_order_of_first_sight() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.ids(LINES.split()) == [0, 1, 2, 3, 0, 1, 4, 5, 6, 7]
    assert (len(vocabulary), vocabulary.bits) == (8, 3)
    assert vocabulary.words([4, 5, 6, 7]) == ["that", "is", "the", "question"]
    words = set(LINES.split()), set(OTHER.split()[:5])
    ids = [set(vocabulary.ids(one)) for one in words]
    assert benzer.jaccard(*ids) == benzer.jaccard(*words)


def test_r04_white_space_as_it_is_or_folded() -> None:
    kept = benzer.Text(unit="char", shingle_size=3, whitespace="keep")
    assert kept.shingles("a  b\n") == ["a  ", "  b", " b\n"]
    assert benzer.Text(unit="char", shingle_size=3).shingles("a  b\n") == ["a b"]


def test_r04_shingles_are_hashed_to_four_or_eight_bytes() -> None:
    eight = benzer.Text().shingle_hashes(LINES)
    four = benzer.Text(hash_bytes=4).shingle_hashes(LINES)
    assert (four == eight % np.uint64(2**32)).all()
    assert (eight >= 2**32).any()


def test_r04_the_size_is_advised_from_the_corpus() -> None:
    lines = (EXAMPLES / "data" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    short = advise_shingle_size([text[:300] for text in texts if text.isascii() and len(text) > 300])
    long = advise_shingle_size([" ".join(texts[i : i + 40]) for i in range(0, 200, 40)])
    assert 4 <= short.size < long.size <= 12
    assert str(short.size) in str(short)


def test_r05_the_signature_matrix_of_the_characteristic_matrix() -> None:
    sets = [{"a", "d"}, {"c"}, {"b", "d", "e"}, {"a", "c", "d"}]
    characteristic = characteristic_matrix(sets, universe="abcde")
    assert characteristic.elements == tuple("abcde")
    assert characteristic.matrix.tolist() == [[element in one for one in sets] for element in "abcde"]
    functions = [[(x + 1) % 5 for x in range(5)], [(3 * x + 1) % 5 for x in range(5)]]
    by_row = list(signature_steps(characteristic, functions))
    assert len(by_row) == 5
    signatures = signature_matrix(characteristic, functions)
    assert (signatures == by_row[-1]).all()
    shares = [[(signatures[:, a] == signatures[:, b]).mean() for a in range(4)] for b in range(4)]
    assert estimated_similarities(signatures).tolist() == shares


@pytest.mark.parametrize("name", STRING_HASHES.names)
def test_r06_strings_become_integers(name: str) -> None:
    hashed = STRING_HASHES.load(name)()
    values = hashed.hashes(["he", "she", ""])
    assert [int(value) for value in values] == [hashed.hash(text) for text in ("he", "she", "")]
    assert all(0 <= int(value) < 2**hashed.bits for value in values)


def test_r06_the_two_string_hashes_of_the_sources() -> None:
    assert STRING_HASHES.load("djb2a")().hash("she") == classical.djb2a("she")
    assert STRING_HASHES.load("murmur3_32")(seed=7).hash("she") == classical.murmur3(b"she", 7)


@pytest.mark.parametrize("name", INTEGER_FAMILIES.names)
def test_r07_a_seeded_collection_of_functions_is_evaluated_on_one_shingle(name: str) -> None:
    family = INTEGER_FAMILIES.load(name)(seed=1337)
    shingle = STRING_HASHES.load("djb2a")().hash("he")
    values = family.values(np.array([shingle], dtype=np.uint64), 500)
    assert values.shape == (500, 1)
    assert (
        values == INTEGER_FAMILIES.load(name)(seed=1337).values(np.array([shingle], np.uint64), 500)
    ).all()
    assert len(np.unique(values)) > 490


@pytest.mark.parametrize("algorithm", ["kmins", "bottomk"])
def test_r08_signatures_by_many_functions_and_by_one(algorithm: str) -> None:
    a, b = np.arange(0, 300, dtype=np.uint64), np.arange(100, 400, dtype=np.uint64)
    minhash = benzer.MinHash(algorithm, num_hashes=400)
    signatures = minhash.signature(a), minhash.signature(b)
    error = minhash.standard_error(0.5, union_size=400)
    assert abs(float(minhash.estimate(*signatures)) - 0.5) <= 6 * error
    if algorithm == "bottomk":
        assert float(minhash.estimate(*signatures)) == 0.5
        assert float(minhash.estimate(*signatures, estimator="overlap")) == 200 / 400


def test_r09_similarity_of_signatures_by_equal_positions_and_as_sets() -> None:
    minhash = benzer.MinHash("kmins", num_hashes=4)
    a, b = np.array([1, 2, 3, 4], dtype=np.uint32), np.array([1, 2, 9, 3], dtype=np.uint32)
    assert float(minhash.estimate(a, b)) == 2 / 4
    assert float(minhash.estimate(a, b, estimator="set_jaccard")) == 3 / 5


def test_r10_bands_by_rows_by_threshold_and_by_recall() -> None:
    assert benzer.Bands.with_rows(20, num_hashes=100) == benzer.Bands(5, 20)
    assert benzer.Bands.by_rule("pick_bands", 0.8, 100) == benzer.Bands(10, 10)
    knee = benzer.Bands.by_rule("inverse_root", 0.55, 100)
    assert (1 / knee.bands) ** (1 / knee.rows) == pytest.approx(0.55, abs=0.01)
    assert benzer.Bands.for_recall(0.8, 0.95).probability(0.8) >= 0.95


def test_r10_the_values_of_a_band_are_hashed_as_the_sources_do() -> None:
    bands = benzer.Bands(20, 5)
    signature = benzer.MinHash(num_hashes=100).signature(range(30))
    cut = signature.reshape(bands.bands, bands.rows)
    assert VECTOR_HASHES.load("hash_vec")().hashes(cut).tolist() == [
        classical.hash_vec(band) for band in cut.tolist()
    ]
    joined = ["-".join(map(str, band)) for band in cut.tolist()]
    found = VECTOR_HASHES.load("joined_djb2a")(separator="-").hashes(cut)
    assert found.tolist() == [classical.djb2a(text) for text in joined]


@pytest.mark.parametrize("name", VECTOR_HASHES.names)
def test_r10_vectors_of_every_shape_are_hashed_and_what_is_no_vector_is_refused(name: str) -> None:
    hashed = VECTOR_HASHES.load(name)()
    values = np.random.default_rng(10).integers(0, 2**32, size=(4, 3, 5), dtype=np.uint32)
    alone = [[hashed.hashes(values[i, j]).item() for j in range(3)] for i in range(4)]
    assert hashed.hashes(values).tolist() == alone
    assert hashed.hashes(values[:0]).shape == (0, 3)
    for wrong in ([-1], [2**32], [2**64], [0.5], [[1], [1, 2]], 7):
        with pytest.raises(InputError, match="values must be"):
            hashed.hashes(wrong)


def settings(threshold: float) -> benzer.IndexSettings:
    return benzer.IndexSettings(benzer.Schema(text=WORDS), threshold=threshold)


def test_r11_the_nearest_of_a_document_are_all_that_share_a_bucket_without_itself() -> None:
    documents = {1: LINES, 2: OTHER, 3: "something else altogether", 4: LINES}
    with benzer.Index.open("memory:", settings(0.5)) as index:
        index.add(documents)
        nearest = index.find_candidates(index.get(1))
        assert {candidate.id for candidate in nearest} == {2, 4}
        assert all(1 <= one.shared_bands <= index.settings.bands.bands for one in nearest)


def test_r12_candidate_pairs_come_once_are_verified_and_what_is_missed_is_estimated() -> None:
    documents = {number: " ".join(LINES.split()[: 3 + number]) for number in range(7)}
    schema = benzer.Schema(text=WORDS)
    found = benzer.find_duplicates(
        documents, schema=schema, threshold=0.7, options=benzer.Options(bands=benzer.Bands(60, 1))
    )
    truth = {
        (a, b): benzer.jaccard(documents[a].split(), documents[b].split())
        for a, b in combinations(documents, 2)
    }
    pairs = {(pair.left_id, pair.right_id): pair.similarity for pair in found.expanded_pairs()}
    assert len(pairs) == len(found.expanded_pairs())
    assert all(a < b for a, b in pairs)
    assert pairs == {pair: similarity for pair, similarity in truth.items() if similarity >= 0.7}
    false_positives = found.counts["candidates"] - len(found.pairs)
    assert false_positives > 0
    missed = sum(1 / found.probability(similarity) - 1 for similarity in pairs.values())
    assert 0 <= missed < 1e-9


def test_r13_documents_of_values_text_and_image() -> None:
    bright, dark = (np.tile(np.arange(0, 240, 2, dtype=np.uint8), (120, 1)) // part for part in (1, 2))
    noise = np.random.default_rng(1).integers(0, 256, size=(120, 120), dtype=np.uint8)
    schema = benzer.Schema(title=benzer.Text(shingle_size=1), tags=benzer.ValueSet(), photo=benzer.Image())
    with benzer.Index.open("memory:", benzer.IndexSettings(schema, threshold=0.3)) as index:
        index.add([
            {"id": "a", "title": "a green field", "tags": ["field", "green"], "photo": bright},
            {"id": "b", "title": "snow at night", "tags": ["snow", "night"], "photo": noise},
        ])  # fmt: skip
        asked = {"title": "one green field", "tags": ["field"], "photo": dark}
        (match,) = index.find_similar(asked)
    assert match.id == "a"
    assert match.fields == {"title": 2 / 4, "tags": 1 / 2, "photo": 1.0}  # half as bright: the same ranks
    assert match.similarity == pytest.approx((2 / 4 + 1 / 2 + 1.0) / 3)


def test_r14_two_verbs_index_and_find_similar() -> None:
    with benzer.Index.open("memory:", settings(0.5)) as index:
        assert index.add([("a", LINES), ("b", "something else altogether")]) == 2
        assert [match.id for match in index.find_similar(OTHER)] == ["a"]


def locations(folder: Path) -> list[str | Path]:
    """An index in memory, one in a file, and one in a Redis server."""
    return ["memory:", folder / "index.benzer", f"{shared_server().url}?prefix={folder.name}"]


def test_r15_documents_live_in_memory_in_a_file_and_in_redis(tmp_path: Path) -> None:
    assert set(HOMES.names) == {"memory", "file", "redis"}
    for location in locations(tmp_path):
        with benzer.Index.open(location, settings(0.5)) as index:
            index.add([("a", LINES), ("b", "something else altogether")])
            assert [match.id for match in index.find_similar(OTHER)] == ["a"]
            assert [one.id for one in index.find_candidates(OTHER)] == ["a"]
            assert (index.signature("a")["text"] == index.settings.minhash.of(WORDS, [LINES])[0]).all()


def test_r16_minhash_home_and_field_are_chosen_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    types = Registry(FIELD_TYPES.noun, FIELD_TYPES.paths)
    monkeypatch.setattr("benzer.fields.schema.FIELD_TYPES", types)
    types.add("melody", "melody:Melody")
    schema = benzer.Schema(tune=types.load("melody")(run=2))
    minhash = benzer.IndexSettings(schema, threshold=0.5, minhash="kmins")
    for location in locations(tmp_path):
        with benzer.Index.open(location, minhash) as index:
            index.add([{"id": "up", "tune": [1, 2, 4, 7]}, {"id": "down", "tune": [7, 4, 2, 1]}])
            assert [match.id for match in index.find_similar({"tune": [11, 12, 14, 17]})] == ["up"]


def test_r17_shingles_in_text_and_local_features_in_images() -> None:
    assert benzer.Text(unit="char").shingles("a field") == ["a fie", " fiel", "field"]
    assert benzer.Image(method="local").to_dict()["method"] == "local"


def test_r18_a_hundred_hashes_of_four_bytes_beside_the_document() -> None:
    with benzer.Index.open("memory:", benzer.IndexSettings(num_hashes=100)) as index:
        index.add([("a", LINES)])
        before = index.signature("a")["text"]
        assert before.nbytes == 400
        index.add([("a", OTHER)])
        assert (index.signature("a")["text"] != before).any()
        assert (
            index.signature("a")["text"] == benzer.MinHash(num_hashes=100).of(benzer.Text(), [OTHER])[0]
        ).all()


def test_r19_each_use_has_its_example() -> None:
    page = (EXAMPLES.parent / "docs" / "how-to" / "five-uses.md").read_text(encoding="utf-8")
    for number, use in enumerate(
        ("Duplicates", "Plagiarism", "More like this", "Clustering", "Recommendations"), 1
    ):
        chapter = page.split(f"\n## {number}. {use}\n")[1].split("\n## ")[0]
        assert ">>>" in chapter
