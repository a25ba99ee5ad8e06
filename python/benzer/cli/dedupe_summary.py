"""The summary of `benzer dedupe` on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benzer.cli import console
from benzer.views import outputs as views

if TYPE_CHECKING:
    from benzer.cli.dedupe_run import Run


def recall_lines(run: Run) -> list[str]:
    """The guaranteed and the measured recall, and how the method was chosen."""
    from benzer.views.recall import guaranteed, measured, notes_of

    result, bands = run.result, run.result.bands
    numbers = None if bands is None else (bands.bands, bands.rows)
    lines = [guaranteed(result.threshold, result.probability(result.threshold), numbers).striptags()]
    lines += notes_of(result.settings, 0 if bands is None else result.counts["oversized_buckets"])
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


def display(run: Run, output: Path, paths: dict[str, Path], seconds: float, size: int | None) -> None:
    """Print the counts, the expected and measured recall, the alarms and the output files."""
    from benzer.views.alarms import alarm_lines
    from benzer.views.counts import summary_table

    result = run.result
    texts = {field.kind for field in result.settings.schema.fields.values()} == {"text"}
    limit = result.settings.bucket_limit
    console.display(
        summary_table(result.counts, result.threshold, seconds, texts=texts, bucket_limit=limit, size=size)
    )
    console.display()
    for line in recall_lines(run):
        console.display(line)
    if run.alarms:
        console.display()
    for line in alarm_lines([alarm.message for alarm in run.alarms]):
        console.display(line)
    console.display()
    console.display(views.written(f"{output}/"))
    console.display(views.files_table(paths, output))


def size_of(inputs: Sequence[str]) -> int | None:
    """Return the total bytes of all inputs, or None if one of them is not a regular file."""
    paths = [
        Path(item)
        for name in inputs
        for item in ([name] if Path(name).exists() else glob(name, recursive=True) or [name])
    ]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
