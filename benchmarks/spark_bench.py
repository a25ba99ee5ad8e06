"""Cost of runs on Spark, compared with MLlib and with one process, and within 2 GB of executor memory.

    python -m benchmarks.spark_bench mllib       10,000, 50,000 and 100,000 documents, half an hour
    python -m benchmarks.spark_bench overhead    a gigabyte of text, `local[2]` and two threads, minutes
    python -m benchmarks.spark_bench million     a million documents on an executor of 2 GB, minutes

Each run has a fresh process and a fresh JVM, whose first job, on a small table, is not timed. A finished run is
stored under `data/spark/cells` until its settings change or `--again` is given, so that an interrupted command
continues. Writes a record, and a section of docs/spark-benchmark.md. Needs Java and `pip install 'benzer[spark]'`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import cluster_sizing, machine, report
from benchmarks.material import Corpus
from benchmarks.scenarios import DATA
from benchmarks.spark import million, mllib, overhead, page
from benchmarks.spark.cells import Cells
from benchmarks.spark.plan import Plan
from benchmarks.spark.rates import rates_of


def main() -> None:
    arguments = _parser().parse_args()
    data: Path = arguments.data.absolute()
    Corpus.load(data, "corpus")  # made where it is missing
    cells = Cells(data / "spark" / "cells", arguments.again)
    plan = Plan(data, cells, memory=arguments.memory, time_limit=arguments.time_limit)
    plan.folder.mkdir(parents=True, exist_ok=True)
    here = machine.describe()
    found, body, command = PARTS[arguments.part](plan, arguments)
    print(body)
    if arguments.dry:
        return
    report.write_record(here.date, f"spark-{arguments.part}", {"machine": here.as_dict(), "found": found})
    page.write(arguments.part, body, command, here)
    if arguments.part == "overhead":
        record = {**rates_of(found), "machine": here.as_dict()}
        cluster_sizing.RATES.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        report.write_section(cluster_sizing.PAGE, "sizing", cluster_sizing.of_page(), cluster_sizing.TITLE)


def _mllib(plan: Plan, arguments: argparse.Namespace) -> tuple[Any, str, str]:
    sizes = [int(size) for size in arguments.sizes.split(",")]
    rows = mllib.run(plan, sizes)
    return rows, page.mllib(rows, plan.memory, plan.time_limit), "mllib"


def _overhead(plan: Plan, arguments: argparse.Namespace) -> tuple[Any, str, str]:
    found = overhead.run(plan)
    return found, page.overhead(found), "overhead"


def _million(plan: Plan, arguments: argparse.Namespace) -> tuple[Any, str, str]:
    found = million.run(plan, arguments.documents)
    return found, page.million(found), "million"


PARTS = {"mllib": _mllib, "overhead": _overhead, "million": _million}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", type=Path, default=DATA, help="where `python -m benchmarks.corpus` wrote")
    parser.add_argument(
        "--sizes", default=",".join(map(str, mllib.SIZES)), help="numbers of documents, for mllib"
    )
    parser.add_argument("--documents", type=int, default=million.DOCUMENTS, help="how many, for million")
    parser.add_argument("--memory", default="8g", help="of the JVM of a local master")
    parser.add_argument(
        "--time-limit", type=float, default=900.0, help="seconds of one run, with the start of its JVM"
    )
    parser.add_argument("--again", action="store_true", help="measure what is measured already")
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


if __name__ == "__main__":
    main()
