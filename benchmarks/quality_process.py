"""Run one engine with some settings on one set, in a process of the engine's own environment.

Reads the documents and the true pairs from a folder, and writes the scores of each result as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.quality_base import Answer, Collection, Engine, GaveUp, engine
from benchmarks.quality_scores import Score, cluster_score, sweep_components, sweep_pairs
from benchmarks.quality_sets import Truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("folder", type=Path, help="texts.jsonl, truth.npz and the shingle sets")
    parser.add_argument("jobs", help='JSON list of {"settings": {...}, "seed": 0}')
    parser.add_argument("output", type=Path)
    parser.add_argument("--time-limit", type=int, default=120, help="seconds for one answer")
    arguments = parser.parse_args()
    truth, collection = load_truth(arguments.folder), Collection(arguments.folder)
    find = engine(arguments.engine)
    signal.signal(signal.SIGALRM, _stop)
    with arguments.output.open("w", encoding="utf-8") as lines:
        for job in json.loads(arguments.jobs):
            lines.write(
                json.dumps(job | _answered(find, collection, truth, job, arguments.time_limit)) + "\n"
            )
            lines.flush()


def save_truth(folder: Path, truth: Truth) -> None:
    """Write the true pairs for `load_truth`."""
    arrays: dict[str, Any] = {
        "count": truth.count,
        "left": truth.left,
        "right": truth.right,
        "rule": truth.rule,
    }
    arrays |= {name: value for name in ("side", "clusters") if (value := getattr(truth, name)) is not None}
    np.savez(folder / "truth.npz", **arrays)


def load_truth(folder: Path) -> Truth:
    """The true pairs that `save_truth` wrote."""
    with np.load(folder / "truth.npz") as arrays:
        optional = {name: arrays[name] for name in ("side", "clusters") if name in arrays}
        return Truth(int(arrays["count"]), arrays["left"], arrays["right"], str(arrays["rule"]), **optional)


def scores(truth: Truth, answer: Answer) -> Iterator[Score]:
    """The scores of every method on a result, at each of its steps."""
    if answer.left is not None and answer.right is not None and answer.similarity is not None:
        for sweep in (sweep_pairs, sweep_components):
            for score in sweep(truth, answer.left, answer.right, answer.similarity):
                if score.threshold >= answer.least:
                    yield score
    for way, threshold, labels in answer.clusters:
        yield cluster_score(way, threshold, truth, labels)


def _answered(
    find: Engine, collection: Collection, truth: Truth, job: dict[str, Any], limit: int
) -> dict[str, Any]:
    start = time.perf_counter()
    signal.alarm(limit)
    try:
        answer = find(collection, job["settings"], job["seed"])
    except GaveUp as why:
        return {"gave_up": str(why), "seconds": time.perf_counter() - start, "scores": []}
    finally:
        signal.alarm(0)
    seconds = time.perf_counter() - start
    return {"gave_up": None, "seconds": seconds, "scores": [list(score) for score in scores(truth, answer)]}


def _stop(number: int, frame: object) -> None:
    raise GaveUp("over the time limit")


if __name__ == "__main__":
    main()
