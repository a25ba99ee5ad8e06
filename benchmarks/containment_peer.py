"""Containment queries with datasketch's LSH Ensemble, in datasketch's own environment.

`python -m benchmarks.containment_peer SETS QUERIES THRESHOLD NUM_PERM NUM_PART OUTPUT` writes the hits, and the
seconds of building and querying, as JSON.
"""

from __future__ import annotations

import json
import lzma
import sys
import time
from pathlib import Path


def main() -> None:
    from datasketch import MinHash, MinHashLSHEnsemble

    sets, queries, output = map(Path, (sys.argv[1], sys.argv[2], sys.argv[6]))
    threshold, num_perm, num_part = float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    with lzma.open(sets, "rt", encoding="utf-8", newline="\n") as lines:
        values = {row["id"]: {str(value) for value in row["set"]} for row in map(json.loads, lines)}
    started = time.perf_counter()
    sketches = {}
    for name, one in values.items():
        sketches[name] = MinHash(num_perm=num_perm)
        sketches[name].update_batch([value.encode() for value in one])
    ensemble = MinHashLSHEnsemble(threshold=threshold, num_perm=num_perm, num_part=num_part)
    ensemble.index([(name, sketches[name], len(one)) for name, one in values.items()])
    built = time.perf_counter()
    asked = [line.rstrip("\n") for line in queries.open(encoding="utf-8") if not line.startswith("#")]
    hits = {
        name: [hit for hit in ensemble.query(sketches[name], len(values[name])) if hit != name]
        for name in asked
    }
    done = time.perf_counter()
    output.write_text(json.dumps({"hits": hits, "build": built - started, "ask": done - built}))


if __name__ == "__main__":
    main()
