"""Generated sections of docs/explanation/scale.md, and the extrapolation to more documents."""

from __future__ import annotations

from typing import Any

from benchmarks import report
from benchmarks.machine import Machine
from benchmarks.scenarios import DOCS
from benzer.pipeline.memory import FILED, KEY, LEAST, PER_DOCUMENT, PER_FIELD

PAGE = DOCS / "explanation" / "scale.md"
TITLE = "Scale"
FURTHER = (100_000_000, 1_000_000_000)
COLUMNS = (
    "documents", "threshold, recall", "memory=", "seconds", "documents/s", "MB/s", "own memory, MB",
    "bytes per document", "candidates", "removed",
)  # fmt: skip
Row = dict[str, Any]


def write(record: dict[str, Any], here: Machine) -> None:
    """Write the generated sections of the page."""
    rows = record["rows"]
    ordinary = [row for row in rows if row["family"] == "ordinary"]
    measured = f"{report.table(COLUMNS, map(cells, ordinary))}\n\n{growth(ordinary)}"
    caption = (
        f"Command: `python -m benchmarks.scale`. Machine: {here.sentence()}. Threads: {rows[0]['threads']}."
    )
    report.write_section(PAGE, "measured", f"{measured}\n\n{caption}", TITLE)
    report.write_section(PAGE, "families", families(rows), TITLE)
    report.write_section(PAGE, "further", further(ordinary), TITLE)


def line(row: Row) -> str:
    """A measurement in one line of a terminal."""
    stages = ", ".join(f"{name} {value:.2f}" for name, value in row["stages"].items())
    facts = "; ".join(f"{name} {value}" for name, value in zip(COLUMNS, cells(row), strict=True))
    return f"{row['family']}: {facts}; stages {stages}"


def cells(row: Row) -> list[str]:
    """A measurement as a row of the table."""
    return [
        f"{row['documents']:,}",
        f"{row['threshold']}, {row['recall']}",
        row["memory"] or "",
        report.seconds(row["seconds"]),
        f"{row['documents'] / row['seconds']:,.0f}",
        f"{row['bytes'] / row['seconds'] / 1e6:.0f}",
        f"{held(row) / 1e6:,.0f}",
        f"{held(row) / row['documents']:,.0f}",
        f"{row['candidates']:,}",
        f"{row['removed']:,}",
    ]


def held(row: Row) -> int:
    """The peak of the anonymous memory that the run itself allocated."""
    return int(row["peak"] - row["before"])


def free_by_setting(rows: list[Row]) -> dict[tuple[float, float], list[Row]]:
    """The runs without a memory limit of each threshold and recall, by their documents."""
    found: dict[tuple[float, float], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["documents"]):
        if row["memory"] is None:
            found.setdefault((row["threshold"], row["recall"]), []).append(row)
    return found


def growth(rows: list[Row]) -> str:
    """The effect of ten times the documents, and of a memory limit, on the time."""
    lines = []
    for (threshold, recall), free in free_by_setting(rows).items():
        large = free[-1]
        times = {row["documents"]: row["seconds"] / row["documents"] for row in free}
        tenth = times.get(large["documents"] // 10)
        told = [] if tenth is None else [f"{times[large['documents']] / tenth:.2f} × that of a tenth of them"]
        setting = ("documents", "threshold", "recall")
        bounded = [row for row in rows if row["memory"] and all(row[name] == large[name] for name in setting)]
        told += [
            f"with memory={row['memory']} {row['seconds'] / large['seconds']:.2f} × that without, and "
            f"{'the same' if row['answer'] == large['answer'] else 'ANOTHER'} result"
            for row in bounded
        ]
        if told:
            lines.append(
                f"Threshold {threshold}, recall {recall}: the time of one of {large['documents']:,} documents is "
                + "; ".join(told)
                + "."
            )
    return "\n".join(lines)


def families(rows: list[Row]) -> str:
    """Documents that are all similar, that share half of their text, or that have nothing in common, and ordinary
    ones.
    """
    sizes = {row["documents"] for row in rows if row["family"] != "ordinary"}
    chosen = [row for row in rows if row["documents"] in sizes and row["memory"] is None]
    promise = {(row["threshold"], row["recall"]) for row in chosen if row["family"] != "ordinary"}
    chosen = [row for row in chosen if (row["threshold"], row["recall"]) in promise]
    usual = next((row["seconds"] / row["bytes"] for row in chosen if row["family"] == "ordinary"), None)
    table = [
        [row["family"], *cells(row), "" if usual is None else f"{row['seconds'] / row['bytes'] / usual:.2f}"]
        for row in chosen
    ]
    return report.table(["family", *COLUMNS, "time per byte, ordinary = 1"], table)


def further(rows: list[Row]) -> str:
    """Extrapolation: the measurement with the most documents, scaled to more of them."""
    table = []
    for (threshold, recall), free in free_by_setting(rows).items():
        large = free[-1]
        small = free[-2] if len(free) > 1 else large
        keys = KEY * large["bands"][0]
        more = max(large["documents"] - small["documents"], 1)
        each = (held(large) - held(small)) / more if small is not large else held(large) / more
        for count in FURTHER:
            bounded = count * (PER_DOCUMENT + PER_FIELD + FILED) + LEAST
            table.append(
                [
                    f"{count:,}",
                    f"{threshold}, {recall}",
                    f"{large['bytes'] / large['documents'] * count / 1e9:,.0f} GB",
                    f"{large['seconds'] / large['documents'] * count / 3600:.1f} h",
                    f"{each * count / 1e9:,.0f} GB",
                    f"{bounded / 1e9:,.0f} GB",
                    f"{keys * count / 1e9:,.0f} GB",
                ]
            )
    columns = (
        "documents", "threshold, recall", "file", "time", "own memory, no bound", "own memory, least bound",
        "temporary file then",
    )  # fmt: skip
    return report.table(columns, table)
