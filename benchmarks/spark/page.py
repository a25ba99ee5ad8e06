"""The generated sections of docs/spark-benchmark.md."""

from __future__ import annotations

from typing import Any

from benchmarks import report
from benchmarks.machine import Machine
from benchmarks.scenarios import DOCS
from benchmarks.spark.mllib import Row, exponent
from benchmarks.spark.overhead import IN_ONE_JVM

PAGE = DOCS / "spark-benchmark.md"
TITLE = "Benchmark of Spark"
NAMES = {
    "benzer": "Benzer, one process",
    "benzer on Spark": "Benzer on Spark",
    "benzer on Spark, files": "Benzer on Spark, files read natively",
    "mllib": "MLlib",
    "squeezed": "Benzer on Spark, `spark.memory.fraction=0.05`",
}


def write(name: str, body: str, command: str, here: Machine) -> None:
    """Write one section, with the settings of its measurement."""
    caption = f"Command: `python -m benchmarks.spark_bench {command}`. Machine: {here.sentence()}."
    report.write_section(PAGE, name, f"{body}\n\n{caption}", TITLE)


def mllib(rows: list[Row], memory: str, time_limit: float) -> str:
    """The table of MLlib and Benzer, how many times faster Benzer is, and the growth of both."""
    columns = (
        "documents",
        "engine",
        "tables",
        "seconds",
        "runs",
        "shuffled, MB",
        "peak RSS, MB",
        "recall",
        "precision",
    )
    table = report.table(columns, map(_mllib_cells, rows))
    limits = f"Each run had {memory[:-1]} {memory[-1].upper()}B of driver memory and {time_limit:,.0f} s."
    return "\n\n".join(part for part in (table, *compared(rows), limits) if part)


def _mllib_cells(row: Row) -> list[object]:
    opening = [f"{row['documents']:,}", NAMES[row["engine"]], row.get("tables")]
    peak = f"{row['peak'] / 1e6:,.0f}"
    if row["failure"]:
        return [
            *opening,
            f"ended after {row['after']:,.0f}: {_cut(row['failure'])}",
            row["runs"],
            "",
            peak,
            "",
            "",
        ]
    shuffled = f"{row['work']['shuffle_written'] / 1e6:,.1f}" if "work" in row else ""
    quality = (report.share(row["recall"]), report.share(row["precision"]))
    return [*opening, report.seconds(row["seconds"]), row["runs"], shuffled, peak, *quality]


def _cut(reason: str) -> str:
    return reason.replace("|", "/")[:90]


def compared(rows: list[Row]) -> list[str]:
    """Sentences: how many times longer MLlib takes to find as much, and the powers of growth."""
    chosen = equal_recall(rows)
    told = []
    for size, (ours, theirs) in chosen.items():
        least = "at least " if theirs["failure"] else ""
        seconds = theirs["seconds"] or theirs["after"]
        told.append(f"{size:,} documents: {least}{seconds / ours['seconds']:.1f} ×")
    sentences = (
        [f"MLlib's time over Benzer's on Spark, at the recall that comes nearest: {'; '.join(told)}."]
        if told
        else []
    )
    sizes = sorted(size for size, (_, theirs) in chosen.items() if not theirs["failure"])
    if len(sizes) > 1:
        ends = (sizes[0], sizes[-1])
        sentences.append(
            f"From {ends[0]:,} to {ends[1]:,} documents, as a power of their number: {_powers(chosen, ends)}."
        )
    return sentences


def equal_recall(rows: list[Row]) -> dict[int, tuple[Row, Row]]:
    """By size: Benzer on Spark, and MLlib with the largest tested number of tables (fewer found less)."""
    found: dict[int, tuple[Row, Row]] = {}
    for size in {row["documents"] for row in rows}:
        of_size = {
            row["engine"]: row for row in rows if row["documents"] == size
        }  # the last has the most tables
        ours, theirs = of_size.get("benzer on Spark"), of_size.get("mllib")
        if ours and theirs and not ours["failure"]:
            found[size] = (ours, theirs)
    return dict(sorted(found.items()))


def _powers(chosen: dict[int, tuple[Row, Row]], ends: tuple[int, int]) -> str:
    told = []
    for place, name in enumerate(("Benzer", "MLlib")):
        small, large = (chosen[size][place] for size in ends)
        seconds = exponent(small["seconds"], large["seconds"], ends)
        shuffled = exponent(small["work"]["shuffle_written"], large["work"]["shuffle_written"], ends)
        tables = f" ({small['tables']} tables, then {large['tables']})" if "tables" in large else ""
        told.append(f"{name}{tables} {seconds:.2f} in time and {shuffled:.2f} in bytes shuffled")
    return ", ".join(told)


def overhead(found: dict[str, Any]) -> str:
    """A gigabyte, here and on Spark."""
    ours, here = found["middle"]["benzer on Spark"], found["seconds"]["benzer"]
    lines = [
        _overhead_cells(NAMES[engine], found["seconds"][engine], here, cell, found)
        for engine, cell in found["middle"].items()
    ]
    lines += [
        _overhead_cells(f"{NAMES[engine]}, run {IN_ONE_JVM} of the same session", seconds, here, {}, found)
        for engine, seconds in found["again"].items()
    ]
    columns = (
        "engine",
        "seconds",
        "of one process",
        "MB/s",
        "documents/s and core",
        "peak RSS, MB",
        "shuffled, MB",
    )
    stages = ", ".join(f"{name} {report.seconds(seconds)}" for name, seconds in ours["stages"].items())
    caption = (
        f"{found['documents']:,} documents, {found['text_bytes'] / 1e6:,.0f} MB of text in Parquet files of "
        f"{found['file_bytes'] / 1e6:,.0f} MB. {_agree(found['same'])}"
    )
    return "\n\n".join([caption, report.table(columns, lines), f"Seconds by stage on Spark: {stages}."])


def _overhead_cells(
    name: str, seconds: float, here: float, cell: dict[str, Any], found: dict[str, Any]
) -> list[object]:
    return [
        name, report.seconds(seconds), f"{seconds / here:.2f} ×", f"{found['text_bytes'] / seconds / 1e6:,.0f}",
        f"{found['documents'] / seconds / 2:,.0f}", f"{cell['peak'] / 1e6:,.0f}" if cell else "",
        f"{cell['work']['shuffle_written'] / 1e6:,.0f}" if "work" in cell else "",
    ]  # fmt: skip


def million(found: dict[str, Any]) -> str:
    """A million documents within 2 GB."""
    columns = (
        "engine",
        "seconds",
        "peak RSS of all processes, MB",
        "shuffled, MB",
        "spilled from memory, MB",
        "spilled to disk, MB",
    )
    table = report.table(columns, [_million_cells(NAMES[name], cell) for name, cell in found["runs"].items()])
    caption = f"{found['documents']:,} documents, files of {found['file_bytes'] / 1e6:,.0f} MB. {_agree(found['same'])}"
    return f"{caption}\n\n{table}"


def _million_cells(name: str, cell: dict[str, Any]) -> list[object]:
    peak = f"{cell['peak'] / 1e6:,.0f}"
    if cell["failure"]:
        return [name, _cut(cell["failure"]), peak, "", "", ""]
    work = cell.get("work", {})
    names = ("shuffle_written", "spilled_memory", "spilled_disk")
    return [
        name,
        report.seconds(cell["seconds"]),
        peak,
        *(f"{work[one] / 1e6:,.0f}" if work else "" for one in names),
    ]


def _agree(same: bool) -> str:
    return "All runs found the same pairs and removals." if same else "THE RUNS DIFFER."
