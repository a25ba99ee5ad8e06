"""Time of the libraries for signatures of the same hashed sets, in an environment with all of them.

`python -m benchmarks.prehashed_process SETS NUM_HASHES THREADS REPETITIONS OUTPUT` reads the sets (an .npz file of
`offsets` and `hashes`) and writes the seconds of every call as JSON. The calls alternate, so that other work of the
machine affects all of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SEED = 42


def calls(
    offsets: Any, hashes: Any, num_hashes: int, threads: int
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each library's batch call on hashed sets, with its input already converted."""
    from FastSketchLSH import FastSimilaritySketch
    from rensa import RMinHash

    from benzer import _native
    from benzer.minhash import MinHash

    minhash = MinHash(num_hashes=num_hashes, seed=SEED)

    def benzer(isa: str) -> Any:
        _native.set_isa(isa)
        return minhash.signatures(offsets, hashes, threads, hashed=True)

    for isa in _native.available_isas():
        yield f"Benzer, {isa}", lambda isa=isa: benzer(isa)  # type: ignore[misc]
    unsigned, listed = offsets.astype(np.uint64), offsets.tolist()
    rensa = RMinHash.digest_matrix_from_flat_token_hashes
    yield "rensa, offsets in an array", lambda: rensa(hashes, unsigned, num_hashes, SEED)
    yield "rensa, offsets in a list", lambda: rensa(hashes, listed, num_hashes, SEED)
    sketch = FastSimilaritySketch(size=num_hashes, seed=SEED)
    yield "FastSketchLSH", lambda: sketch.batch_csr(hashes, unsigned, prehashed=True, num_threads=threads)


def main() -> None:
    sets, output = np.load(sys.argv[1]), Path(sys.argv[5])
    num_hashes, threads, repetitions = map(int, sys.argv[2:5])
    engines = dict(calls(sets["offsets"], sets["hashes"], num_hashes, threads))
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(repetitions):
        for name, call in engines.items():
            started = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - started)
    output.write_text(json.dumps(seconds))


if __name__ == "__main__":
    main()
