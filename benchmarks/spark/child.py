"""One run in a fresh process: `python -m benchmarks.spark.child TASK OUTPUT`, started by `processes`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.spark.engines import ENGINES


def main() -> None:
    task = json.loads(sys.argv[1])
    Path(sys.argv[2]).write_text(json.dumps(ENGINES[task["engine"]](task)))


if __name__ == "__main__":
    main()
