"""Run one engine on one Redis server, in a process of the engine's own environment; write its figures as JSON.

The data are signatures with planted near-duplicates, the same for both engines, with the same 20 bands of 6 rows,
so both find the same documents. datasketch stores only ids; Benzer also stores and returns a payload of 712 bytes
for each document (a signature of 512 bytes and 200 bytes of text).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import redis

BANDS, ROWS, HASHES, PAYLOAD, HOT = 20, 6, 128, 712, 10_000


def signatures(count: int, seed: int = 0) -> np.ndarray:
    """uint32[count, 128]; three documents in ten are copies of another in which a few values differ."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2**32, (count, HASHES), np.uint32)
    copies = np.flatnonzero(rng.random(count) < 0.3)
    table[copies] = table[rng.integers(0, count, len(copies))]
    changed = rng.random((len(copies), HASHES)) < rng.uniform(0, 0.15, (len(copies), 1))
    table[copies] = np.where(changed, rng.integers(0, 2**32, changed.shape, np.uint32), table[copies])
    return table


def names(first: int, count: int) -> list[str]:
    return [f"document-{number:08d}" for number in range(first, first + count)]


class Benzer:
    """Storage only: stores band keys and payloads, and returns candidates with their payloads."""

    def __init__(self, port: int) -> None:
        from benzer.bands import Bands
        from benzer.storage import open_storage

        self._bands = Bands(BANDS, ROWS)
        self._storage = open_storage(f"redis://127.0.0.1:{port}/0", "{}")
        self._payload = np.random.default_rng(1).bytes(PAYLOAD)

    def prepare(self, table: np.ndarray) -> Any:
        return table

    def insert(self, ids: list[str], sketches: Any) -> None:
        # bytes differ from document to document, as signatures do
        payloads = [row.tobytes() + self._payload[: PAYLOAD - 4 * HASHES] for row in sketches]
        self._storage.add(ids, payloads, self._bands.keys(sketches))
        self._storage.commit()

    def query(self, sketch: Any) -> list[str]:
        with self._storage.snapshot():
            _, numbers = self._storage.candidates(self._bands.keys(sketch[None, :]))
            found = self._storage.ids(numbers)
            self._storage.payloads(numbers)
        return [str(one) for one in found]


class Datasketch:
    """MinHashLSH on its own Redis storage; documents in bulk through its insertion session."""

    def __init__(self, port: int) -> None:
        from datasketch import MinHash, MinHashLSH

        self._make = MinHash
        config = {"type": "redis", "basename": b"bench", "redis": {"host": "127.0.0.1", "port": port}}
        self._lsh = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS), storage_config=config)

    def prepare(self, table: np.ndarray) -> Any:
        return [
            self._make(num_perm=HASHES, hashvalues=row.astype(np.uint64), scheme="legacy") for row in table
        ]

    def insert(self, ids: list[str], sketches: Any) -> None:
        if len(ids) == 1:
            self._lsh.insert(ids[0], sketches[0])
            return
        with self._lsh.insertion_session() as session:
            for document_id, sketch in zip(ids, sketches, strict=True):
                session.insert(document_id, sketch, check_duplication=False)

    def query(self, sketch: Any) -> list[str]:
        return list(self._lsh.query(sketch))


ENGINES: dict[str, Callable[[int], Any]] = {"benzer": Benzer, "datasketch": Datasketch}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=sorted(ENGINES))
    parser.add_argument("port", type=int)
    parser.add_argument("documents", type=int)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    server = redis.Redis(port=arguments.port)
    arguments.output.write_text(json.dumps(measured(arguments, server)))


def measured(arguments: argparse.Namespace, server: Any) -> dict[str, Any]:
    count = arguments.documents
    engine = ENGINES[arguments.engine](arguments.port)
    table = signatures(count)
    sketches = engine.prepare(table)
    before, busy = _memory(server), _busy(server)
    start = time.perf_counter()
    for first in range(0, count, 10_000):
        part = sketches[first : first + 10_000]
        engine.insert(names(first, len(part)), part)
    seconds = time.perf_counter() - start
    used, busy = _memory(server) - before, _busy(server) - busy
    asked = np.random.default_rng(2).integers(0, count, 2_000).tolist()
    for place in asked[:100]:
        engine.query(sketches[place])  # warms up; not measured
    times, found = zip(*(_timed(engine.query, sketches[place]) for place in asked), strict=True)
    fresh = engine.prepare(signatures(300, seed=3))
    singles = [
        _timed(engine.insert, [f"single-{place}"], fresh[place : place + 1])[0] for place in range(len(fresh))
    ]
    hot = engine.prepare(np.repeat(signatures(1, seed=4), HOT, axis=0))
    engine.insert(names(10**7, HOT), hot)
    hot_times, hot_found = zip(*(_timed(engine.query, hot[0]) for _ in range(30)), strict=True)
    return {
        "documents": count,
        "insert_seconds": seconds,
        "server_seconds": busy,
        "bytes": used,
        "query_ms": _percentiles(times),
        "single_ms": _percentiles(singles),
        "hot_ms": _percentiles(hot_times),
        "hot_found": len(hot_found[0]),
        "found": [sorted(one) for one in found],
        "keys": server.dbsize(),
    }


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = work(*arguments)
    return (time.perf_counter() - start) * 1000, answer


def _percentiles(times: Sequence[float]) -> tuple[float, float]:
    p50, p99 = np.percentile(times, [50, 99])
    return float(p50), float(p99)


def _memory(server: Any) -> int:
    time.sleep(0.5)  # freed memory is counted by a task of the server
    return int(server.info("memory")["used_memory"])


def _busy(server: Any) -> float:
    facts = server.info("cpu")
    return float(facts["used_cpu_user"] + facts["used_cpu_sys"])


if __name__ == "__main__":
    main()
