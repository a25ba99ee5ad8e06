"""Select the sample documents and write examples/data, the same every time.

The labelled sets that they come from are not in the repository: give their folder as the argument.

    python benchmarks/make_sample.py ../shared/data
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
OUTPUT = Path(__file__).resolve().parent.parent / "examples" / "data" / "documents.jsonl"


def document(name: str, language: str | None, text: str, version: str | None = None) -> Row:
    return {"id": name, "source": name.split("/")[0], "version": version, "language": language, "text": text}


def rows_of(folder: Path, name: str) -> Iterator[Row]:
    with lzma.open(folder / name / "docs.jsonl.xz", "rt", encoding="utf-8", newline="\n") as lines:
        yield from map(json.loads, lines)


def families(rows: Iterator[Row], family: Callable[[Row], str]) -> list[list[Row]]:
    """The rows by family; families are in the order of the hashes of their names: arbitrary, but always the same."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(family(row), []).append(row)
    return [found[name] for name in sorted(found, key=lambda name: hashlib.sha256(name.encode()).digest())]


def size(rows: list[Row]) -> int:
    return sum(len(row["text"].encode()) for row in rows)


def within(budget: int, groups: Iterator[list[Row]]) -> list[Row]:
    """Whole families, as many as fit into the budget of bytes."""
    chosen: list[Row] = []
    for group in groups:
        if size(chosen) + size(group) <= budget:
            chosen += group
    return chosen


def manual_pages(folder: Path) -> Iterator[Row]:
    """Pages of Django's manual, each in all releases: long chains of versions."""
    groups = families(rows_of(folder, "django_docs"), lambda row: row["id"].split("@")[0])
    pages = (group for group in groups if not group[0]["id"].startswith("releases/"))
    chains = (group for group in pages if len(group) == 17 and size(group) < 90_000)
    for row in within(580_000, chains):
        path, version = row["id"].split("@")
        yield document(f"django/{path}@{version}", "en", row["text"], version)


def licence_texts(folder: Path) -> Iterator[Row]:
    """Licence texts and notices: near-duplicates that are not copies."""
    rows = (row for row in rows_of(folder, "licenses") if not row["generic"])
    groups = families(rows, lambda row: row["license"])
    several = ([row for row in group if len(row["text"]) < 6_000][:6] for group in groups if len(group) > 1)
    for row in within(430_000, several):
        yield document(f"licences/{row['id']}", row["language"], row["text"])


def package_descriptions(folder: Path) -> Iterator[Row]:
    """Descriptions of Debian packages in English: many short documents; packages of one source are similar."""
    groups = families(rows_of(folder, "debian_desc_en"), lambda row: row["id"].split("-")[0])
    for row in within(330_000, (group for group in groups if 2 <= len(group) <= 8)):
        yield document(f"debian/{row['id']}", "en", row["text"])


def translated_descriptions(folder: Path) -> Iterator[Row]:
    """The same in Japanese, a script without spaces, and in German."""
    groups = families(rows_of(folder, "debian_desc_multilingual"), lambda row: row["id"].split("-")[0])
    for language, budget in (("ja", 110_000), ("de", 40_000)):
        spoken = (group for group in groups if group[0]["lang"] == language and 2 <= len(group) <= 8)
        for row in within(budget, spoken):
            yield document(f"debian/{row['id']}", language, row["text"])


def added() -> Iterator[Row]:
    """Documents that the other sets lack: an empty one, and one with fewer than three words."""
    yield document("added/empty", None, "")
    yield document("added/short", "en", "Page 1")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the labelled sets")
    folder = parser.parse_args().folder
    rows = [*manual_pages(folder), *licence_texts(folder), *package_descriptions(folder)]
    rows += [*translated_descriptions(folder), *added()]
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with OUTPUT.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{OUTPUT}: {len(rows):,} documents, {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
