"""Markdown tables, generated sections of pages, and dated records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.scenarios import RECORDS


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table.

    >>> print(table(["set", "recall"], [["rfc", 0.5]]))
    | set | recall |
    |---|---|
    | rfc | 0.5 |
    """
    lines = [list(columns), *([_cell(value) for value in row] for row in rows)]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(columns), *text[1:]])


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def write_section(page: Path, name: str, body: str, title: str) -> None:
    """Replace the generated section `name` of a page, or append it; a new page starts with `title`."""
    opening, closing = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
    text = page.read_text(encoding="utf-8") if page.exists() else f"# {title}\n"
    section = f"{opening}\n{body.strip()}\n{closing}"
    if opening in text and closing in text:
        before, rest = text.split(opening, 1)
        text = before + section + rest.split(closing, 1)[1]
    else:
        text = text.rstrip("\n") + f"\n\n{section}\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def write_record(date: str, name: str, content: object) -> Path:
    """Write `records/DATE-NAME.json`; a later one of the same day replaces it."""
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{date}-{name}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def seconds(value: float) -> str:
    """Three significant digits.

    >>> [seconds(value) for value in (0.04321, 4.321, 432.1)]
    ['0.0432', '4.32', '432']
    """
    return f"{value:.0f}" if value >= 100 else f"{float(f'{value:.3g}')}"


def share(value: float | None) -> str | None:
    """A share with four digits, truncated and not rounded, so that 1.0000 means all.

    >>> [share(value) for value in (1.0, 0.99996, None)]
    ['1.0000', '0.9999', None]
    """
    return None if value is None else f"{int(value * 10_000 + 1e-9) / 10_000:.4f}"
