"""`benzer dedupe`: remove near-duplicate documents from files."""

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
# Remove near-duplicates; clean/ contains the kept and removed documents and the pairs
benzer dedupe docs.jsonl --output clean

# Read many files, with other columns and a lower threshold
benzer dedupe 'crawl/*.jsonl.zst' --text body --id url --threshold 0.7 --output clean

# Find images that were resized, recompressed or retouched
benzer dedupe photos --images grid --output clean

# Estimate the effect of each threshold without writing anything
benzer dedupe docs.jsonl --dry-run

# Keep the longest document of each cluster, or the one from the preferred source
benzer dedupe docs.parquet --keep longest --output clean
benzer dedupe docs.csv --keep priority:source=books,web --output clean

# Compare short texts by shingles of 5 characters
benzer dedupe names.csv --text name --shingle char:5 --output clean

# Compare several fields; the title has twice the weight
benzer dedupe books.jsonl --text title --values tags --weight title=2 --output clean

# Compare new documents with an existing index, which is not changed
benzer dedupe june.jsonl --against may.benzer --output clean

# Find every pair, or select the cheaper method from a sample of the documents
benzer dedupe docs.jsonl --recall 1 --output clean
benzer dedupe docs.jsonl --method auto --output clean

# Limit the memory of a long run, make it resumable and write a report
benzer dedupe big.jsonl.zst --memory 8GB --checkpoint saved --report --output clean

# Run on Apache Spark; all nodes must share the input and output folders
benzer dedupe '/mnt/crawl/*.parquet' --engine spark --master spark://host:7077 --output clean

# Use it in a script
zcat docs.jsonl.gz | benzer dedupe - --format jsonl --output clean --json > summary.json
"""
STAGES = ("read", "sketch", "against", "candidates", "verify", "clusters", "measure", "write")
COMMON = (
    "--output --dry-run --report --threshold --recall --keep "
    "--against --text --id --images --shingle --memory"
)


@click.command(
    "dedupe",
    cls=shared.ExampleCommand,
    examples=EXAMPLES,
    common=COMMON,
    short_help="Remove near-duplicate documents.",
)
@click.argument("inputs", nargs=-1, required=True, type=click.Path(), metavar="INPUT...")
@shared.option(
    shared.OUTPUT, "--output", type=click.Path(path_type=Path), metavar="DIR",
    help="Output folder. Must not exist unless --replace is given.",
)  # fmt: skip
@shared.option(
    shared.OUTPUT,
    "--dry-run",
    is_flag=True,
    help="Estimate the effect of each threshold without writing anything.",
)
@shared.promise_options(threshold=None, exact=True)
@shared.option(
    shared.MATCHING, "--method", type=click.Choice(["lsh", "exact", "auto"]), show_default="lsh; exact for --recall 1",
    help="Find pairs by LSH bands, by an exact join, or by whichever is cheaper.",
)  # fmt: skip
@shared.option(
    shared.MATCHING, "--bucket-limit", type=click.IntRange(2), metavar="N", show_default="100 to 1000",
    help="List all pairs in buckets of up to N documents.",
)  # fmt: skip
@shared.option(
    shared.MATCHING, "--keep", default="first", show_default=True, metavar="RULE",
    help="Choose which document of a cluster to keep (see the rules above).",
)  # fmt: skip
@shared.option(
    shared.MATCHING, "--against", multiple=True, type=Location(), metavar="INDEX",
    help="Also remove matches of documents in this index. Repeatable.",
)  # fmt: skip
@shared.option(
    shared.RESOURCES, "--checkpoint", type=click.Path(), metavar="DIR",
    help="Save finished parts to a folder and resume from it after an interruption.",
)  # fmt: skip
@shared.option(
    shared.RESOURCES, "--memory", metavar="SIZE",
    help="Upper bound for memory allocated by this run, e.g. 2GB.",
)  # fmt: skip
@shared.option(
    shared.OUTPUT, "--report", is_flag=True, help="Also write report.html for viewing in a browser."
)
@shared.option(
    shared.OUTPUT, "--measure/--no-measure", default=None,
    show_default=f"up to {dedupe_run.MEASURED_BYTES // 10**6} MB of text",
    help="Measure the recall on a sample; takes about as long as the run.",
)  # fmt: skip
@shared.option(
    shared.OUTPUT, "--tables", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True,
    help="Format of the pairs, clusters and removed tables.",
)  # fmt: skip
@shared.option(shared.OUTPUT, "--replace", is_flag=True, help="Replace the output folder if it exists.")
@dedupe_spark.engine_options
@shared.threads_option
@shared.seed_option
@shared.json_option
@fields.column_options
@shared.on_error_option
@shared.id_options
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
    """Remove near-duplicates from INPUT and write the result to a new folder.

    INPUT is JSONL, CSV, TSV or Parquet (also .gz, .zst, .bz2 and .xz), a folder of texts or images, a glob
    pattern, or - for stdin. Inputs are not changed. Each removed document is listed with the kept document
    that it matches and their exact similarity. The exit status is 1 if malformed rows were skipped.

    Rules of --keep: first (of the first INPUT), last, longest, largest:COLUMN, smallest:COLUMN,
    priority:COLUMN=a,b or source:A,B.
    """
    dedupe_spark.check_engine(engine, against)
    dedupe_prices.refuse_other_work(output, dry_run, against)
    if output is None or dry_run:
        arguments = dedupe_run.requested_run(inputs, settings, (), ())
        return dedupe_prices.display(inputs, arguments, as_json)
    refuse_output(inputs, output, replace)
    refuse_nested(output, checkpoint)
    started = perf_counter()
    done: dedupe_run.Run
    writing: dict[str, Any] = {"tables": tables, "replace": replace}
    if engine == "spark":
        arguments = dedupe_run.requested_run(inputs, settings, (), ())
        master = master or dedupe_spark.LOCAL
        chosen: dict[str, Any]
        chosen = {"measure": measure, "report": report, "checkpoint": checkpoint, "partitions": partitions}
        done, paths = dedupe_spark.run(inputs, arguments, output, master, spark_conf, **chosen, **writing)
    else:
        with dedupe_run.opened(against, checkpoint) as (indexes, saved):
            arguments = dedupe_run.requested_run(inputs, settings, indexes, against)
            dedupe_summary.tell_forecast(arguments)
            dedupe_spark.tell(
                dedupe_spark.outgrown(dedupe_summary.size_of(inputs)) if arguments["memory"] is None else None
            )
            skipped = {*([] if indexes else ["against"]), *(["measure"] if measure is False else [])}
            with console.progress(*(stage for stage in STAGES if stage not in skipped)) as progress:
                done = dedupe_run.run(inputs, arguments, measure, saved, progress)
                if report:
                    page = dedupe_run.report_writer(done, dedupe_run.command_line())
                    writing["extra"] = {"report.html": page}
                paths = done.result.write(output, **writing, told=done.details())
    seconds = perf_counter() - started
    if as_json:
        files = {name: str(path) for name, path in paths.items()}
        console.print_json({**done.to_dict(), "seconds": round(seconds, 3), "files": files})
    else:
        dedupe_summary.display(done, output, paths, seconds, dedupe_summary.size_of(inputs))
    console.tell_malformed(done.malformed, done.result.counts["malformed"])
    return 1 if done.malformed else 0


def refuse_output(inputs: tuple[str, ...], output: Path, replace: bool) -> None:
    """Raise an error before the run if the output exists or contains an input."""
    prepare(output, replace)
    for source in (Path(name) for pattern in inputs for name in glob(pattern, recursive=True) or [pattern]):
        real = Path(realpath(source))
        if Path(realpath(output)) in (real, *real.parents):
            raise OutputError(f"{output} contains the input {source}: choose another --output")


def refuse_nested(output: Path, checkpoint: str | None) -> None:
    """Raise an error before the run if the output contains the checkpoint or the reverse."""
    if checkpoint is None:
        return
    item, other = Path(realpath(output)), Path(realpath(checkpoint))
    if item in (other, *other.parents) or other in item.parents:
        raise OutputError(
            f"the output {output} and the checkpoint {checkpoint} overlap: choose another --checkpoint"
        )
