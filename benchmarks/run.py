"""Run the benchmarks: `python -m benchmarks.run` measures everything in scenarios.toml and draws the figures.

    python -m benchmarks.run words parquet              only these ("kernels" and "figures" are parts, too)
    python -m benchmarks.run words --engines orjson,benzer --repetitions 9
    python -m benchmarks.run words --corpus small --dry  a short test: prints, writes nothing
    python -m benchmarks.run --file my.jsonl             the same engines on your own file, and Benzer's exact result

Writes `records/DATE-NAME.json` and the section NAME of docs/benchmarks.md; for a file only the record.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from benchmarks import kernels, machine, report
from benchmarks.environments import run_in
from benchmarks.material import Corpus
from benchmarks.measure import Measurement, measure
from benchmarks.scenarios import DATA, DOCS, Scenario, load_scenario, scenario_names
from benchmarks.scoring import Truth
from benchmarks.tables import engine_versions, markdown

PARTS = ("kernels", "figures")
PAGE = DOCS / "benchmarks.md"


def main() -> None:
    arguments = _parser().parse_args()
    if arguments.file:
        _run_file(arguments)
        return
    for name in arguments.names or [*scenario_names(), *PARTS]:
        if name == "kernels":
            kernels.run(arguments.data, arguments.corpus or "corpus", arguments.prototype, arguments.dry)
        elif name == "figures":
            if not arguments.dry:
                run_in("figures", "benchmarks.figures")
        else:
            _run_scenario(_asked(load_scenario(name), arguments), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ", ".join((*scenario_names(), *PARTS))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {known}; by default all, in this order")
    parser.add_argument("--file", type=Path, help="a JSONL file of your own: the scenario words on it")
    parser.add_argument("--column", default="text", help="the column of its texts")
    parser.add_argument("--unit", choices=("word", "char"), help="what a shingle is made of; for --file")
    parser.add_argument(
        "--data", type=Path, default=DATA, help="output folder of `python -m benchmarks.corpus`"
    )
    parser.add_argument("--corpus", help="instead of the scenario's: corpus or small")
    parser.add_argument("--engines", help="only these of a scenario's, separated by commas")
    parser.add_argument("--repetitions", type=int, help="instead of the scenario's")
    parser.add_argument(
        "--prototype", type=Path, help="a folder with kern_native.so and others, for the kernels"
    )
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def _asked(scenario: Scenario, arguments: argparse.Namespace) -> Scenario:
    """The scenario with the changes of the command line."""
    changes = {name: getattr(arguments, name) for name in ("corpus", "repetitions", "unit")}
    if arguments.engines:
        asked = arguments.engines.split(",")
        changes["engines"] = tuple(engine for engine in scenario.engines if engine in asked)
        if not changes["engines"]:
            raise SystemExit(
                f"{scenario.name} has none of these engines; it has {', '.join(scenario.engines)}"
            )
    return dataclasses.replace(scenario, **{name: value for name, value in changes.items() if value})


def _run_scenario(scenario: Scenario, arguments: argparse.Namespace) -> None:
    here = machine.describe()
    corpus = Corpus.load(arguments.data, scenario.corpus)
    body, record = _measured(scenario, corpus, here)
    print(body, end="\n\n", flush=True)
    if not arguments.dry:
        report.write_record(here.date, scenario.name, record)
        report.write_section(PAGE, scenario.name, body, "Benchmarks")


def _run_file(arguments: argparse.Namespace) -> None:
    """Run the engines of the scenario words on any file; its true pairs are those of Benzer's exact method."""
    here = machine.describe()
    corpus = Corpus.of_file(arguments.data, arguments.file, arguments.column)
    scenario = _asked(load_scenario("characters-small" if arguments.unit == "char" else "words"), arguments)
    scenario = dataclasses.replace(
        scenario, name=f"file-{arguments.file.name.split('.')[0]}", corpus=corpus.name
    )
    body, record = _measured(scenario, corpus, here)
    print(body, flush=True)
    if not arguments.dry:
        print(f"\nwritten: {report.write_record(here.date, scenario.name, record)}")


def _measured(scenario: Scenario, corpus: Corpus, here: machine.Machine) -> tuple[str, dict[str, object]]:
    measurements = measure(scenario, corpus.path(scenario.format))
    score(measurements, corpus.truth(scenario), corpus.path("jsonl"), scenario.unit)
    record = {
        "machine": here.as_dict(),
        "scenario": dataclasses.asdict(scenario),
        "corpus": corpus.facts,
        "versions": engine_versions(scenario),
        "measurements": [item.record() for item in measurements],
    }
    return markdown(scenario, corpus, here, measurements), record


def score(measurements: Sequence[Measurement], truth: Truth, jsonl: Path, unit: str) -> None:
    """Score pairs first, because the true pairs that they add count for the flags of all engines."""
    for measurement in measurements:
        if measurement.answer.get("pairs") is not None:
            measurement.pairs = truth.score_pairs(measurement.answer["pairs"], jsonl, unit)
    for measurement in measurements:
        if measurement.answer.get("flags"):
            measurement.flags = truth.score_flags(measurement.answer["flagged"], measurement.answer["flags"])


if __name__ == "__main__":
    main()
