"""Runs `benzer dedupe` with the library: arguments, recall measurement, alarms and report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benzer.cli import console, fields
from benzer.cli.location import existing, printable_location
from benzer.cli.options import given

if TYPE_CHECKING:
    from benzer.fields import Schema
    from benzer.index import Index
    from benzer.pipeline.checkpoint import Checkpoint
    from benzer.recall import RecallEstimate
    from benzer.results import Alarm, Duplicates
    from benzer.sources import MalformedRow

Settings = dict[str, Any]
MEASURED_BYTES = 32_000_000
"""The recall is measured by default up to this many bytes of text, which takes a quarter of a second. A run over much
more text would take twice as long."""


@dataclass(frozen=True)
class Run:
    """The result of a run, its measured recall and its alarms."""

    result: Duplicates
    recall: RecallEstimate | None = None
    alarms: list[Alarm] = field(default_factory=list)

    @property
    def malformed(self) -> list[MalformedRow]:
        """The skipped rows; for a run on Spark the first of them."""
        rows = getattr(self.result, "malformed_rows", None)
        return self.result.malformed if rows is None else rows

    def details(self) -> dict[str, Any]:
        """The measured recall and the alarms as JSON values."""
        measured = {} if self.recall is None else {"measured_recall": self.recall.to_dict()}
        return {**measured, "alarms": [alarm.to_dict() for alarm in self.alarms]}

    def to_dict(self) -> dict[str, Any]:
        """The summary, the measured recall and the alarms as JSON values."""
        return {**self.result.summary(), **self.details()}


@contextmanager
def opened(against: Sequence[str], checkpoint: str | None) -> Iterator[tuple[list[Index], Checkpoint | None]]:
    """Open the indexes of --against and the checkpoint, which is discarded if the block succeeds."""
    with ExitStack() as stack:
        indexes: list[Index] = []
        if against:
            from benzer.index import Index

            indexes = [stack.enter_context(Index.open(existing(place), mode="read")) for place in against]
        if checkpoint is None:
            yield indexes, None
            return
        from benzer.pipeline.checkpoint import Checkpoint

        saved = stack.enter_context(Checkpoint(checkpoint))
        yield indexes, saved
        saved.discard()


def requested_run(
    inputs: Sequence[str], settings: Settings, indexes: Sequence[Index], against: Sequence[str]
) -> Settings:
    """Convert the options to arguments of `benzer.find_duplicates`."""
    from benzer.pipeline import Options
    from benzer.pipeline import against as older

    requested = {name: settings.pop(name) for name in fields.OPTIONS}
    weight = settings.pop("weight")
    schema, columns = read_as(requested, weight, indexes, against)
    threshold = settings.pop("threshold")
    if not given("recall"):
        settings["recall"] = older.default_recall(indexes)
    id_column = settings.pop("id_column")
    rare = {
        name: settings.pop(name)
        for name in ("bucket_limit", "on_error", "seed", "on_duplicate_id", "id_scope")
    }
    return {
        **settings,
        "schema": schema,
        "text": columns,
        "threshold": older.default_threshold(schema, indexes) if threshold is None else threshold,
        "id": id_column,
        "against": indexes,
        "options": Options(format=fields.format_of(requested, inputs), **fields.layout_of(requested), **rare),
    }


def read_as(
    given: Mapping[str, Any], weight: Mapping[str, float], indexes: Sequence[Index], against: Sequence[str]
) -> tuple[Schema, dict[str, str]]:
    """Return the schema and columns of the options or of the first index."""
    if not indexes:
        return fields.described(given, weight)
    name, schema = printable_location(against[0]), indexes[0].settings.schema
    options = {**given, "weight": weight}
    fields.refuse_other_rules(name, schema, options)
    return schema, fields.columns_of(name, schema, options)


def run(
    inputs: Sequence[str],
    arguments: Settings,
    measure: bool | None,
    checkpoint: Checkpoint | None,
    progress: console.Progress | None,
) -> Run:
    """Find the duplicates, measure the recall and compute the alarms."""
    from benzer.pipeline import find_duplicates
    from benzer.sources import Files

    options = replace(arguments["options"], checkpoint=checkpoint)
    result = find_duplicates(Files(inputs), progress=progress, **{**arguments, "options": options})
    seed, threads = options.seed, arguments["threads"]
    if measure is None:
        measure = int(result.corpus.lengths().sum()) <= MEASURED_BYTES
    recall = result.measure_recall(seed=seed, threads=threads) if measure and len(result.corpus) else None
    if progress:
        progress("measure", 1, 1)
    return Run(result, recall, result.alarms())


def report_writer(done: Run, command: Sequence[str]) -> Callable[[Path], object]:
    """Return a function that writes the report to a path."""
    from benzer.report import write_report

    return partial(write_report, done.result, recall=done.recall, command=command)


def command_line() -> list[str]:
    """Return the command as typed."""
    ctx = click.get_current_context()
    return [*ctx.command_path.split(), *ctx.meta.get("benzer.arguments", [])]
