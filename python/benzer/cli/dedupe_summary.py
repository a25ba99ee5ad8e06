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
    from benzer.views.alarms import alarm_lines
    from benzer.views.counts import summary_table

    found = run.found
    texts = {field.kind for field in found.settings.schema.fields.values()} == {"text"}
    limit = found.settings.bucket_limit
    console.show(
        summary_table(found.counts, found.threshold, seconds, texts=texts, bucket_limit=limit, size=size)
    )
    console.show()
    for line in recall_lines(run):
        console.show(line)
    if run.alarms:
        console.show()
    for line in alarm_lines([alarm.message for alarm in run.alarms]):
        console.show(line)
    console.show()
    console.show(views.written(f"{output}/"))
    console.show(views.files_table(paths, output))


def size_of(inputs: Sequence[str]) -> int | None:
    """Return the total bytes of all inputs, or None if one of them is not a regular file."""
    paths = [
        Path(one)
        for name in inputs
        for one in ([name] if Path(name).exists() else glob(name, recursive=True) or [name])
    ]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
