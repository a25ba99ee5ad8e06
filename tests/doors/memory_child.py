"""A batch run that tells how much memory it held of its own (`test_memory`)."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from pathlib import Path

from benzer import Bands, find_duplicates


def held() -> int:
    """Bytes of memory that belong to no file."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def main(path: str, memory: str | None) -> None:
    """Run, and print the most that was held above what was held before, and what came out."""
    before = most = held()

    def watch() -> None:
        nonlocal most
        while True:
            most = max(most, held())
            time.sleep(0.002)

    threading.Thread(target=watch, daemon=True).start()
    found = find_duplicates(path, threshold=0.5, bands=Bands(600, 2), memory=memory)
    print(json.dumps({"held": most - before, "kept": len(found.kept), "candidates": len(found.proposed)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
