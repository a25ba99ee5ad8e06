"""`benzer dedupe`: which documents stay, which go, and why?"""

from __future__ import annotations

from glob import glob
from os.path import realpath
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import click

from benzer.cli import console, dedupe_prices, dedupe_run, dedupe_spark, dedupe_summary, fields
from benzer.cli import options as shared
from benzer.cli.location import Location
from benzer.cli.output import prepare
from benzer.errors import OutputError

EXAMPLES = """\
# Remove near-duplicates; clean/ will hold the kept, the removed and the evidence
benzer dedupe docs.jsonl --output clean

# Many files, other columns, a lower threshold
benzer dedupe 'crawl/*.jsonl.zst' --text body --id url --threshold 0.7 --output clean

# Keep the longest of each cluster, or the one from the better source
benzer dedupe docs.parquet --keep longest --output clean
benzer dedupe docs.csv --keep priority:source=books,web --output clean

# Short texts: compare runs of 5 characters
benzer dedupe names.csv --text name --shingle char:5 --output clean

# Images: copies that were resized, recompressed or retouched
benzer dedupe photos --images grid --output clean

# Several fields, of which the title counts twice
benzer dedupe books.jsonl --text title --values tags --weight title=2 --output clean

# What would each threshold do? Nothing is written
benzer dedupe docs.jsonl --dry-run

# New documents against those of last month, which stay in their index
benzer dedupe june.jsonl --against may.benzer --output clean

# Find every pair; or let a look at the documents decide what is cheaper
benzer dedupe docs.jsonl --recall 1 --output clean
benzer dedupe docs.jsonl --method auto --output clean

# A long run: bounded in memory, and where it stops it can go on; with a report to look at
benzer dedupe big.jsonl.zst --memory 8GB --checkpoint saved --report --output clean

# More than one machine can do: the same result on Apache Spark, from a folder that all of it shares
benzer dedupe '/mnt/crawl/*.parquet' --engine spark --master spark://host:7077 --output clean

# In a script
zcat docs.jsonl.gz | benzer dedupe - --format jsonl --output clean --json > summary.json
"""
STAGES = ("read", "sketch", "against", "candidates", "verify", "clusters", "measure", "write")


@click.command(
    "dedupe", cls=shared.TaughtCommand, examples=EXAMPLES, short_help="Remove near-duplicate documents."
)
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder to write; must not exist yet.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Write nothing, but estimate what each threshold would do.")
@shared.promise_options(threshold=None, exact=True)
@click.option(
    "--method", type=click.Choice(["lsh", "exact", "auto"]),
    help="How pairs are found: by bands, by an exact join, or by what will be cheaper. "
    "[default: lsh; exact for --recall 1]",
)  # fmt: skip
@click.option(
    "--bucket-limit", type=click.IntRange(2), metavar="N",
    help="List all pairs of documents in buckets of up to N. [default: 100 to 1000]",
)  # fmt: skip
@click.option(
    "--keep", default="first", show_default=True, metavar="RULE",
    help="Which one stays: first (of the first INPUT), last, longest, largest:COL, smallest:COL, "
    "priority:COL=a,b, or source:A,B.",
)  # fmt: skip
@click.option(
    "--against", multiple=True, type=Location(), metavar="INDEX",
    help="Remove what is like a document of this index too, which stays as it is; may be repeated.",
)  # fmt: skip
@click.option(
    "--checkpoint", type=click.Path(), metavar="DIR",
    help="Keep finished parts of the work in a folder, and go on from there if it was interrupted.",
)  # fmt: skip
@click.option(
    "--memory", metavar="SIZE",
    help="Bound the memory that the run takes of its own, as in 2GB; the result is the same.",
)  # fmt: skip
@click.option("--report", is_flag=True, help="Write report.html too, one file to look at in a browser.")
@click.option(
    "--measure/--no-measure", default=None,
    help="Measure on a sample what share of the pairs was found, in about the time of the run. "
    f"[default: up to {dedupe_run.MEASURED_BYTES // 10**6} MB of text]",
)  # fmt: skip
@shared.on_error_option
@click.option(
    "--tables", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True,
    help="Format of pairs, clusters and removed.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="Replace the output folder if it exists.")
@dedupe_spark.engine_options
@shared.threads_option
@shared.seed_option
@shared.json_option
@fields.column_options
@fields.weight_option
@fields.text_options
def command(
    inputs: tuple[str, ...],
    output: Path | None,
    dry_run: bool,
    tables: Literal["jsonl", "parquet"],
    replace: bool,
    against: tuple[str, ...],
    checkpoint: str | None,
    report: bool,
    measure: bool | None,
    as_json: bool,
    engine: str,
    master: str | None,
    partitions: int | None,
    spark_conf: dict[str, str],
    **settings: Any,
) -> int:
    """Write the documents of INPUT without their near-duplicates to a new folder.

    INPUT is JSONL, CSV, TSV, Parquet (.gz and .zst too), a folder of texts or images, a pattern, or - for
    stdin. Inputs are only read. Every removed document is listed with the kept one that it resembles and their
    exact similarity. Ends with 1 if malformed rows were set aside.
    """
    dedupe_spark.check_engine(engine, against)
    dedupe_prices.refuse_other_work(output, dry_run, against)
    if output is None or dry_run:
        arguments = dedupe_run.asked_for(inputs, settings, (), ())
        return dedupe_prices.show(inputs, arguments, as_json)
    refuse_output(inputs, output, replace)
    refuse_nested(output, checkpoint)
    started = perf_counter()
    done: dedupe_run.Run
    writing: dict[str, Any] = {"tables": tables, "replace": replace}
    if engine == "spark":
        arguments = dedupe_run.asked_for(inputs, settings, (), ())
        master = master or dedupe_spark.LOCAL
        chosen: dict[str, Any]
        chosen = {"measure": measure, "report": report, "checkpoint": checkpoint, "partitions": partitions}
        done, paths = dedupe_spark.run(inputs, arguments, output, master, spark_conf, **chosen, **writing)
    else:
        with dedupe_run.opened(against, checkpoint) as (indexes, saved):
            arguments = dedupe_run.asked_for(inputs, settings, indexes, against)
            dedupe_run.tell_forecast(arguments)
            dedupe_spark.tell(
                dedupe_spark.outgrown(dedupe_summary.size_of(inputs)) if arguments["memory"] is None else None
            )
            skipped = {*([] if indexes else ["against"]), *(["measure"] if measure is False else [])}
            with console.progress(*(stage for stage in STAGES if stage not in skipped)) as progress:
                done = dedupe_run.run(inputs, arguments, measure, saved, progress)
                if report:
                    page = dedupe_run.report_writer(done, dedupe_run.command_line())
                    writing["extra"] = {"report.html": page}
                paths = done.found.write(output, **writing, told=done.told())
    seconds = perf_counter() - started
    if as_json:
        files = {name: str(path) for name, path in paths.items()}
        console.print_json({**done.to_dict(), "seconds": round(seconds, 3), "files": files})
    else:
        dedupe_summary.show(done, output, paths, seconds, dedupe_summary.size_of(inputs))
    console.tell_malformed(done.malformed, done.found.counts["malformed"])
    return 1 if done.malformed else 0


def refuse_output(inputs: tuple[str, ...], output: Path, replace: bool) -> None:
    """Refuse before the work, not after it, an output that is there or that holds an input."""
    prepare(output, replace)
    for source in (Path(name) for pattern in inputs for name in glob(pattern, recursive=True) or [pattern]):
        real = Path(realpath(source))
        if Path(realpath(output)) in (real, *real.parents):
            raise OutputError(
                f"{output} holds the input {source}, which is never overwritten: choose another --output"
            )


def refuse_nested(output: Path, checkpoint: str | None) -> None:
    """Refuse before the work an output and a checkpoint of which one holds the other, as both are whole folders."""
    if checkpoint is None:
        return
    one, other = Path(realpath(output)), Path(realpath(checkpoint))
    if one in (other, *other.parents) or other in one.parents:
        raise OutputError(
            f"the output {output} and the checkpoint {checkpoint} must lie apart: choose another --checkpoint"
        )
