"""The summary of `benzer dedupe` on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benzer.cli import console
from benzer.wording import SHORT_DOCUMENTS

if TYPE_CHECKING:
    from benzer.cli.dedupe_run import Run
    from benzer.pipeline.promise import Promise, Way
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
CURVE = (-0.1, 0.05, 0.1)
"""Offsets from the threshold of the other points of the S-curve shown before the run."""


def forecast(promise: Promise, way: Way | None) -> str:
    """Describe what the run will find: the S-curve near the threshold.

    >>> from benzer.fields import Schema
    >>> from benzer.pipeline.promise import Promise
    >>> promise = Promise(Schema(), 0.8, 0.95)
    >>> forecast(promise, promise.by("lsh"))
    'bands 10 x 6: finds a pair at 0.80 with probability 0.952, at 0.70 with 0.714, at 0.85 with 0.991, at 0.90 with 0.999'
    >>> forecast(promise, promise.by("exact"))
    'exact method: finds every pair at 0.80 and above'
    """  # noqa: E501
    threshold = promise.threshold
    if way is None:
        return f"method auto: finds a pair at {console.setting(threshold)} with probability {promise.recall} or more"
    if way.bands is None:
        return f"exact method: finds every pair at {console.setting(threshold)} and above"
    others = [threshold + step for step in CURVE if 0 < threshold + step < 1]
    told = [
        f"at {console.setting(round(at, 4))} with "
        f"{console.ratio(float(way.bands.probability(promise.schema.band_threshold(at))))}"
        for at in others
    ]
    return ", ".join([console.promise(way.bands, threshold, promise.schema), *told])


def tell_forecast(arguments: Mapping[str, Any]) -> None:
    """Print on a terminal what the run will find, before it starts."""
    from benzer.pipeline.promise import Promise, method_of

    schema, threshold, recall = (arguments[name] for name in ("schema", "threshold", "recall"))
    promise = Promise(schema, threshold, recall, arguments["options"])
    console.talk(forecast(promise, promise.by(method_of(arguments["method"], recall, None, schema))))


def kept_promise(found: Duplicates) -> str:
    """Describe how pairs were found, with which probability, and why the method was chosen."""
    if found.bands is None:
        told = f"exact method: every pair at {console.setting(found.threshold)} is found"
    else:
        told = console.promise(found.bands, found.threshold, found.settings.schema)
        if oversized := found.counts["oversized_buckets"]:
            buckets = "1 bucket" if oversized == 1 else f"{console.count(oversized)} buckets"
            told += f"\n{buckets} above the limit: pairs of two removed documents in them are not listed"
    if found.settings.against:
        recall = console.setting(found.recall)
        told += (
            f"\nagainst {', '.join(found.settings.against)}: finds a match with probability {recall} or more"
        )
    return f"{told}\nchosen: {found.settings.reason}" if found.settings.reason else told


def show(run: Run, output: Path, paths: dict[str, Path], seconds: float, size: int | None) -> None:
    """Print the counts, the expected and measured recall, the alarms and the output files."""
    found = run.found
    console.show(console.rows_table(summary_rows(found, seconds, size)))
    console.show()
    console.show(kept_promise(found))
    if run.recall is not None:
        console.show(f"measured: {run.recall}")
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
    counts = found.counts
    threshold = console.setting(found.threshold)
    texts = {field.kind for field in found.settings.schema.fields.values()} == {"text"}
    remarks = {
        "read": "rows",
        "malformed": "rows skipped",
        "kept": console.share(counts["kept"], counts["documents"]),
        "removed": console.share(counts["removed"], counts["documents"]),
        "identical": "equal to a kept document" + " after normalization" * texts,
        "known": "match a document of an --against index",
        "near": f"similarity of at least {threshold} to a kept document",
        "short": SHORT_DOCUMENTS,
        "empty": f"without {'shingles' if texts else 'elements'}; always kept",
        "pairs": f"similarity of at least {threshold}; {console.count(counts['candidates'])} candidates compared",
        "clusters": "kept documents with duplicates",
        "oversized_buckets": (
            f"more than {console.count(found.settings.bucket_limit or 0)} documents each; "
            "only their pairs with a kept document are listed"
        ),
    }
    optional = {"malformed", "known", "oversized_buckets"}
    indented = {"identical", "near", "known"}
    rows = [
        (
            "  " * (name in indented) + name.replace("_", " "),
            console.count(counts[name]),
            remark * bool(counts[name]),
        )
        for name, remark in remarks.items()
        if name not in optional or counts.get(name)
    ]
    return [*rows, ("time", console.duration(seconds), speed(counts["documents"], seconds, size))]


def speed(documents: int, seconds: float, size: int | None) -> str:
    """Format the speed in documents, and in bytes if the size of the input is known."""
    per_second = f"{console.count(round(documents / seconds))} documents/s"
    return f"{size / seconds / 1e6:,.1f} MB/s, {per_second}" if size and size > 1e6 else per_second


def size_of(inputs: Sequence[str]) -> int | None:
    """Return the total bytes of all inputs, or None if one of them is not a regular file."""
    paths = [
        Path(one)
        for name in inputs
        for one in ([name] if Path(name).exists() else glob(name, recursive=True) or [name])
    ]
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
