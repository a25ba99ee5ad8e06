"""A batch run that tells how much memory it held of its own (`test_memory`)."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import zlib
from pathlib import Path

from benzer import Bands, Options, find_duplicates


def held() -> int:
    """Bytes of memory that belong to no file."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def main(path: str, bands: str, memory: str | None) -> None:
    """Run, and print the most that was held above what was held before, and what came out."""
    before = most = held()

    def watch() -> None:
        nonlocal most
        while True:
            most = max(most, held())
            time.sleep(0.002)

    threading.Thread(target=watch, daemon=True).start()
    found = find_duplicates(
        path, threshold=0.5, options=Options(bands=Bands(*map(int, bands.split("x")))), memory=memory
    )
    held_most = most - before
    leaders = zlib.crc32(found.leader.tobytes())
    counts = {"kept": len(found.kept), "candidates": len(found.proposed)}
    print(json.dumps({"held": held_most, "leaders": leaders, **counts}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
