"""Duplicate detection from signatures by other libraries, in their own environment.

`python -m benchmarks.band_join_peer SIGNATURES FEWER THREADS` reads engine names from standard input, one per line,
runs each once, and prints one line of JSON: seconds of each stage, and flagged documents. FastSketchLSH and
datasketch join Benzer's SIGNATURES (a numpy file), datasketch only the first FEWER of them; rensa uses its own
signatures of the same sets. All signatures are in memory before the measurement starts.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.band_join_data import BANDS, HASHES, SET, planted_sets

Stages = dict[str, float]
Engine = Callable[[], tuple[Stages, int]]


def engines(signatures: str, fewer: int, threads: int) -> dict[str, Engine]:
    """Each engine with its prepared signatures."""
    import rensa

    values = np.load(signatures)
    offsets = np.arange(len(values) + 1, dtype=np.uint64) * np.uint64(SET)
    sets = planted_sets(len(values)).reshape(-1)
    matrix = rensa.RMinHash.digest_matrix_from_flat_token_hashes(sets, offsets, HASHES, 42)
    wide = values.astype(np.uint64)
    return {
        "rensa, flags in one shot": lambda: rensa_one_shot(rensa, matrix),
        "rensa, insert and query": lambda: rensa_insert(rensa, matrix),
        "FastSketchLSH": lambda: fast_sketch(wide, threads),
        "datasketch": lambda: datasketch(values[:fewer]),
    }


def rensa_one_shot(rensa: Any, matrix: Any) -> tuple[Stages, int]:
    started = time.perf_counter()
    index = rensa.RMinHashLSH(threshold=0.7, num_perm=HASHES, num_bands=BANDS)
    flags = index.query_duplicate_flags_matrix_one_shot(matrix)
    return {"all": time.perf_counter() - started}, sum(map(bool, flags))


def rensa_insert(rensa: Any, matrix: Any) -> tuple[Stages, int]:
    started = time.perf_counter()
    index = rensa.RMinHashLSH(threshold=0.7, num_perm=HASHES, num_bands=BANDS)
    index.insert_matrix(matrix)
    inserted = time.perf_counter()
    flags = index.query_duplicate_flags_matrix(matrix)
    done = time.perf_counter()
    return {"insert": inserted - started, "query": done - inserted}, sum(map(bool, flags))


def fast_sketch(values: Any, threads: int) -> tuple[Stages, int]:
    import FastSketchLSH

    started = time.perf_counter()
    index = FastSketchLSH.LSH(num_perm=HASHES, num_bands=BANDS, num_threads=threads)
    flags = index.insert_and_query_duplicates(values)
    return {"all": time.perf_counter() - started}, int(np.sum(flags))


def datasketch(values: Any) -> tuple[Stages, int]:
    from datasketch import MinHash, MinHashLSH

    shared = MinHash(num_perm=HASHES)
    made = [
        MinHash(num_perm=HASHES, hashvalues=row.copy(), permutations=shared.permutations, scheme="affine32")
        for row in values
    ]
    started = time.perf_counter()
    index = MinHashLSH(num_perm=HASHES, params=(BANDS, HASHES // BANDS))
    for number, one in enumerate(made):
        index.insert(number, one, check_duplication=False)
    inserted = time.perf_counter()
    flagged = sum(len(index.query(one)) > 1 for one in made)
    done = time.perf_counter()
    return {"insert": inserted - started, "query": done - inserted}, flagged


def main() -> None:
    run = engines(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(list(run)), flush=True)
    for line in sys.stdin:
        stages, flagged = run[line.strip()]()
        gc.collect()
        print(json.dumps({"stages": stages, "flagged": flagged}), flush=True)


if __name__ == "__main__":
    main()
