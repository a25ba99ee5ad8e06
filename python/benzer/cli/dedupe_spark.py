"""`benzer dedupe --engine spark`: run on Spark, and advise when the local engine is faster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from benzer.cli import console, dedupe_run, dedupe_summary
from benzer.cli.options import SPARK, given, option
from benzer.errors import SettingsError
from benzer.views.outputs import larger_than_memory, local_is_faster

LOCAL = "local[*]"
STEPS = ("start", "sketch", "copies", "join", "blocks", "decide", "measure", "write")
"""The steps shown as progress; each step covers a few stages of the run."""
STEP_OF = {name: name for name in ("sketch", "copies", "join", "blocks")} | {"repeats": "copies"}
"""The step by the first word of a stage's name; other stages belong to the step "decide"."""
START_SECONDS, SPARK_RATE, LOCAL_RATE = 20.0, 27e6, 95e6
"""Start-up time of Spark on one machine, and the throughput of both engines there in bytes of text per second, from
files to the written folder: on two cores 1.1 GB of text took 61 s on Spark and 12 s with the local engine."""
ADVISED_FROM = 1.5
"""If Spark takes at least this many times longer, the local engine is recommended."""

REFUSED = {
    "method": "Spark always uses bands; omit the option",
    "memory": "use --spark-conf spark.driver.memory=4g and --spark-conf spark.executor.memory=4g",
    "threads": "use --master local[N], or the settings of the cluster",
    "dry_run": "use the local engine, which estimates from a sample",
}
"""Options that Spark does not support, each with the alternative."""
OF_SPARK = ("master", "partitions", "spark_conf")


@dataclass(frozen=True)
class ClusterRun(dedupe_run.Run):
    """A run on Spark; its summary is computed while the session is open."""

    summary: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """See `dedupe_run.Run`."""
        return {**self.summary, **self.details()}


@dataclass
class Steps:
    """Shows the progress of a run by step: a step ends when a later one begins. `bars` is None without a terminal."""

    bars: console.Progress | None
    steps: Sequence[str] = STEPS
    step: int = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report the progress of a stage."""
        self.reach(STEP_OF.get(stage.split("-")[0], "decide"))

    def reach(self, step: str) -> None:
        """End all steps before this step."""
        while self.bars and step in self.steps[self.step + 1 :]:
            self.bars(self.steps[self.step], 1, 1)
            self.step += 1


def engine_options(function: Any) -> Any:
    """Add `--engine` and the Spark options to a command."""
    for add in (
        option(
            SPARK, "--spark-conf", multiple=True, metavar="KEY=VALUE", callback=pairs_of,
            help="Spark setting, e.g. spark.executor.memory=8g. Repeatable.",
        ),
        option(
            SPARK, "--partitions", type=click.IntRange(min=1), metavar="NUMBER",
            show_default="set by Spark; 4 per core on a local master",
            help="Number of shuffle partitions on Spark. Does not affect the result.",
        ),
        option(
            SPARK, "--master", metavar="URL", show_default=LOCAL,
            help="Spark master: local[*], spark://host:7077, yarn or k8s://...",
        ),
        option(
            SPARK, "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
            help="Run in this process or on Apache Spark. Both give the same result.",
        ),
    ):  # fmt: skip
        function = add(function)
    return function


def pairs_of(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Parse KEY=VALUE settings."""
    wrong = [item for item in given if "=" not in item.strip("=")]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not KEY=VALUE, e.g. spark.executor.memory=8g.")
    return {name.strip(): value for name, _, value in (item.partition("=") for item in given)}


def check_engine(engine: str, against: Sequence[str]) -> None:
    """Raise an error before the run for options of the other engine."""
    if engine == "local":
        for name in given(*OF_SPARK):
            raise click.UsageError(
                f"--{name.replace('_', '-')} requires --engine spark: add it, or omit the option."
            )
        return
    for name in given(*REFUSED):
        raise click.UsageError(
            f"--{name.replace('_', '-')} is not supported by --engine spark: {REFUSED[name]}."
        )
    if against:
        raise click.UsageError(
            "--against is not supported by --engine spark: use the local engine, or pass a Spark collection to "
            "benzer.spark.find_duplicates."
        )


def tell(message: str | None) -> None:
    """Print a note to stderr, if there is one."""
    if message is not None:
        console.note(message)


def advice(size: int | None, master: str) -> str | None:
    """Recommend the local engine where it is faster: for a Spark master on this machine.

    >>> print(advice(10**9, "local[2]"))
    on this machine the local engine takes about 10.5 s for 1.0 GB, Spark 57.0 s: omit --engine spark
    >>> advice(10**9, "spark://host:7077"), advice(None, "local[2]")
    (None, None)
    """
    if size is None or not master.startswith("local"):
        return None
    here, there = size / LOCAL_RATE, START_SECONDS + size / SPARK_RATE
    if there < ADVISED_FROM * here:
        return None
    return local_is_faster(size, here, there)


def outgrown(size: int | None, memory: int | None = None) -> str | None:
    """Recommend Spark or `--memory` if the input is larger than the memory of this machine.

    >>> print(outgrown(2 * 10**11, 64 * 10**9))
    the input (200.0 GB) is larger than the memory of this machine (64.0 GB): use --memory to limit the memory of
    the run, or --engine spark to use several machines
    >>> outgrown(10**9, 64 * 10**9)
    """
    memory = memory or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size is None or size <= memory:
        return None
    return larger_than_memory(size, memory)


@contextmanager
def session(master: str, partitions: int | None, conf: Mapping[str, str]) -> Iterator[Any]:
    """Start a Spark session and stop it when the block ends; the output of Java goes to a log file.

    If Spark does not start, the error names the log file; otherwise the file is removed.
    """
    import tempfile

    from benzer.spark.session import local_session, require_spark

    require_spark()
    settings = {name.replace(".", "__"): value for name, value in conf.items()}
    if partitions is not None:
        settings["spark__sql__shuffle__partitions"] = str(partitions)
    with tempfile.NamedTemporaryFile("w+", prefix="benzer-spark-", suffix=".log", delete=False) as log:
        with stderr_to(log):
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
            with stderr_to(log):
                spark.stop()
            os.unlink(log.name)


@contextmanager
def stderr_to(log: IO[str]) -> Iterator[None]:
    """Redirect stderr of processes that are started in the block to a file, for as long as they run."""
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
) -> tuple[ClusterRun, dict[str, Path]]:
    """Find the duplicates on Spark, measure what was found, look for alarms, and write the folder."""
    from benzer.clusters import Keep
    from benzer.spark.files import opened

    # Check the arguments before Spark is started.
    opened(list(inputs), arguments["schema"], arguments["options"].format)
    Keep.parse(arguments["keep"])
    if arguments["recall"] == 1:
        raise SettingsError("recall 1 is not supported on Spark: use a recall of at most 0.9999")
    size = dedupe_summary.size_of(inputs)
    tell(advice(size, master))
    dedupe_summary.tell_forecast({**arguments, "method": None})
    if measure is None:
        measure = size is not None and size <= dedupe_run.MEASURED_BYTES
    listed = [step for step in STEPS if measure or step != "measure"]
    with console.progress(*listed) as bars, session(master, partitions, conf) as spark:
        steps = Steps(bars, listed)
        done = run_on(spark, inputs, arguments, measure, checkpoint, partitions, steps)
        result: Any = done.result  # has the same methods as a local result
        extra = {}
        if report:
            command = dedupe_run.command_line()
            extra["report.html"] = partial(result.write_report, recall=done.recall, command=command)
        from benzer.spark.failures import raised_plainly
        from benzer.spark.files.writing import write_folder

        with raised_plainly():
            paths = write_folder(result, output, done.to_dict(), extra=extra, **writing)
        return done, paths


def run_on(
    spark: Any,
    inputs: Sequence[str],
    arguments: Mapping[str, Any],
    measure: bool,
    checkpoint: str | None,
    partitions: int | None,
    steps: Steps,
) -> ClusterRun:
    """Find the duplicates in files with a Spark session."""
    from benzer.spark.failures import raised_plainly
    from benzer.spark.files import read_files
    from benzer.spark.flow import find_duplicates
    from benzer.spark.settings import Work

    options = arguments["options"]
    read_by = ("schema", "text", "id", "keep")
    found_by = ("schema", "threshold", "recall", "keep")
    with raised_plainly():
        steps.reach("sketch")
        documents = read_files(
            spark,
            list(inputs),
            on_error=options.on_error,
            format=options.format,
            encoding=options.encoding,
            delimiter=options.delimiter,
            html=options.html,
            **{name: arguments[name] for name in read_by},
        )
        result: Any = find_duplicates(
            documents,
            options=replace(options, checkpoint=checkpoint),
            work=Work(partitions=partitions),
            progress=steps,
            **{name: arguments[name] for name in found_by},
        )
        recall = None
        steps.reach("measure")
        if measure and result.counts["documents"]:
            recall = result.measure_recall(seed=options.seed)
        steps.reach("write")
        return ClusterRun(result, recall, result.alarms(), result.summary())
