"""The summary of `benzer dedupe` on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benzer.cli import console

if TYPE_CHECKING:
    from benzer.cli.dedupe_run import Run
    from benzer.results import Duplicates

FILES = {
    "kept": "kept documents, unchanged",
    "removed_documents": "removed documents, unchanged",
    "removed": "the kept document and similarity for each removed document",
    "pairs": "all verified pairs",
    "clusters": "the kept and removed documents of each cluster",
    "malformed": "skipped rows, with file, row and reason",
    "old_matches": "matches in the indexes of --against",
    "report": "the results for viewing in a browser",
    "summary": "counts, settings, times, alarms and measured recall",
}
ALARMS_SHOWN = 5


def recall_lines(run: Run) -> list[str]:
    """The guaranteed and the measured recall, and how the method was chosen."""
    from benzer.views.recall import guaranteed, measured, notes_of

    found, bands = run.found, run.found.bands
    numbers = None if bands is None else (bands.bands, bands.rows)
    lines = [guaranteed(found.threshold, found.probability(found.threshold), numbers).striptags()]
    lines += notes_of(found.settings, 0 if bands is None else found.counts["oversized_buckets"])
    return lines if run.recall is None else [*lines, measured(run.recall.to_dict()).striptags()]


def tell_forecast(arguments: Mapping[str, Any]) -> None:
    """Print on a terminal what the run will find, before it starts."""
    from benzer.pipeline.promise import Promise, method_of
    from benzer.views.recall import forecast

    schema, threshold, recall = (arguments[name] for name in ("schema", "threshold", "recall"))
    promise = Promise(schema, threshold, recall, arguments["options"])
    way = promise.by(method_of(arguments["method"], recall, None, schema))
    bands = None if way is None else way.bands
    console.talk(forecast(threshold, recall, schema, bands, planned=way is not None))


def show(run: Run, output: Path, paths: dict[str, Path], seconds: float, size: int | None) -> None:
    """Print the counts, the expected and measured recall, the alarms and the output files."""
    found = run.found
    console.show(console.rows_table(summary_rows(found, seconds, size)))
    console.show()
    for line in recall_lines(run):
        console.show(line)
    show_alarms(run.alarms)
    console.show(f"\nwritten to {output}/")
    console.show(
        console.rows_table(
            [(f"  {path.relative_to(output)}", "", FILES[name]) for name, path in paths.items()]
        )
    )


def show_alarms(alarms: list[Any]) -> None:
    """Print the first alarms."""
    if not alarms:
        return
    console.show("\nplease check")
    for alarm in alarms[:ALARMS_SHOWN]:
        console.show(f"  {console.printable(alarm.message)}")
    if len(alarms) > ALARMS_SHOWN:
        console.show(f"  and {len(alarms) - ALARMS_SHOWN} more: see all in summary.json")


def summary_rows(found: Duplicates, seconds: float, size: int | None) -> list[tuple[str, str, str]]:
    """Return the counts with their meaning."""
    from benzer.views.counts import counts_of

    texts = {field.kind for field in found.settings.schema.fields.values()} == {"text"}
    limit = found.settings.bucket_limit
    rows = [
        ("  " * one.part + one.label, one.number, one.remark)
        for one in counts_of(found.counts, found.threshold, texts=texts, bucket_limit=limit)
    ]
    return [*rows, ("time", console.duration(seconds), speed(found.counts["documents"], seconds, size))]


def speed(documents: int, seconds: float, size: int | None) -> str:
    """Format the speed in documents, and in bytes if the size of the input is known."""
    per_second = f"{console.count(round(documents / seconds))} documents/s"
    return f"{console.amount(round(size / seconds))}/s, {per_second}" if size and size > 1e6 else per_second


def size_of(inputs: Sequence[str]) -> int | None:
    """Return the total bytes of all inputs, or None if one of them is not a regular file."""
    paths = [
        Path(one)
        for name in inputs
        for one in ([name] if Path(name).exists() else glob(name, recursive=True) or [name])
    ]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
