"""Arbitrary bytes in place of what an index keeps in Redis: a right answer or an error, never a crash of a script.

`BENZER_FUZZ=100000` tries a thousand faults of each kind instead of 20; `BENZER_FUZZ_SEED` chooses others.
"""

from __future__ import annotations

import os
import random
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import redis

from benzer.errors import StorageError, StoreFormatError
from benzer.storage.redis.session import RedisLimits
from benzer.storage.redis.storage import RedisStorage
from tests.contracts.storages import corpus
from tests.redis_server import RedisServer

CASES = max(20, int(os.environ.get("BENZER_FUZZ", "0")) // 100)  # each is asked about in 13 ways
FIRST = int(os.environ.get("BENZER_FUZZ_SEED", "0"))
DOCUMENTS = 60
IDS, PAYLOADS, KEYS = corpus(DOCUMENTS, seed=3)
"""The documents of the index; some are replaced or removed, so that it has numbers that are not held, too."""
REMOVED = {b"d%d" % number for number in (*range(5), *range(50, 53))}
"""Their records are never read."""

Question = Callable[[RedisStorage], Any]
Judge = Callable[[dict[str, Any], dict[bytes, bytes | None]], list[str]]


def candidates(storage: RedisStorage) -> Any:
    rows, numbers = storage.candidates(KEYS[::7])
    return rows.tolist(), numbers.tolist(), storage.candidates(KEYS[:1])[1].tolist()


def batches(storage: RedisStorage) -> Any:
    return [(batch.numbers.tolist(), batch.ids, batch.payloads) for batch in storage.iterate(7)]


RECORD_QUESTIONS: dict[str, Question] = {
    "payloads": lambda storage: storage.payloads(range(20, 40)),
    "ids": lambda storage: storage.ids(range(20, 40)),
    "iterate": batches,
    "candidates": candidates,
}
"""What is answered with records, all of which have a checksum: the answer is right, or there is none."""
OTHER_QUESTIONS: dict[str, Question] = {
    "numbers": lambda storage: storage.numbers(IDS).tolist(),
    "length": len,
    "info": lambda storage: storage.info()["documents"],
    "bucket_sizes": lambda storage: storage.bucket_sizes(),
    "last_seen": lambda storage: storage.last_seen(range(20, 40)).tolist(),
}
QUESTIONS = RECORD_QUESTIONS | OTHER_QUESTIONS | {"check": lambda storage: storage.check()}
CHANGES: dict[str, Question] = {
    "add": lambda storage: storage.add(IDS[20:40], PAYLOADS[20:40], KEYS[20:40]),
    "remove": lambda storage: storage.remove(IDS[20:40]),
    "touch": lambda storage: storage.touch(IDS[20:40], np.full(20, 2e9)),
    "commit": lambda storage: storage.commit(),
    "compact": lambda storage: storage.compact(),
}


@dataclass
class Kept:
    """An index in a server of its own, and all its keys as they were written."""

    client: redis.Redis
    url: str
    keys: dict[bytes, bytes]
    values: dict[bytes, bytes]
    answers: dict[str, Any]

    def restore(self) -> None:
        pipe = self.client.pipeline()
        pipe.flushdb()
        for key, dump in self.keys.items():
            pipe.restore(key, 0, dump)
        pipe.execute()

    def opened(self, mode: str) -> RedisStorage:
        limits = RedisLimits(tries=1, grace=0, purge_documents=4)
        return RedisStorage(self.url, "{}" if mode == "write" else None, mode, 0.5, limits)


@pytest.fixture(scope="module", params=["lasting", "mortal"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    url = f"{server.url}?prefix=fuzz" + ("&ttl=100000" if request.param == "mortal" else "")
    storage = RedisStorage(url, "{}")
    storage.add(IDS, PAYLOADS, KEYS)
    storage.touch(IDS[::3], np.full(len(IDS[::3]), 1.5e9))
    storage.commit()
    storage.add(IDS[:5], PAYLOADS[5:10], KEYS[5:10])
    storage.remove(IDS[50:53])
    storage.commit()
    storage.close()
    client = server.client()
    names = client.keys()
    index = Kept(client, url, {name: client.dump(name) for name in names}, {}, {})
    index.values = {name: client.get(name) for name in names if client.type(name) == b"string"}
    with closing(index.opened("read")) as storage:
        index.answers = {
            name: question(storage) for name, question in (RECORD_QUESTIONS | OTHER_QUESTIONS).items()
        }
    yield index
    client.close()
    server.kill()


def fault(value: bytes, chance: random.Random, others: list[bytes]) -> bytes | None:
    """Other bytes in place of a value; None deletes it."""
    place = chance.randint(0, len(value))
    return chance.choice(
        [
            lambda: None,
            lambda: b"",
            lambda: chance.randbytes(chance.choice([1, 4, 8, 11, 12, 13, 24, 200, 7000])),
            lambda: value[:place],
            lambda: value[place:],
            lambda: value[:place] + chance.randbytes(chance.randint(1, 13)) + value[place:],
            lambda: value[:place] + bytes([chance.randrange(256)]) + value[place + 1 :],
            lambda: value + chance.randbytes(chance.choice([1, 12])),
            lambda: chance.choice(others),
            lambda: b"\xff" * len(value),
            lambda: bytes(len(value)),
            lambda: value * 2,
        ]
    )()


def outcome(kept: Kept, name: str, question: Question, mode: str) -> tuple[str, Any]:
    """The kind "answer" and what was answered, "refused" and the message of a storage error, or a fault."""
    try:
        storage = kept.opened(mode)
    except StorageError as error:
        return "refused", str(error)
    try:
        return "answer", question(storage)
    except StorageError as error:
        crashed = "user_script" in str(error) and not isinstance(error, StoreFormatError)
        return ("FAULT: crash" if crashed else "refused"), f"{name}: {error}"
    except Exception as error:
        return "FAULT: foreign", f"{name}: {type(error).__name__}: {error}"
    finally:
        storage.close()


def names_of(kept: Kept, kinds: bytes) -> list[bytes]:
    """The keys of some kinds, by the letter after the prefix, without the records of removed documents."""
    letters = {name: name.rpartition(b":")[2] for name in kept.values}
    return sorted(name for name, key in letters.items() if key[0] in kinds and key not in REMOVED)


def tried(kept: Kept, kinds: bytes, judge: Judge) -> None:
    """Try faults in some keys; `judge` names what must not be among the outcomes of all questions."""
    tally: Counter[str] = Counter()
    names = names_of(kept, kinds)
    others = list(kept.values.values())
    for seed in range(FIRST, FIRST + CASES):
        chance = random.Random(f"{kinds!r} {seed}")
        kept.restore()
        changed = {}
        for name in chance.sample(names, chance.choice([1, 1, 1, 3])):
            value = fault(kept.values[name], chance, others)
            if value == kept.values[name]:
                continue
            changed[name] = value
            kept.client.delete(name) if value is None else kept.client.set(name, value)
        outcomes = {name: outcome(kept, name, question, "read") for name, question in QUESTIONS.items()}
        for name in chance.sample(sorted(CHANGES), 3):
            outcomes[f"change: {name}"] = outcome(kept, name, CHANGES[name], "write")
        for name, (kind, answer) in outcomes.items():
            tally[kind] += 1
            assert not kind.startswith("FAULT"), f"seed {seed}, {changed}: {kind} in {name}: {answer}"
        answers = {name: answer for name, (kind, answer) in outcomes.items() if kind == "answer"}
        assert judge(answers, changed) == [], f"seed {seed}, {changed}"
    kept.restore()
    assert min(tally["refused"], tally["answer"]) > 0, tally


def test_faults_in_records_are_refused_or_do_not_matter(kept: Kept) -> None:
    def judge(answers: dict[str, Any], changed: dict[bytes, bytes | None]) -> list[str]:
        # The time when a document expires stands before what has a checksum, and nothing is answered with it.
        start = 4 if "ttl" in kept.url else 0
        matter = [
            name for name, value in changed.items() if not value or value[start:] != kept.values[name][start:]
        ]
        lost = any(value is None for value in changed.values())
        wrong = [
            name
            for name in RECORD_QUESTIONS
            if name in answers and answers[name] != kept.answers[name] and not (lost and name == "iterate")
        ]
        return wrong + (["check"] if matter and "check" in answers else [])

    tried(kept, b"d", judge)


def test_faults_in_postings_and_ids_end_with_an_error_of_the_storage(kept: Kept) -> None:
    def judge(answers: dict[str, Any], changed: dict[bytes, bytes | None]) -> list[str]:
        lengths = sum(len(value or b"") - len(kept.values[name]) for name, value in changed.items())
        return ["check"] if lengths and "check" in answers else []

    tried(kept, b"pi", judge)


def test_a_posting_of_a_number_far_beyond_the_documents_takes_no_memory(kept: Kept) -> None:
    kept.restore()
    name = names_of(kept, b"p")[0]
    kept.client.append(name, kept.values[name][:8] + b"\xff\xff\xff\x0f")
    with closing(kept.opened("read")) as storage:
        tracemalloc.start()
        try:
            assert storage.bucket_sizes() == kept.answers["bucket_sizes"]
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()
    kept.restore()


@pytest.mark.parametrize(
    "question",
    [
        lambda storage: storage.check(),
        lambda storage: storage.bucket_sizes(),
        lambda storage: storage.candidates(KEYS),
        lambda storage: storage.compact(),
    ],
    ids=["check", "bucket sizes", "candidates", "compact"],
)
def test_a_posting_that_is_cut_is_refused_with_the_fix(kept: Kept, question: Question) -> None:
    kept.restore()
    name = names_of(kept, b"p")[0]
    kept.client.set(name, kept.values[name][:-1])
    with closing(kept.opened("write")) as storage, pytest.raises(StoreFormatError, match=r"damaged.*restore"):
        question(storage)
    kept.restore()
