"""The homes that the storage contract holds for, and documents to put into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benzer.storage import Storage, open_storage
from benzer.storage.file import FileStorage
from benzer.storage.redis.session import RedisLimits
from benzer.storage.redis.storage import RedisStorage
from benzer.storage.runs import RunLimits
from tests.redis_server import shared_cluster, shared_server

SETTINGS = '{"threshold": 0.8}'
SMALL = RunLimits(
    delta_postings=24, pending_postings=96, block_postings=4, slice_postings=64, purge_documents=4, few_keys=16,
    kept_bytes=3000, kept_documents=1500,
)  # fmt: skip
"""Limits so small that a few dozen documents pass through delta, runs, merges and purges."""
SMALL_REDIS = RedisLimits(pending_postings=24, purge_documents=4, grace=0)


@dataclass(frozen=True)
class Home:
    """One way to keep documents: how it is opened, and whether it is there again after closing."""

    name: str
    lasting: bool = True
    limits: RunLimits | None = None
    redis_limits: RedisLimits | None = None
    cluster: bool = False

    def open(self, folder: Path, mode: str = "write") -> Storage:
        """A storage in `folder`, or of its name, made when it is not there yet."""
        if not self.lasting:
            return open_storage("memory:", SETTINGS)
        if self.redis_limits:
            return RedisStorage(self._url(folder), SETTINGS, mode, 0.05, self.redis_limits)
        path = folder / "index.benzer"
        if self.limits is None:
            return open_storage(path, SETTINGS, mode=mode, timeout=0.05)
        return FileStorage(path, SETTINGS, mode, 0.05, self.limits)

    def _url(self, folder: Path) -> str:
        if self.cluster:
            return f"{shared_cluster().url}?cluster=true&prefix={folder}"
        return f"{shared_server().url}?prefix={self.name}-{folder}"


HOMES = [
    Home("memory", lasting=False),
    Home("file"),
    Home("small-file", limits=SMALL),
    Home("redis", redis_limits=RedisLimits()),
    Home("small-redis", redis_limits=SMALL_REDIS),
    Home("redis-cluster", redis_limits=RedisLimits(), cluster=True),
]


def keys_of(*rows: Sequence[int]) -> NDArray[np.uint64]:
    """Band keys, one row a document."""
    return np.array(rows, np.uint64).reshape(len(rows), -1)


def found_ids(storage: Storage, keys: NDArray[np.uint64]) -> list[set[str | int]]:
    """For each row of keys the ids of the candidates."""
    rows, numbers = storage.candidates(keys)
    found: list[set[str | int]] = [set() for _ in keys]
    for row, document_id in zip(rows.tolist(), storage.ids(numbers), strict=True):
        found[row].add(document_id)
    return found


def state_of(storage: Storage) -> list[tuple[str | int, bytes]]:
    """All documents in order."""
    return [pair for batch in storage.iterate(3) for pair in zip(batch.ids, batch.payloads, strict=True)]


def corpus(
    count: int, seed: int, bands: int = 4, keys: int = 40
) -> tuple[list[str], list[bytes], NDArray[np.uint64]]:
    """Documents whose band keys come from `keys` values spread over the whole key space."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 2**64 - 1, keys, np.uint64)
    payloads = [random.bytes(int(size)) for size in random.integers(0, 60, count)]
    return [f"d{number}" for number in range(count)], payloads, random.choice(values, (count, bands))
