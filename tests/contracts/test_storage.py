"""What every home of documents must do; each test runs over all of them."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benzer.errors import InputError, SettingsError, StorageError
from benzer.storage import NO_KEY, Storage, base, open_storage
from benzer.storage.base import StoredBatch
from tests.contracts.storages import HOMES, SETTINGS, SMALL, Home, corpus, found_ids, keys_of, state_of

AWKWARD_IDS = [
    1, "1", 0, -1, "", "é", "e\u0301", "a\0", "a", "a\0b", 2**63 - 1, -(2**63), 2**63, 2**64, -(2**80),
    chr(0xD800), "i1", "s", "\U0001f600", " a", "A",
]  # fmt: skip


def test_a_new_storage_is_empty_and_keeps_its_settings(storage: Storage) -> None:
    assert storage.settings() == SETTINGS
    assert len(storage) == 0
    assert state_of(storage) == []
    assert found_ids(storage, keys_of([1, 2])) == [set()]
    assert storage.numbers(["a", 1]).tolist() == [-1, -1]


def test_documents_come_back_as_they_were_given_in_order_of_arrival(storage: Storage) -> None:
    numbers = storage.add(["b", "a"], [b"second", b"\0\xff"], keys_of([1, 2], [3, 4]))
    later = storage.add([7], [b""], keys_of([5, 6]))
    assert state_of(storage) == [("b", b"second"), ("a", b"\0\xff"), (7, b"")]
    assert numbers.dtype == np.int64
    assert numbers[0] < numbers[1] < later[0]
    assert storage.payloads(numbers[::-1]) == [b"\0\xff", b"second"]
    assert storage.ids([int(numbers[1]), int(numbers[1])]) == ["a", "a"]
    assert storage.numbers(["a", "x", 7, "7"]).tolist() == [numbers[1], -1, later[0], -1]
    assert storage.contains(["a", "x"]).tolist() == [True, False]


def test_ids_and_payloads_come_together(storage: Storage) -> None:
    numbers = storage.add(["b", 7, "a"], [b"second", b"", b"\0\xff"], keys_of([1], [2], [3]))
    storage.commit()
    for asked in (numbers[::-1], numbers[[0, 0]], numbers[:0], [int(numbers[1])]):
        for _ in range(2):
            assert storage.documents(asked) == (storage.ids(asked), storage.payloads(asked))
    storage.remove([7])
    with pytest.raises(StorageError, match="no longer exists"):
        storage.documents(numbers)
    storage.rollback()
    assert storage.documents(numbers) == (["b", 7, "a"], [b"second", b"", b"\0\xff"])


def test_ids_keep_their_type_and_every_character(storage: Storage, home: Home, tmp_path: Path) -> None:
    payloads = [b"%d" % place for place in range(len(AWKWARD_IDS))]
    numbers = storage.add(AWKWARD_IDS, payloads, keys_of(*[[9]] * len(AWKWARD_IDS)))
    storage.commit()
    again = home.open(tmp_path, "read") if home.lasting else storage
    assert again.ids(numbers) == AWKWARD_IDS
    assert [type(i) for i in again.ids(numbers)] == [type(i) for i in AWKWARD_IDS]
    assert again.numbers(AWKWARD_IDS).tolist() == numbers.tolist()
    again.close()


@pytest.mark.parametrize("wrong", [True, 1.0, None, b"a", ("a",)])
def test_other_types_of_id_are_refused_and_change_nothing(storage: Storage, wrong: object) -> None:
    with pytest.raises(InputError, match="a document id must be a str or an int"):
        storage.add(["a", wrong], [b"", b""], keys_of([1], [2]))  # type: ignore[list-item]
    assert len(storage) == 0


def test_numpy_ids_are_taken_as_what_they_are(storage: Storage) -> None:
    storage.add([np.str_("a")], [b""], keys_of([1]))
    assert [type(i) for i, _ in state_of(storage)] == [str]


@pytest.mark.parametrize(
    "payloads,keys",
    [
        ([b""], keys_of([1], [2])),
        ([b"", b""], keys_of([1])),
        ([b"", "text"], keys_of([1], [2])),
        ([b"", b""], np.array([[1], [2]], np.int64)),
        ([b"", b""], np.array([1, 2], np.uint64)),
        ([b"", b""], [[1], [2]]),
    ],
)
def test_batches_that_do_not_fit_are_refused_and_change_nothing(
    storage: Storage, payloads: list[bytes], keys: np.ndarray
) -> None:
    with pytest.raises(InputError):
        storage.add(["a", "b"], payloads, keys)
    assert len(storage) == 0


def test_candidates_share_at_least_one_key_and_come_once(storage: Storage) -> None:
    storage.add(["a", "b", "c"], [b""] * 3, keys_of([1, 2, 3], [1, 2, 9], [7, 8, 9]))
    rows, numbers = storage.candidates(keys_of([1, 2, 3], [4, 5, 6], [0, 9, 0]))
    assert rows.dtype == numbers.dtype == np.int64
    assert list(zip(rows.tolist(), storage.ids(numbers), strict=True)) == [
        (0, "a"),
        (0, "b"),
        (2, "b"),
        (2, "c"),
    ]
    assert found_ids(storage, np.empty((0, 3), np.uint64)) == []


def test_documents_without_shingles_are_held_but_never_candidates(storage: Storage) -> None:
    none = np.full((2, 3), NO_KEY)
    storage.add(["empty", "other"], [b"", b""], none)
    storage.commit()
    assert len(storage) == 2
    assert found_ids(storage, none) == [set(), set()]
    storage.check()


def test_keys_of_all_sizes_are_found(storage: Storage) -> None:
    edges = [0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 2]
    ids = [f"k{key}" for key in edges]
    storage.add(ids, [b""] * len(ids), keys_of(*[[key] for key in edges]))
    storage.commit()
    assert found_ids(storage, keys_of(*[[key] for key in edges])) == [{i} for i in ids]
    storage.compact()
    assert found_ids(storage, keys_of(*[[key] for key in edges])) == [{i} for i in ids]


def test_adding_an_id_again_replaces_the_document(storage: Storage) -> None:
    first = storage.add(["a", "b"], [b"old", b"b"], keys_of([1], [2]))
    storage.commit()
    second = storage.add(["a"], [b"new"], keys_of([3]))
    assert state_of(storage) == [("b", b"b"), ("a", b"new")]
    assert second[0] > first.max()
    assert found_ids(storage, keys_of([1], [3])) == [set(), {"a"}]
    with pytest.raises(StorageError, match=f"document number {first[0]} no longer exists"):
        storage.payloads(first)


def test_the_same_document_twice_is_held_once(storage: Storage) -> None:
    for _ in range(3):
        storage.add(["a", "a"], [b"x", b"y"], keys_of([1, 2], [2, 3]))
        storage.commit()
    assert state_of(storage) == [("a", b"y")]
    assert found_ids(storage, keys_of([1, 1], [2, 3])) == [set(), {"a"}]
    storage.compact()
    assert storage.info()["postings"] == 2


def test_of_equal_ids_in_one_batch_the_last_counts(storage: Storage) -> None:
    numbers = storage.add(["a", "b", "a"], [b"1", b"2", b"3"], keys_of([1], [2], [3]))
    assert numbers[0] == numbers[2] != numbers[1]
    assert dict(state_of(storage)) == {"a": b"3", "b": b"2"}
    assert found_ids(storage, keys_of([1], [3])) == [set(), {"a"}]


def test_removed_documents_are_gone_at_once_and_their_postings_at_the_next_compaction(
    storage: Storage,
) -> None:
    ids, payloads, keys = corpus(30, seed=1)
    storage.add(ids, payloads, keys)
    storage.commit()
    assert storage.remove([*ids[:10], ids[0], "unknown", 3]) == 10
    assert len(storage) == 20
    assert set().union(*found_ids(storage, keys)) == set(ids[10:])
    assert storage.contains(ids).sum() == 20
    storage.compact()
    assert storage.info()["removed"] == 0
    assert storage.info()["postings"] == sum(len(set(row)) for row in keys[10:].tolist())


def test_who_keeps_what_was_read_can_see_that_changes_were_undone(storage: Storage) -> None:
    before = storage.undone()
    storage.add(["a"], [b"1"], keys_of([1, 2]))
    storage.commit()
    assert storage.undone() == before
    storage.remove(["a"])
    storage.rollback()
    assert storage.undone() > before


def test_rollback_undoes_everything_since_the_last_commit(storage: Storage) -> None:
    ids, payloads, keys = corpus(60, seed=2)
    storage.add(ids[:20], payloads[:20], keys[:20])
    storage.commit()
    before, candidates = state_of(storage), found_ids(storage, keys)
    used = storage.add(ids[10:], payloads[10:], keys[10:]).max()
    storage.remove(ids[:5])
    storage.add(ids[:2], [b"!"] * 2, keys[:2])
    storage.rollback()
    assert state_of(storage) == before
    assert found_ids(storage, keys) == candidates
    storage.check()
    assert storage.add(["z"], [b""], keys[:1])[0] > used, "numbers are never used again"


def test_nothing_uncommitted_outlasts_close(home: Home, tmp_path: Path) -> None:
    if home.lasting:
        storage = home.open(tmp_path)
        storage.add(["a"], [b"1"], keys_of([1]))
        storage.commit()
        storage.add(["b"], [b"2"], keys_of([2]))
        storage.close()
        storage = home.open(tmp_path)
        assert state_of(storage) == [("a", b"1")]
        storage.close()


def test_a_closed_storage_says_so(storage: Storage) -> None:
    storage.close()
    storage.close()
    with pytest.raises(StorageError, match="is closed"):
        len(storage)
    with pytest.raises(StorageError, match="is closed"):
        storage.add(["a"], [b""], keys_of([1]))


def test_iteration_leaves_out_what_is_removed_and_added_on_the_way(storage: Storage) -> None:
    ids, payloads, keys = corpus(20, seed=3)
    storage.add(ids, payloads, keys)
    seen: list[object] = []
    for batch in storage.iterate(4):
        assert isinstance(batch, StoredBatch)
        seen.extend(batch.ids)
        if len(seen) == 4:
            storage.remove(ids[10:15])
            storage.add(["new"], [b""], keys[:1])
    assert seen == ids[:10] + ids[15:]


def test_a_snapshot_shows_one_state(storage: Storage) -> None:
    storage.add(["a"], [b"1"], keys_of([1]))
    storage.commit()
    with storage.snapshot():
        _, numbers = storage.candidates(keys_of([1]))
        assert storage.payloads(numbers) == [b"1"]
        with storage.snapshot():
            assert storage.ids(numbers) == ["a"]


def test_many_commits_many_runs_the_same_answers(home: Home, tmp_path: Path) -> None:
    """Small commits, large ones, replacements and removals end in the same candidates as one large add."""
    ids, payloads, keys = corpus(300, seed=4, keys=200)
    slow = home.open(tmp_path)
    random = np.random.default_rng(5)
    at = 0
    while at < len(ids):
        step = int(random.choice([1, 2, 30]))
        slow.add(ids[at : at + step], payloads[at : at + step], keys[at : at + step])
        slow.add(ids[:1], [b"again"], keys[:1])
        if random.random() < 0.7:
            slow.commit()
        at += step
    slow.remove(ids[50:120])
    slow.commit()
    slow.check()
    fast = open_storage("memory:", SETTINGS)
    fast.add(ids[1:50] + ids[120:] + ids[:1], payloads[1:50] + payloads[120:] + [b"again"],
             np.concatenate([keys[1:50], keys[120:], keys[:1]]))  # fmt: skip
    assert sorted(state_of(slow)) == sorted(state_of(fast))
    assert found_ids(slow, keys) == found_ids(fast, keys)
    slow.compact()
    slow.check()
    assert found_ids(slow, keys) == found_ids(fast, keys)
    assert slow.info()["postings"] == fast.info()["postings"]
    slow.close()


def test_all_homes_give_the_same_numbers_and_candidates(tmp_path: Path) -> None:
    ids, payloads, keys = corpus(200, seed=6, keys=60)
    answers = []
    for home in HOMES:
        (tmp_path / home.name).mkdir()
        storage = home.open(tmp_path / home.name)
        for start in range(0, 200, 25):
            storage.add(ids[start : start + 25], payloads[start : start + 25], keys[start : start + 25])
            storage.remove(ids[start : start + 5])
            storage.commit()
        rows, numbers = storage.candidates(keys)
        answers.append((rows.tolist(), numbers.tolist(), state_of(storage)))
        storage.close()
    assert all(answer == answers[0] for answer in answers)


def test_a_hot_bucket_is_not_cut_short(storage: Storage) -> None:
    count = 3000
    ids = list(range(count))
    keys = np.stack([np.full(count, 77, np.uint64), np.arange(count, dtype=np.uint64)], axis=1)
    storage.add(ids, [b"same"] * count, keys)
    storage.commit()
    assert found_ids(storage, keys_of([77, 2**40])) == [set(ids)]


def test_documents_beyond_32_bit_numbers_are_refused(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MAX_DOCUMENTS", 3)
    storage.add([1, 2], [b""] * 2, keys_of([1], [2]))
    storage.commit()
    with pytest.raises(StorageError, match="3 document numbers in total; 2 are used and 2 more"):
        storage.add([3, 4], [b""] * 2, keys_of([1], [2]))
    assert len(storage) == 2


def test_threads_may_share_a_storage(storage: Storage) -> None:
    ids, payloads, keys = corpus(200, seed=7)
    storage.add(ids, payloads, keys)
    storage.commit()
    wanted = found_ids(storage, keys[:50])
    faults: list[BaseException] = []

    def ask() -> None:
        try:
            for row in range(50):
                with storage.snapshot():
                    assert wanted[row] <= found_ids(storage, keys[row : row + 1])[0]
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(50):
        storage.add([number], [b"new"], keys[number : number + 1])
        storage.commit()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(storage) == 250


def test_a_pickled_storage_holds_the_same(storage: Storage) -> None:
    storage.add(["a"], [b"1"], keys_of([1]))
    storage.commit()
    copy = pickle.loads(pickle.dumps(storage))  # noqa: S301
    assert state_of(copy) == [("a", b"1")]
    assert found_ids(copy, keys_of([1])) == [{"a"}]
    assert copy.settings() == SETTINGS
    copy.close()


def test_limits_are_passed_so_that_runs_merge(tmp_path: Path) -> None:
    """The small limits do what they are for: with them a few documents make runs, and merges bound these."""
    storage = Home("small-file", limits=SMALL).open(tmp_path)
    ids, payloads, keys = corpus(400, seed=8, keys=3000)
    most = 0
    for start in range(0, 400, 8):
        storage.add(ids[start : start + 8], payloads[start : start + 8], keys[start : start + 8])
        storage.commit()
        most = max(most, storage.info()["runs"])
    storage.close()
    assert 4 <= most <= 6


@pytest.mark.parametrize(
    "location,options,error,message",
    [
        ("mongodb://localhost", {}, SettingsError, 'for mongodb://: give the path of a file, a redis:// URL'),
        ("memory:", {"mode": "read"}, StorageError, "an index in memory starts empty"),
        ("memory:", {"mode": "append"}, SettingsError, 'mode must be "read" or "write", got \'append\''),
        ("memory:", {"timeout": -1.0}, SettingsError, "timeout must be 0 or more seconds, got -1.0"),
        ("nowhere/x.benzer", {"mode": "read"}, StorageError, "there is no index at nowhere"),
        ("nowhere/x.benzer", {}, StorageError, "there is no folder nowhere"),
        (".", {}, StorageError, "is a folder"),
    ],
)  # fmt: skip
def test_locations_that_cannot_be_opened_say_what_would_do(
    location: str, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message.replace("(", r"\(")):
        open_storage(location, "{}", **options)  # type: ignore[arg-type]


def sizes_by_hand(storage: Storage, keys: dict[str | int, list[int]]) -> dict[int, int]:
    """The same as `bucket_sizes` of the documents that are held, from the keys that each was added with."""
    held = {one for batch in storage.iterate() for one in batch.ids}
    documents = Counter(key for one, row in keys.items() if one in held for key in set(row))
    documents.pop(int(NO_KEY), None)
    return dict(sorted(Counter(documents.values()).items()))


def test_buckets_are_counted_by_size_without_removed_documents(home: Home, tmp_path: Path) -> None:
    ids, payloads, keys = corpus(600, seed=3, bands=4, keys=150)
    keys[5] = NO_KEY
    keys[6] = keys[6][0]  # one key in all bands
    given: dict[str | int, list[int]] = {}
    with closing(home.open(tmp_path)) as storage:
        assert storage.bucket_sizes() == {}
        for start in range(0, 600, 60):
            rows = slice(start, start + 60)
            storage.add(ids[rows], payloads[rows], keys[rows])
            given.update(zip(ids[rows], keys[rows].tolist(), strict=True))
            if start % 120:
                assert storage.bucket_sizes() == sizes_by_hand(storage, given)  # before the commit
                storage.commit()
            storage.remove(ids[start : start + 60 : 7])
            assert storage.bucket_sizes() == sizes_by_hand(storage, given)
        storage.add(ids[:50], payloads[:50], keys[100:150])  # replaced
        given.update(zip(ids[:50], keys[100:150].tolist(), strict=True))
        storage.commit()
        assert storage.bucket_sizes() == sizes_by_hand(storage, given)
        storage.add(["x"], [b""], keys[:1])
        storage.rollback()
        assert storage.bucket_sizes() == sizes_by_hand(storage, given)
        storage.compact()
        assert storage.bucket_sizes() == sizes_by_hand(storage, given)
        storage.remove(ids)
        storage.commit()
        assert storage.bucket_sizes() == {}
