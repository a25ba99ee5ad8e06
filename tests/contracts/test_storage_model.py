"""Any sequence of changes leaves a storage in the state of a plain dictionary."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from benzer.storage import NO_KEY, Storage
from tests.contracts.storages import HOMES, Home, found_ids, state_of

pytestmark = pytest.mark.slow

IDS = strategies.sampled_from([0, 1, 2, 3, "0", "1", "a", "b", "é", 2**70])
KEY = strategies.sampled_from([0, 1, 2**31, 2**32, 2**40, 2**62, 2**63, 2**63 + 1, 2**64 - 2, int(NO_KEY)])
DOCUMENT = strategies.tuples(IDS, strategies.binary(max_size=4), strategies.tuples(KEY, KEY))
Model = dict[str | int, tuple[bytes, tuple[int, int]]]


class StorageMachine(RuleBasedStateMachine):
    """Changes a storage and a dictionary alike; the dictionary keeps the order of arrival."""

    home: Home
    storage: Storage

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.storage = self.home.open(self.folder)
        self.held: Model = {}
        self.committed: Model = {}

    def teardown(self) -> None:
        self.storage.close()
        shutil.rmtree(self.folder)

    @rule(documents=strategies.lists(DOCUMENT, max_size=40))
    def add(self, documents: list[tuple[str | int, bytes, tuple[int, int]]]) -> None:
        keys = np.array([keys for _, _, keys in documents], np.uint64).reshape(-1, 2)
        self.storage.add([one for one, _, _ in documents], [payload for _, payload, _ in documents], keys)
        last = {one: place for place, (one, _, _) in enumerate(documents)}
        for place, (one, payload, own) in enumerate(documents):
            if last[one] == place:
                self.held.pop(one, None)
                self.held[one] = payload, own

    @rule(ids=strategies.lists(IDS, max_size=5))
    def remove(self, ids: list[str | int]) -> None:
        gone = [one for one in dict.fromkeys(ids) if self.held.pop(one, None) is not None]
        assert self.storage.remove(ids) == len(gone)

    @rule()
    def commit(self) -> None:
        self.storage.commit()
        self.committed = dict(self.held)

    @rule()
    def rollback(self) -> None:
        self.storage.rollback()
        self.held = dict(self.committed)

    @rule()
    def compact(self) -> None:
        self.storage.compact()
        self.committed = dict(self.held)

    @rule()
    def reopen(self) -> None:
        if self.home.lasting:
            self.storage.close()
            self.storage = self.home.open(self.folder)
            self.held = dict(self.committed)

    @invariant()
    def holds_the_same_documents_in_order(self) -> None:
        assert state_of(self.storage) == [(one, payload) for one, (payload, _) in self.held.items()]
        assert len(self.storage) == len(self.held)

    @invariant()
    def gives_the_candidates_that_share_a_key(self) -> None:
        asked = [own for _, own in self.held.values()] + [(0, 2**63), (5, 6)]
        wanted = [
            {one for one, (_, own) in self.held.items() if (set(row) & set(own)) - {int(NO_KEY)}}
            for row in asked
        ]
        assert found_ids(self.storage, np.array(asked, np.uint64)) == wanted

    @invariant()
    def is_whole(self) -> None:
        self.storage.check()


def machine(home: Home) -> type[StorageMachine]:
    return type(f"Machine_{home.name}", (StorageMachine,), {"home": home})


def paced(home: Home) -> type:
    case = machine(home).TestCase
    few = home.name == "redis-cluster"  # what differs from one server are the slots of keys
    case.settings = settings(max_examples=10 if few else 30, stateful_step_count=20)
    return case


TestMemory, TestFile, TestSmallFile, TestRedis, TestSmallRedis, TestRedisCluster = map(paced, HOMES)
