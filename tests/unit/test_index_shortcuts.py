"""What an index keeps in memory, and does natively, changes no answer."""

from __future__ import annotations

import pickle
import random
import threading
from contextlib import closing
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import _native
from benzer._native import band_keys
from benzer.bands import Bands
from benzer.document import Document
from benzer.errors import InputError, StorageError, StoreFormatError
from benzer.fields import Schema, Text, ValueSet
from benzer.fields.image import Image
from benzer.index import Index, IndexSettings
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher
from benzer.storage import NO_KEY, open_storage
from benzer.storage.base import Keys
from benzer.storage.file import FileStorage
from benzer.storage.runs import RunLimits
from tests.reference import similarity as reference

SETTINGS = IndexSettings(Schema(text=Text(shingle_size=1)), threshold=0.3, recall=0.999999)
TINY = {
    "delta_postings": 40, "pending_postings": 200, "block_postings": 5, "slice_postings": 64, "purge_documents": 4,
}  # fmt: skip
ALPHABET = ["one", "two", "Three", "ﬁve", "Σίσυφος", "東京", "\ud800", "x" * 300, "7", "don't"]


def text_of(rng: random.Random, most: int = 9) -> str:
    return " ".join(rng.choices(ALPHABET, k=rng.randrange(most)))


def brute_force(held: dict[str | int, str], asked: str) -> set[tuple[str | int, float]]:
    own = set(SETTINGS.schema.fields["text"].reader.shingle_hashes(asked).tolist())  # type: ignore[union-attr]
    found = set()
    for name, text in held.items():
        other = set(SETTINGS.schema.fields["text"].reader.shingle_hashes(text).tolist())  # type: ignore[union-attr]
        similarity = len(own & other) / len(own | other) if own and other else 0.0
        if similarity >= SETTINGS.threshold:
            found.add((name, similarity))
    return found


def answers(index: Index, asked: str) -> set[tuple[str | int, float]]:
    return {(match.id, match.similarity) for match in index.find_similar(asked, limit=None)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "index.benzer"
    Index.open(place, SETTINGS).close()
    return place


def opened(path: Path, mode: str = "write", **limits: int) -> Index:
    return Index(FileStorage(path, None, mode, 0.05, RunLimits(**{**TINY, **limits})), SETTINGS)


@pytest.mark.parametrize("kept_bytes", [0, 2000, 1 << 20])
def test_a_reader_sees_what_another_writes_whatever_it_keeps(path: Path, kept_bytes: int) -> None:
    rng, held = random.Random(kept_bytes), dict[str | int, str]()
    with closing(opened(path)) as writer, closing(opened(path, "read", kept_bytes=kept_bytes)) as reader:
        for turn in range(40):
            fresh = {f"d{rng.randrange(60)}": text_of(rng) for _ in range(rng.randrange(1, 12))}
            writer.add(fresh)
            gone = rng.sample(sorted(held), min(len(held), turn % 4)) if held else []
            writer.remove(gone)
            asked = [text_of(rng) for _ in range(3)]
            before = [answers(reader, one) for one in asked]
            assert before == [brute_force(held, one) for one in asked]  # nothing is committed yet
            held = {name: text for name, text in {**held, **fresh}.items() if name not in gone}
            assert [answers(writer, one) for one in asked] == [brute_force(held, one) for one in asked]
            writer.compact() if turn % 20 == 19 else writer.commit()
            assert [answers(reader, one) for one in asked] == [brute_force(held, one) for one in asked]


def test_what_was_undone_is_not_kept(path: Path) -> None:
    """The run that comes next has the number of the one that was undone, and other postings."""
    rng, held = random.Random(4), dict[str | int, str]()
    with closing(opened(path)) as index:
        for turn in range(12):
            fresh = {f"{turn}.{at}": text_of(rng) for at in range(60)}
            index.add(fresh)
            assert index.info()["runs"], "the transaction wrote no run: the test shows nothing"
            asked = [*fresh.values()][:5]
            answered = [answers(index, one) for one in asked]
            assert answered == [brute_force({**held, **fresh}, one) for one in asked]
            if turn % 3 == 2:
                index.commit()
                held |= fresh
            else:
                index.rollback()
                assert [answers(index, one) for one in asked] == [brute_force(held, one) for one in asked]


def test_a_few_keys_are_searched_as_many_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    few, many = (
        FileStorage(tmp_path / name, "{}", "write", 0.05, RunLimits(**TINY, few_keys=count))
        for name, count in (("few", 1 << 20), ("many", 0))
    )
    memory = open_storage("memory:", "{}")
    for turn in range(40):
        keys = rng.integers(0, 80, (7, 4)).astype(np.uint64) << np.uint64(rng.choice([0, 20, 57]))
        keys[rng.random(keys.shape) < 0.1] = NO_KEY
        gone = [int(one) for one in rng.integers(0, 7 * turn + 7, 2)]
        asked = np.concatenate((keys, keys[:, ::-1], rng.integers(0, 2**64, (2, 4), np.uint64)))
        found = []
        for storage in (few, many, memory):
            storage.add(list(range(7 * turn, 7 * turn + 7)), [b""] * 7, keys)
            storage.remove(gone)
            found.append(_pairs(storage.candidates(asked)))
            assert _pairs(storage.candidates(asked[:, 1:])) <= found[-1]  # not in one piece in memory
            if turn % 3:
                storage.commit()
        assert found[0] == found[1] == found[2]
        assert found[0], "nothing was found: the test shows nothing"
    for storage in (few, many):
        storage.close()


def _pairs(found: tuple[np.ndarray, np.ndarray]) -> set[tuple[int, int]]:  # type: ignore[type-arg]
    rows, numbers = (part.tolist() for part in found)
    assert list(zip(rows, numbers, strict=True)) == sorted(set(zip(rows, numbers, strict=True)))
    return set(zip(rows, numbers, strict=True))


def documents_of(rng: random.Random, schema: Schema, count: int) -> list[Document]:
    """Documents that lack fields, have empty ones, and hold bytes and what UTF-8 cannot."""
    made = []
    images = [np.arange(64, dtype=np.uint8).reshape(8, 8) * step for step in (1, 2, 3)]
    for number in range(count):
        fields: dict[str, Any] = {}
        for name, field in schema.fields.items():
            words = text_of(rng)
            some = {
                "text": [words, words, None, "", b"two Three"],
                "values": [
                    words.split(" "),
                    words.split(" "),
                    None,
                    [],
                    [7, "7", -(2**70), 7],
                    ['a"b\\', "\n\x7f"],
                ],
                "image": [rng.choice(images), None, np.zeros((4, 4), np.uint8)],
            }
            fields[name] = rng.choice(some[field.kind])
        for name in list(fields)[1:]:
            if rng.random() < 0.2:
                del fields[name]
        made.append(Document(number, fields))
    return made


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "schema",
    [
        Schema(text=Text(shingle_size=1, weight=0.3)),
        Schema(
            a=Text(), b=Text(unit="char", weight=0.7), c=Text(shingle_size=2, frequencies=True, weight=1.9)
        ),
        Schema(a=Text(stop_words=["one"], case="keep"), b=Text(shingle_hash="xxh3", hash_bytes=4, weight=3)),
        Schema(a=ValueSet(weight=0.6)),
        Schema(a=Text(shingle_size=1), b=ValueSet(weight=0.6), c=Image(weight=1.3), d=Image("seed16")),
    ],
)
def test_documents_are_filed_and_compared_natively_as_they_are_by_the_fields(
    schema: Schema, threads: int
) -> None:
    rng = random.Random(7)
    sketcher = Sketcher(schema, MinHash(num_hashes=24, seed=3), Bands(7, 3))
    documents = documents_of(rng, schema, 150)
    payloads, keys = sketcher.filed(documents, threads)
    assert payloads == sketcher.encode(documents)
    expected = keys_by_fields(sketcher, documents)
    assert np.array_equal(keys, expected)
    sets = [sets_by_fields(schema, document) for document in documents]
    for number, question in enumerate(sketcher.ask(documents[:70], threads)):
        assert np.array_equal(question.keys, expected[[number]])
        wanted = [similarities_by_fields(schema, sets[number], other) for other in sets]
        np.testing.assert_array_equal(question.similarities(payloads), wanted)
        for least, limit in ((0.0, None), (0.4, 5), (1.0, 1)):
            places = sorted(range(len(wanted)), key=lambda at: -wanted[at][0])
            best = [(at, *wanted[at]) for at in places if wanted[at][0] >= least][:limit]
            # as text, where not-a-number equals itself
            found = [
                (at, s, *([s] if each is None else each))
                for at, s, each in question.best(payloads, least, limit)
            ]
            assert repr(found) == repr(best)


def keys_by_fields(sketcher: Sketcher, documents: list[Document]) -> np.ndarray:  # type: ignore[type-arg]
    """Band keys from the sets that the fields themselves make."""
    found = []
    for number, (name, field) in enumerate(sketcher.schema.fields.items()):
        sets = field.sets([document.fields.get(name) for document in documents])
        signatures = sketcher.minhash.signatures(*sets, hashed=True)
        found.append(band_keys(signatures, sketcher.bands.bands, sketcher.bands.rows, number))
    return np.concatenate(found, axis=1)


def sets_by_fields(schema: Schema, document: Document) -> list[set[int] | None]:
    """The set of each field, as the field itself makes it."""
    contents = {name: document.fields.get(name) for name in schema.fields}
    return [
        None if content is None else set(schema.fields[name].sets([content])[1].tolist())
        for name, content in contents.items()
    ]


def similarities_by_fields(schema: Schema, a: list[set[int] | None], b: list[set[int] | None]) -> list[float]:
    """The similarity of two documents, and of each field, by the reference."""
    each = [nan if x is None or y is None else reference.jaccard(x, y) for x, y in zip(a, b, strict=True)]
    return [reference.document_similarity(a, b, schema.weights), *each]


def test_a_sketcher_that_has_been_used_can_be_pickled() -> None:
    sketcher = SETTINGS.sketcher()
    sketcher.ask([Document(1, "one two")])
    again = pickle.loads(pickle.dumps(sketcher))  # noqa: S301
    assert again == sketcher
    assert (
        again.ask([Document(1, "one two")])[0].keys.tolist()
        == sketcher.keys([Document(1, "one two")]).tolist()
    )


def test_a_document_that_another_removed_is_not_remembered(path: Path) -> None:
    with closing(opened(path)) as writer, closing(opened(path, "read")) as reader:
        writer.add({"a": "one two", "b": "one two Three"})
        writer.commit()
        storage = reader._storage
        numbers = storage.numbers(["a", "b", "a"])
        for _ in range(2):
            assert storage.documents(numbers)[0] == ["a", "b", "a"]
        writer.remove(["a"])
        assert storage.documents(numbers)[0] == ["a", "b", "a"]  # nothing is committed yet
        with pytest.raises(StorageError, match="no longer exists"):
            writer._storage.documents(numbers)
        with storage.snapshot():
            writer.commit()
            assert storage.documents(numbers)[0] == ["a", "b", "a"]
        with pytest.raises(StorageError, match="no longer exists"):
            storage.documents(numbers)
        assert storage.documents(numbers[1:2]) == (["b"], storage.payloads(numbers[1:2]))


def test_a_number_that_was_undone_may_be_that_of_another_document(path: Path) -> None:
    with closing(opened(path)) as one:
        one.add({"a": "one two"})
        assert one._storage.documents([0])[0] == ["a"]
        one.rollback()
        with closing(opened(path)) as other:
            other.add({"b": "Three"})
            other.commit()
        assert one._storage.documents([0])[0] == ["b"]


def test_threads_ask_and_add_at_once(path: Path) -> None:
    """Each question finds the documents of its own thread, which no other changes."""
    faults: list[object] = []
    with closing(opened(path, kept_bytes=2000)) as index:

        def work(own: int) -> None:
            for turn in range(25):
                text = " ".join(f"w{own}x{turn // 5}y{at}" for at in range(8))
                index.add([(f"{own}.{turn}", text)])
                found = {name for name, _ in answers(index, text)}
                if found != {f"{own}.{at}" for at in range(turn // 5 * 5, turn + 1)}:
                    faults.append((own, turn, found))

        threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert faults == []


def test_a_damaged_block_is_not_kept(path: Path) -> None:
    with closing(opened(path)) as index:
        index.add({f"d{at}": f"one two {at}" for at in range(60)})
        index.commit()
        index._storage._session.run("UPDATE block SET checksum = checksum + 1")  # type: ignore[attr-defined]
        for _ in range(2):
            with pytest.raises(StoreFormatError, match="is damaged: restore the file from a copy"):
                index.find_similar("one two 3")


def keys_of(*numbers: int) -> Keys:
    return np.array([numbers], np.uint64)


def test_native_arguments_that_do_not_fit_are_refused() -> None:
    blocks = _native.Blocks(1000)
    with pytest.raises(StorageError, match="was not handed over"):
        blocks.search(keys_of(1), [(1, 1)], [])
    with pytest.raises(StoreFormatError, match="as many keys as numbers"):
        blocks.put([1 << 32], [(1 << 32, b"12345678", b"12")])
    assert blocks.missing(keys_of(1), [(1, 1)]) == [1 << 32]
    blocks.put([1 << 32], [])
    assert len(blocks) == 1
    assert [part.tolist() for part in blocks.search(keys_of(1), [(1, 1)], [])] == [[], []]
    rules = SETTINGS.sketcher().rules
    with pytest.raises(InputError, match="text 1 is not valid UTF-8 at byte 1"):
        rules.file([["a"], [b"b\xff"]], 1)
    (question,) = rules.ask([["one"]], 1)
    with pytest.raises(StoreFormatError, match="candidate 0 is not a document of these fields"):
        question.best([b"\1\0"], 0.0, None)


@pytest.mark.parametrize("limit", [2**63, 10**20])
def test_a_limit_above_every_number_of_the_machine_is_no_limit(limit: int) -> None:
    with Index.open("memory:") as index:
        index.add(
            [Document("a", "one two three four five six"), Document("b", "seven eight nine ten eleven")]
        )
        assert [match.id for match in index.find_similar("one two three four five six", limit=limit)] == ["a"]


def test_an_interrupt_right_after_the_rollback_leaves_nothing_half_undone(tmp_path: Path) -> None:
    class Interrupting:
        """A connection after whose ROLLBACK Ctrl-C is pressed."""

        def __init__(self, connection: Any) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, statement: str, *given: Any) -> Any:
            answer = self._connection.execute(statement, *given)
            if statement == "ROLLBACK":
                raise KeyboardInterrupt
            return answer

    with Index.open(tmp_path / "one.benzer") as index:
        index.add([Document("a", "one two three four five six")])
        index.commit()
        session = index._storage._session
        index.add([Document("b", "seven eight nine ten eleven twelve")])
        plain, session._connection = session._connection, Interrupting(session._connection)
        with pytest.raises(KeyboardInterrupt):
            index.rollback()
        session._connection = plain
        index.add([Document("c", "seven eight nine ten eleven twelve")])
        index.commit()
    with Index.open(tmp_path / "one.benzer", mode="read") as index:
        index.check()
        assert ("a" in index, "b" in index, "c" in index, len(index)) == (True, False, True, 2)
