"""Run one engine once, in a fresh process of the engine's own environment; write its figures as JSON."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.peers import engine
from benchmarks.peers.base import Clock, Task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("task", help="the task as JSON")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    start = time.perf_counter()
    run = engine(arguments.engine)
    imported = time.perf_counter() - start
    answer = run(Task(**json.loads(arguments.task)))
    measured = asdict(answer) | {
        "seconds": sum(answer.stages.values()),
        "import_seconds": imported,
        "peak_rss_mb": Clock.peak_rss_mb,
        "ended": Clock.ended,
    }
    arguments.output.write_text(json.dumps(measured))


if __name__ == "__main__":
    main()
