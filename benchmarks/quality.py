"""Quality of the results compared with other tools at their best settings, on every labelled set of a folder.

`python -m benchmarks.quality PATH_TO_DATA` tries each engine's settings on each set (quality_grid.py), selects
those with the best F1 of pairs or adjusted Rand index, runs them with five seeds, and writes docs/quality.md. The
settings of every engine are chosen by the labels themselves: the figures are what a tool can reach, not what it
will reach on unseen data. The table of presets is without such a choice.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import benzer
from benchmarks import machine, quality_page, report
from benchmarks.environments import installed, python_of
from benchmarks.peers.quality_benzer import text_of
from benchmarks.quality_grid import ENGINES, Settings, readings, round_one, round_two
from benchmarks.quality_process import save_truth
from benchmarks.quality_scores import Score
from benchmarks.quality_sets import SETS, LabelledSet, load
from benchmarks.scenarios import ROOT
from benzer.presets import PRESETS

SEEDS = 5
METRICS = ("f1", "ari")
LONG = 5_000
"""Sets of longer texts on average (characters) are not read by the presets for records and noise."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best result of an engine by one metric: the setting that was best with the first seed, with every seed."""

    engine: str
    metric: str
    settings: Settings
    seeds: tuple[Score, ...]
    tried: int
    gave_up: int
    seconds: float


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    kept: Path | None = arguments.resume
    rows: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept and kept.exists() else {}
    for name in arguments.only or SETS:
        row = rows.setdefault(name, {"engines": [], "seconds": 0.0})
        done = {best["engine"] for best in row["engines"]}
        if missing := [one for one in arguments.engines if one not in done]:
            measure(load(arguments.data, name), missing, arguments.seeds, row)
            print(_short(name, row), flush=True)
        if row.get("preset_settings") != preset_settings():
            row |= {
                "presets": preset_scores(load(arguments.data, name)),
                "preset_settings": preset_settings(),
            }
        if "ways" not in row:
            row["ways"] = cluster_ways(load(arguments.data, name))
        if kept:
            kept.write_text(json.dumps(rows), encoding="utf-8")
    ordered = {name: rows[name] for name in SETS if name in rows}
    record = {"machine": here.as_dict(), "versions": versions(), "seeds": arguments.seeds, "sets": ordered}
    if not arguments.dry:
        report.write_record(here.date, "quality", record)
        quality_page.write(record, here)
    missed = [name for name, found in ordered.items() if not quality_page.is_ahead(name, found["engines"])]
    if missed:
        raise SystemExit("another engine is ahead on " + ", ".join(missed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(SETS), help="only these sets")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--resume", type=Path, help="a JSON file that keeps what is done, and skips that")
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def measure(data: LabelledSet, engines: list[str], seeds: int, row: dict[str, Any]) -> None:
    """Add the best result of each engine on one set, by each metric that its labels allow."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        prepare(data, Path(folder))
        # Benzer has the machine to itself; the others have one thread each.
        found = [_engine_best(one, data, Path(folder), seeds) for one in engines if one == "benzer"]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            others = [one for one in engines if one != "benzer"]
            found += pool.map(lambda one: _engine_best(one, data, Path(folder), seeds), others)
    row["documents"] = len(data.texts)
    row["seconds"] += time.perf_counter() - start
    row["engines"] += [_row(best) for part in found for best in part]


def cluster_ways(data: LabelledSet) -> dict[str, dict[str, Any]]:
    """Benzer's best clusters and the best components, by ARI with the first seed; none without true clusters."""
    if data.truth.clusters is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        write_texts(data, Path(folder))
        jobs = [{"settings": one, "seed": 0} for one in round_one("benzer", data)]
        answers = ask("benzer", Path(folder), jobs)
    found = {}
    for way in ("leaders", "components"):
        of_way = [one | {"scores": [s for s in one["scores"] if s.answer == way]} for one in answers]
        best = _ranked(of_way, "ari")[0]
        found[way] = {"settings": best["settings"], **best["best"]._asdict()}
    return found


def preset_settings() -> dict[str, str]:
    """The current settings of the presets; stored figures of other settings are measured again."""
    return {name: f"{one.text}, {one.threshold}, {one.recall}" for name, one in PRESETS.items()}


def preset_scores(data: LabelledSet) -> dict[str, list[dict[str, Any]]]:
    """The scores of each preset with the first seed: its pairs, their components, and its clusters."""
    with tempfile.TemporaryDirectory() as folder:
        write_texts(data, Path(folder))
        tried = ("web", "code") if data.size > LONG * len(data.texts) else tuple(PRESETS)
        answers = ask("benzer", Path(folder), [{"settings": {"preset": name}, "seed": 0} for name in tried])
    found: dict[str, list[dict[str, Any]]] = {}
    for answer in answers:
        name = answer["settings"]["preset"]
        asked = [one for one in answer["scores"] if one.threshold == PRESETS[name].threshold]
        found[name] = [one._asdict() for one in asked]
    return found


def prepare(data: LabelledSet, folder: Path) -> None:
    """Write the input of the engines: texts, true pairs, and Benzer's shingle sets of each kind."""
    write_texts(data, folder)
    for reading in readings(data):
        offsets, hashes = text_of(reading).sets(data.texts, 0)
        np.save(folder / f"{reading}.offsets.npy", offsets)
        np.save(folder / f"{reading}.hashes.npy", hashes)


def write_texts(data: LabelledSet, folder: Path) -> None:
    """Write the texts, and the true pairs for scoring."""
    with (folder / "texts.jsonl").open("w", encoding="utf-8") as lines:
        for number, text in enumerate(data.texts):
            lines.write(json.dumps({"id": number, "text": text}) + "\n")
    save_truth(folder, data.truth)


def _engine_best(engine: str, data: LabelledSet, folder: Path, seeds: int) -> list[Best]:
    metrics = METRICS if data.truth.clusters is not None else METRICS[:1]
    answers = ask(engine, folder, [{"settings": one, "seed": 0} for one in round_one(engine, data)])
    most = 1 if engine == "text-dedup" else 2  # its second round holds five thresholds for each
    promising = [answer["settings"] for metric in metrics for answer in _ranked(answers, metric)[:most]]
    second = [{"settings": one, "seed": 0} for one in round_two(engine, data, promising)]
    answers += ask(engine, folder, second)
    best = {metric: _ranked(answers, metric)[0] for metric in metrics if _ranked(answers, metric)}
    chosen = list({json.dumps(answer["settings"]): answer["settings"] for answer in best.values()}.values())
    jobs = [{"settings": one, "seed": seed} for one in chosen for seed in range(1, seeds)]
    again = ask(engine, folder, jobs)
    return [_best(engine, metric, answer, answers, again) for metric, answer in best.items()]


def ask(engine: str, folder: Path, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run jobs in the engine's own environment; if an engine dies, the results that it wrote before are used."""
    if not jobs:
        return []
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as output:
        command = [str(python_of(engine)), "-m", "benchmarks.quality_process", engine, str(folder)]
        run = subprocess.run(
            [*command, json.dumps(jobs), output.name], cwd=ROOT, capture_output=True, text=True, check=False
        )
        answers = [json.loads(line) for line in Path(output.name).read_text(encoding="utf-8").splitlines()]
    if run.returncode:
        print(f"{engine} ended after {len(answers)} of {len(jobs)}: {run.stderr[-1500:]}", flush=True)
    for answer in answers:
        answer["scores"] = [Score(*score) for score in answer["scores"]]
    return answers


def _ranked(answers: list[dict[str, Any]], metric: str) -> list[dict[str, Any]]:
    """The results with a figure by the metric, best first, each with its best score as "best".

    Among equal figures, the setting that keeps the figure over more thresholds comes first, and among those the
    middle one, because a setting at the edge may lose it with the next seed.
    """
    found = []
    for answer in answers:
        known = [score for score in answer["scores"] if getattr(score, metric) is not None]
        if known:
            most = max(getattr(score, metric) for score in known)
            ties = [score for score in known if getattr(score, metric) == most]
            by_answer = [
                [one for one in ties if one.answer == way] for way in {one.answer: None for one in ties}
            ]
            tied = max(by_answer, key=len)
            found.append(answer | {"best": tied[len(tied) // 2], "tied": len(tied)})
    return sorted(found, key=lambda answer: (-getattr(answer["best"], metric), -answer["tied"]))


def _best(
    engine: str,
    metric: str,
    first: dict[str, Any],
    answers: list[dict[str, Any]],
    again: list[dict[str, Any]],
) -> Best:
    same = [answer for answer in again if answer["settings"] == first["settings"]]
    cut = [_at(answer["scores"], first["best"]) for answer in same]
    return Best(
        engine,
        metric,
        first["settings"],
        (first["best"], *(score for score in cut if score is not None)),
        len(answers),
        sum(answer["gave_up"] is not None for answer in answers),
        sum(answer["seconds"] for answer in answers),
    )


def _at(scores: list[Score], like: Score) -> Score | None:
    """The score of the same method and threshold."""
    return next((one for one in scores if one[:2] == like[:2]), None)


def _row(best: Best) -> dict[str, Any]:
    return asdict(best) | {"seeds": [score._asdict() for score in best.seeds]}


def _short(name: str, found: dict[str, Any]) -> str:
    said = [f"{name}, {found['documents']:,} documents, {found['seconds']:.0f} s"]
    for best in found["engines"]:
        mean, spread = quality_page.mean_and_spread(best, best["metric"])
        how = f"{best['seeds'][0]['answer']} at {best['seeds'][0]['threshold']}"
        said.append(
            f"  {best['metric']:3} {mean:.4f} ±{spread:.4f} {best['engine']:10} {how}, {best['settings']}, "
            f"{best['tried']} tried, {best['gave_up']} given up, {best['seconds']:.0f} s"
        )
    return "\n".join(said)


def versions() -> dict[str, str]:
    """The versions of the compared tools."""
    found = {"benzer": benzer.__version__}
    for engine in ENGINES[1:]:
        found[engine] = installed(python_of(engine)).get(engine, "unknown")
    return found


if __name__ == "__main__":
    main()
