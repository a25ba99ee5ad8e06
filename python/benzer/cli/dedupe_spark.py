"""How is `benzer dedupe --engine spark` carried out, and when would the local engine be wiser?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from benzer.cli import console, dedupe_run
from benzer.cli.dedupe_summary import size_of
from benzer.cli.options import given
from benzer.errors import SettingsError
from benzer.wording import amount, duration

LOCAL = "local[*]"
STEPS = ("start", "sketch", "copies", "join", "blocks", "decide", "measure", "write")
"""What is shown of a run: each step is a few stages of it."""
STEP_OF = {name: name for name in ("sketch", "copies", "join", "blocks")} | {"repeats": "copies"}
"""By the first word of a stage's name; of others the step is the decision."""
START_SECONDS, SPARK_RATE, LOCAL_RATE = 20.0, 27e6, 95e6
"""How long a run of a few documents takes on Spark on a machine, and the bytes of text a second of both engines there,
from files to the written folder: on two cores 1.1 GB of text took 61 s, and 12 s by the local engine."""
TOLD_FROM = 1.5
"""From so many times on it is said that the local engine is faster."""

REFUSED = {
    "method": "there is no exact join on Spark, and no choice of methods",
    "memory": "Spark's memory is set by --spark-conf spark.driver.memory=4g and spark.executor.memory=4g",
    "threads": "Spark's tasks are set by --master local[N], or by the cluster",
    "dry_run": "prices are estimated from a sample, which the local engine reads",
}
"""Options that say nothing to Spark, each with what does."""
OF_SPARK = ("master", "partitions", "spark_conf")


@dataclass(frozen=True)
class Run(dedupe_run.Run):
    """A run on Spark; its summary is counted while there is a session."""

    summary: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """See `dedupe_run.Run`."""
        return {**self.summary, **self.told()}


@dataclass
class Steps:
    """Shows a run step by step: one ends where a later one begins. `bars` is None where nothing is shown."""

    bars: console.Progress | None
    steps: Sequence[str] = STEPS
    at: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """What a run tells of its stages."""
        self.reach(STEP_OF.get(stage.split("-")[0], "decide"))

    def reach(self, step: str) -> None:
        """End all steps before this one."""
        while self.bars and step in self.steps[self.at + 1 :]:
            self.bars(self.steps[self.at], 1, 1)
            self.at += 1


def engine_options(function: Any) -> Any:
    """Give a command `--engine` and the options of Spark."""
    for option in (
        click.option(
            "--spark-conf", multiple=True, metavar="KEY=VALUE", callback=pairs_of,
            help="A setting of Spark, as in spark.executor.memory=8g; may be repeated.",
        ),
        click.option(
            "--partitions", type=click.IntRange(min=1), metavar="NUMBER",
            help="Tasks of a shuffle on Spark; the result is the same. "
            "[default: Spark's own; on a local master four a core]",
        ),
        click.option(
            "--master", metavar="URL",
            help=f"Where Spark runs: local[*], spark://host:7077, yarn, k8s://... [default: {LOCAL}]",
        ),
        click.option(
            "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
            help="What carries the work out: this process, or Apache Spark, with the same result.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def pairs_of(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Settings by name; one without a value is wrong usage."""
    wrong = [one for one in given if "=" not in one.strip("=")]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is no KEY=VALUE, as in spark.executor.memory=8g.")
    return {name.strip(): value for name, _, value in (one.partition("=") for one in given)}


def check_engine(engine: str, against: Sequence[str]) -> None:
    """Refuse, before the work, options of the other engine."""
    if engine == "local":
        for name in given(*OF_SPARK):
            raise click.UsageError(
                f"--{name.replace('_', '-')} is for --engine spark: add that, or leave it out."
            )
        return
    for name in given(*REFUSED):
        raise click.UsageError(f"--{name.replace('_', '-')} is not for --engine spark: {REFUSED[name]}.")
    if against:
        raise click.UsageError(
            "--against takes an index, which the local engine asks: leave --engine spark out, or give "
            "benzer.spark.find_duplicates a collection of Spark's."
        )


def tell(told: str | None) -> None:
    """Say on stderr what there is to say."""
    if told is not None:
        console.note(told)


def advice(size: int | None, master: str) -> str | None:
    """When the local engine would be wiser: where all the work is on this machine, too.

    >>> print(advice(10**9, "local[2]"))
    on this machine the local engine takes about 10.5 s for 1.0 GB, Spark 57.0 s: leave --engine spark out
    >>> advice(10**9, "spark://host:7077"), advice(None, "local[2]")
    (None, None)
    """
    if size is None or not master.startswith("local"):
        return None
    here, there = size / LOCAL_RATE, START_SECONDS + size / SPARK_RATE
    if there < TOLD_FROM * here:
        return None
    return (
        f"on this machine the local engine takes about {duration(here)} for {amount(size)}, Spark {duration(there)}: "
        f"leave --engine spark out"
    )


def outgrown(size: int | None, memory: int | None = None) -> str | None:
    """When Spark would be wiser: where the input is larger than the memory of this machine, by default as it is.

    >>> print(outgrown(2 * 10**11, 64 * 10**9))
    the input of 200.0 GB is more than the memory of this machine, 64.0 GB: --engine spark spreads it over several,
    --memory bounds what a run here holds
    >>> outgrown(10**9, 64 * 10**9)
    """
    memory = memory or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size is None or size <= memory:
        return None
    return (
        f"the input of {amount(size)} is more than the memory of this machine, {amount(memory)}: --engine spark "
        f"spreads it over several, --memory bounds what a run here holds"
    )


@contextmanager
def session(master: str, partitions: int | None, conf: Mapping[str, str]) -> Iterator[Any]:
    """A session of Spark that is stopped at the end, however the block ends; what its Java says goes to a file.

    The file is named where Spark does not start, and removed where it does its work.
    """
    import tempfile

    from benzer.spark.session import local_session, require_spark

    require_spark()
    settings = {name.replace(".", "__"): value for name, value in conf.items()}
    if partitions is not None:
        settings["spark__sql__shuffle__partitions"] = str(partitions)
    with tempfile.NamedTemporaryFile("w+", prefix="benzer-spark-", suffix=".log", delete=False) as log:
        with said_to(log):
            try:
                spark = local_session(master, **settings)
            except Exception as error:
                if isinstance(error, ImportError):
                    os.unlink(log.name)
                    raise
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                raise SettingsError(
                    f"Spark did not start on {master} ({reason}): see {log.name}, and check --master and --spark-conf"
                ) from error
        try:
            yield spark
        finally:
            with said_to(log):
                spark.stop()
            os.unlink(log.name)


@contextmanager
def said_to(log: IO[str]) -> Iterator[None]:
    """What processes started in the block say on stderr goes to a file, as long as they live."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        os.dup2(log.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def run(
    inputs: Sequence[str],
    arguments: dict[str, Any],
    output: Path,
    master: str,
    conf: Mapping[str, str],
    *,
    measure: bool | None,
    report: bool,
    checkpoint: str | None,
    partitions: int | None,
    **writing: Any,
) -> tuple[Run, dict[str, Path]]:
    """Find the duplicates on Spark, measure what was found, look for alarms, and write the folder."""
    from benzer.clusters import Keep
    from benzer.spark.files import opened

    # Before Spark is started for nothing:
    opened(list(inputs), arguments["schema"], arguments["format"])
    Keep.parse(arguments["keep"])
    if arguments["recall"] == 1:
        raise SettingsError("there is no exact join on Spark: ask for a recall of at most 0.9999, not 1")
    size = size_of(inputs)
    tell(advice(size, master))
    dedupe_run.tell_forecast({**arguments, "method": None})
    if measure is None:
        measure = size is not None and size <= dedupe_run.MEASURED_BYTES
    shown = [step for step in STEPS if measure or step != "measure"]
    with console.progress(*shown) as bars, session(master, partitions, conf) as spark:
        steps = Steps(bars, shown)
        done = found_in(spark, inputs, arguments, measure, checkpoint, partitions, steps)
        found: Any = done.found  # Spark's, which answers as a local one
        extra = {}
        if report:
            command = dedupe_run.command_line()
            extra["report.html"] = partial(found.write_report, recall=done.recall, command=command)
        from benzer.spark.failures import told_plainly
        from benzer.spark.files.writing import write_folder

        with told_plainly():
            paths = write_folder(found, output, done.to_dict(), extra=extra, **writing)
        return done, paths


def found_in(
    spark: Any,
    inputs: Sequence[str],
    arguments: Mapping[str, Any],
    measure: bool,
    checkpoint: str | None,
    partitions: int | None,
    steps: Steps,
) -> Run:
    """What a session finds in files."""
    from benzer.spark.failures import told_plainly
    from benzer.spark.files import read_files
    from benzer.spark.flow import find_duplicates
    from benzer.spark.settings import Work

    read_by = ("schema", "text", "id", "keep", "on_error", "format")
    found_by = ("schema", "threshold", "recall", "bucket_limit", "keep", "seed", "on_error")
    with told_plainly():
        steps.reach("sketch")
        documents = read_files(spark, list(inputs), **{name: arguments[name] for name in read_by})
        found: Any = find_duplicates(
            documents,
            checkpoint=checkpoint,
            work=Work(partitions=partitions),
            progress=steps,
            **{name: arguments[name] for name in found_by},
        )
        recall = None
        steps.reach("measure")
        if measure and found.counts["documents"]:
            recall = found.measure_recall(seed=arguments["seed"])
        steps.reach("write")
        return Run(found, recall, found.alarms(), found.summary())
