"""Speed of insertion into datasketch, in datasketch's own environment.

`python -m benchmarks.index_peer PARAGRAPHS OUTPUT`: MinHashes of 128 permutations from the sets of word 3-shingles,
inserted into a MinHashLSH of threshold 0.8. The shingles are made before, and not timed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    from datasketch import MinHash, MinHashLSH

    with Path(sys.argv[1]).open(encoding="utf-8", newline="\n") as lines:
        texts = {row["id"]: row["text"].lower().split() for row in map(json.loads, lines)}
    sets = {
        name: list({" ".join(words[at : at + 3]).encode() for at in range(max(len(words) - 2, 1))})
        for name, words in texts.items()
    }
    start = time.perf_counter()
    index = MinHashLSH(threshold=0.8, num_perm=128)
    for name, shingles in sets.items():
        sketch = MinHash(num_perm=128)
        sketch.update_batch(shingles)
        index.insert(name, sketch, check_duplication=False)
    seconds = time.perf_counter() - start
    Path(sys.argv[2]).write_text(json.dumps({"seconds": seconds, "documents": len(sets)}))


if __name__ == "__main__":
    main()
