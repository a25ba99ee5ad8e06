"""When was a document last seen? Every home keeps it alike, through commits, rollbacks and removals."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from benzer.errors import InputError, StorageError
from benzer.storage import Storage
from tests.contracts.storages import HOMES, Home, keys_of

pytestmark = pytest.mark.slow

IDS = strategies.sampled_from([0, 1, 2, "0", "a", "é"])
SECOND = strategies.integers(0, 5)


def add(storage: Storage, ids: list[str | int], seen: int) -> None:
    storage.add(ids, [b"payload"] * len(ids), keys_of(*[[7]] * len(ids)), seen)


def times(storage: Storage, ids: list[str | int]) -> list[int]:
    return storage.last_seen(storage.numbers(ids)).tolist()


def test_a_document_was_last_seen_when_it_came_or_when_it_was_touched_later(storage: Storage) -> None:
    add(storage, ["a", "b"], 100)
    add(storage, ["c"], 200)
    assert storage.touch(["b", "c", "nowhere"], [300, 150, 1]) == 2
    assert times(storage, ["a", "b", "c"]) == [100, 300, 200]
    assert storage.unseen(200) == ["a"]
    assert storage.unseen(301) == ["a", "b", "c"]


def test_a_replaced_document_was_seen_when_it_was_replaced(storage: Storage) -> None:
    add(storage, ["a", "b"], 100)
    storage.touch(["a"], [500])
    add(storage, ["a"], 200)
    assert times(storage, ["a", "b"]) == [200, 100]


def test_where_no_time_is_known_nothing_is_unseen(storage: Storage) -> None:
    add(storage, ["a"], 0)
    assert times(storage, ["a"]) == [0]
    assert storage.unseen(2**40) == []


@pytest.mark.parametrize("touched", [True, False])
def test_documents_of_unknown_time_count_as_seen_when_the_first_time_is_written(
    storage: Storage, touched: bool
) -> None:
    add(storage, ["a", "b"], 0)
    storage.commit()
    if touched:
        storage.touch(["b"], [400])
    else:
        add(storage, ["c"], 400)
    assert times(storage, ["a", "b"]) == [400, 400]


@pytest.mark.parametrize("touched", [True, False])
def test_a_first_time_that_is_rolled_back_is_not_known(storage: Storage, touched: bool) -> None:
    add(storage, ["a", "b"], 0)
    storage.commit()
    for _ in range(2):
        if touched:
            storage.touch(["b"], [400])
        else:
            add(storage, ["c"], 400)
        storage.rollback()
        assert times(storage, ["a", "b"]) == [0, 0]
    add(storage, ["c"], 500)
    assert times(storage, ["a", "b", "c"]) == [500, 500, 500]


def test_a_time_that_is_rolled_back_is_what_it_was(storage: Storage) -> None:
    add(storage, ["a", "b"], 100)
    storage.touch(["b"], [200])
    storage.commit()
    storage.touch(["a", "b"], [300, 300])
    add(storage, ["a", "c"], 400)
    storage.rollback()
    assert times(storage, ["a", "b"]) == [100, 200]
    add(storage, ["c"], 400)
    assert times(storage, ["a", "b", "c"]) == [100, 200, 400]


def test_the_times_of_others_are_seen_once_they_are_committed(home: Home, tmp_path: Path) -> None:
    if not home.lasting:
        return
    writer = home.open(tmp_path)
    add(writer, ["a"], 100)
    writer.commit()
    reader = home.open(tmp_path, "read")
    writer.touch(["a"], [200])
    assert times(reader, ["a"]) == [100]
    writer.commit()
    assert times(reader, ["a"]) == [200]
    with pytest.raises(StorageError, match="mode='read'"):
        reader.touch(["a"], [300])
    writer.close()
    reader.close()


@pytest.mark.parametrize("second", [-1, 2**53])
def test_a_time_that_is_none_is_refused(storage: Storage, second: int) -> None:
    with pytest.raises(InputError, match=f"a time must be from 0 to 2\\^53 seconds since 1970, got {second}"):
        add(storage, ["a"], second)
    with pytest.raises(InputError, match="a time must be"):
        storage.touch(["a"], [second])
    with pytest.raises(InputError, match="of equal length, got 1 and 0"):
        storage.touch(["a"], [])
    assert len(storage) == 0


def test_which_numbers_are_held_is_told(storage: Storage) -> None:
    numbers = storage.add(["a", "b", "c"], [b""] * 3, keys_of([1], [2], [3]))
    storage.remove(["b"])
    asked = [*numbers[::-1].tolist(), -1, 2**40]
    assert storage.stored(asked).tolist() == [True, False, True, False, False]
    assert storage.stored([]).tolist() == []


def test_a_walk_can_begin_after_a_number(storage: Storage) -> None:
    numbers = storage.add(["a", "b", "c"], [b""] * 3, keys_of([1], [2], [3]))

    def walked(after: int) -> list[str | int]:
        return [one for batch in storage.iterate(2, after=after) for one in batch.ids]

    assert [walked(int(number)) for number in numbers] == [["b", "c"], ["c"], []]
    assert walked(-1) == ["a", "b", "c"]


class SeenMachine(RuleBasedStateMachine):
    """Changes a storage and a dictionary id -> second alike; `known` once any time was written."""

    home: Home
    storage: Storage

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.storage = self.home.open(self.folder)
        self.held: dict[str | int, int] = {}
        self.known = False
        self.committed: tuple[dict[str | int, int], bool] = ({}, False)

    def teardown(self) -> None:
        self.storage.close()
        shutil.rmtree(self.folder)

    def _know(self, second: int) -> None:
        if second and not self.known:
            self.held = dict.fromkeys(self.held, second)
            self.known = True

    @rule(ids=strategies.lists(IDS, min_size=1, max_size=4), second=SECOND)
    def add(self, ids: list[str | int], second: int) -> None:
        add(self.storage, ids, second)
        self._know(second)
        for one in ids:
            self.held.pop(one, None)
        last = {one: place for place, one in enumerate(ids)}
        self.held.update(dict.fromkeys(sorted(last, key=last.__getitem__), second))

    @rule(touched=strategies.dictionaries(IDS, SECOND, max_size=4))
    def touch(self, touched: dict[str | int, int]) -> None:
        there = {one: second for one, second in touched.items() if one in self.held}
        assert self.storage.touch(list(touched), list(touched.values())) == len(there)
        self._know(max(there.values(), default=0))
        for one, second in there.items():
            self.held[one] = max(second, self.held[one])

    @rule(ids=strategies.lists(IDS, max_size=3))
    def remove(self, ids: list[str | int]) -> None:
        self.storage.remove(ids)
        for one in ids:
            self.held.pop(one, None)

    @rule(compact=strategies.booleans())
    def commit(self, compact: bool) -> None:
        self.storage.compact() if compact else self.storage.commit()
        self.committed = dict(self.held), self.known

    @rule(reopen=strategies.booleans())
    def rollback(self, reopen: bool) -> None:
        if reopen and self.home.lasting:
            self.storage.close()
            self.storage = self.home.open(self.folder)
        else:
            self.storage.rollback()
        self.held, self.known = dict(self.committed[0]), self.committed[1]

    @invariant()
    def knows_when_each_was_seen(self) -> None:
        assert times(self.storage, list(self.held)) == list(self.held.values())
        for before in (0, 3, 9):
            wanted = [one for one, second in self.held.items() if 0 < second < before]
            assert self.storage.unseen(before) == wanted
        self.storage.check()


def paced(home: Home) -> type:
    case = type(f"Seen_{home.name}", (SeenMachine,), {"home": home}).TestCase
    case.settings = settings(max_examples=15, stateful_step_count=20)
    return case  # type: ignore[no-any-return]


TestMemory, TestFile, TestSmallFile, TestRedis, TestSmallRedis, TestRedisCluster = map(paced, HOMES)


def test_numpy_numbers_and_times_are_taken(storage: Storage) -> None:
    add(storage, ["a"], 5)
    assert storage.touch(["a"], np.array([9])) == 1
    assert storage.last_seen(storage.numbers(["a"])).dtype == np.int64
