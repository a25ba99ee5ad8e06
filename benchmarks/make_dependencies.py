"""Write examples/data/dependencies.jsonl, real value sets, the same every time.

Each set contains the Python libraries that one Python library of Debian 12 depends on. The input is Debian's list
of packages (`apt-cache dumpavail` prints it), which is not in the repository:

    apt-cache dumpavail | python benchmarks/make_dependencies.py
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

OUTPUT = Path(__file__).resolve().parent.parent / "examples" / "data" / "dependencies.jsonl"
PREFIX = "python3-"
LEAST = 6
FIELD = re.compile(r"^(Package|Depends): (.*)$", re.MULTILINE)


def libraries(packages: str) -> Iterator[tuple[str, list[str]]]:
    """Each library and the libraries that it depends on; of alternatives (a | b) the first, if it is a package."""
    described = [dict(FIELD.findall(paragraph)) for paragraph in packages.split("\n\n")]
    known = {one["Package"] for one in described if one.get("Package", "").startswith(PREFIX)}
    for one in described:
        names = (re.split(r"[ (:|]", part.strip())[0] for part in one.get("Depends", "").split(","))
        needed = sorted({name.removeprefix(PREFIX) for name in names if name in known})
        if one.get("Package") in known and len(needed) >= LEAST:
            yield one["Package"].removeprefix(PREFIX), needed


def main() -> None:
    rows = sorted(dict(libraries(sys.stdin.read())).items())
    lines = [json.dumps({"id": name, "depends": needed}) + "\n" for name, needed in rows]
    OUTPUT.write_text("".join(lines), encoding="utf-8")
    print(f"{OUTPUT.name}: {len(rows)} libraries, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
