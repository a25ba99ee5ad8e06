"""Copies of images that each method finds, on labelled sets of images.

`python -m benchmarks.image_recall PATH_TO_DATA` writes the generated parts of docs/image-recall.md. The folder
contains `images_transformed` and `images_ukbench`, each with `images.zip` and `truth_clusters.tsv`; the first also
with `truth_transforms.tsv`.
"""

from __future__ import annotations

import argparse
import time
import zipfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

import benzer
from benchmarks import machine, report
from benchmarks.scenarios import DOCS
from benzer.document import Description
from benzer.errors import InputError
from benzer.fields import Image

METHODS = ("grid", "local", "seed16")
FALSE_POSITIVES = 0.01
RECALL = 0.95
PAGE = DOCS / "image-recall.md"

# Recall at distance <= 10 of 64 bits, by the README of images_transformed (ImageHash on this very set).
PUBLISHED = {
    "pHash": dict.fromkeys(("jpeg_q50", "jpeg_q15", "resize_50pct", "aspect_x075", "bright_125"), 1.0)
    | {"bright_075": 1.0, "gray": 1.0, "watermark": 0.957, "combo_crop05_rot1_q40": 0.586}
    | {"crop_05": 0.643, "crop_10": 0.143, "crop_20": 0.029, "rot_2": 0.971, "rot_5": 0.414},
    "dHash": dict.fromkeys(("jpeg_q50", "jpeg_q15", "resize_50pct", "aspect_x075", "bright_075"), 1.0)
    | {"bright_125": 0.986, "gray": 1.0, "watermark": 1.0, "combo_crop05_rot1_q40": 0.771}
    | {"crop_05": 0.829, "crop_10": 0.271, "crop_20": 0.029, "rot_2": 0.971, "rot_5": 0.457},
}
# Pair F1 of the same README: at distance <= 10, and at the best cut, chosen with the labels.
PUBLISHED_F1 = {"pHash": (0.764, 0.861), "dHash": (0.804, 0.872)}


@dataclass(frozen=True, slots=True)
class Pictures:
    """A labelled set: the files, the group of each, and the transformation of each original-variant pair."""

    name: str
    files: dict[str, bytes]
    groups: dict[str, str]
    transforms: dict[tuple[str, str], str]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """All pairs within the groups, smaller name first."""
        members = defaultdict(list)
        for name, group in sorted(self.groups.items()):
            members[group].append(name)
        return {pair for names in members.values() for pair in combinations(names, 2)}


@dataclass(frozen=True, slots=True)
class Found:
    """Results of one method on one set."""

    method: str
    cut: float
    false_at_cut: float
    false_at_threshold: float
    recall_at_cut: dict[str, float]
    recall_at_threshold: dict[str, float]
    pair_precision: float
    pair_recall: float
    pairs_found: int
    candidates: int
    seconds: float
    milliseconds_an_image: float
    bytes_an_image: float
    nearest_of_group: float


def load(data: Path, name: str) -> Pictures:
    """Read a set; its images stay in memory as files."""
    folder = data / name
    with zipfile.ZipFile(folder / "images.zip") as packed:
        files = {Path(one).name: packed.read(one) for one in packed.namelist() if not one.endswith("/")}
    groups = {row[0]: row[1] for row in _rows(folder / "truth_clusters.tsv")}
    transforms = folder / "truth_transforms.tsv"
    kinds = {(a, b): kind for a, b, kind in _rows(transforms)} if transforms.exists() else {}
    return Pictures(name, dict(sorted(files.items())), groups, kinds)


def _rows(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def measure(pictures: Pictures, method: str, threads: int) -> Found:
    """Run one method on one set: similarities of queries to all images, then the batch job."""
    field = Image(method)
    names = list(pictures.files)
    start = time.perf_counter()
    answers = field.describe(list(pictures.files.values()))
    milliseconds = (time.perf_counter() - start) / len(names) * 1000
    broken = [answer for answer in answers if isinstance(answer, InputError)]
    if broken:
        raise broken[0]
    described = dict(zip(names, (answer for answer in answers if isinstance(answer, bytes)), strict=True))
    wanted = _wanted(pictures)
    queries = sorted({a for a, _ in wanted})
    table = {name: field.compare(described[name], list(described.values())) for name in queries}
    wrong = np.concatenate([table[one][_others(pictures, one, names)] for one in queries])
    cut = cut_for(wrong, FALSE_POSITIVES)
    at = {name: place for place, name in enumerate(names)}
    right = {pair: float(table[pair[0]][at[pair[1]]]) for pair in wanted}
    precision, recall, found, candidates, seconds = _groups_found(pictures, field, described, threads)
    return Found(
        method=method,
        cut=cut,
        false_at_cut=float((wrong >= cut).mean()),
        false_at_threshold=float((wrong >= field.threshold).mean()),
        recall_at_cut=_recall(right, wanted, cut),
        recall_at_threshold=_recall(right, wanted, field.threshold),
        pair_precision=precision,
        pair_recall=recall,
        pairs_found=found,
        candidates=candidates,
        seconds=seconds,
        milliseconds_an_image=milliseconds,
        bytes_an_image=mean(len(one) for one in described.values()),
        nearest_of_group=_nearest_of_group(pictures, table, names),
    )


def _wanted(pictures: Pictures) -> dict[tuple[str, str], str]:
    """The pairs to find (query, image) and their kind: original and variant, or two images of a group."""
    if pictures.transforms:
        return pictures.transforms
    return {pair: "same group" for a, b in pictures.pairs for pair in ((a, b), (b, a))}


def _others(pictures: Pictures, one: str, names: list[str]) -> NDArray[np.bool_]:
    return np.array([pictures.groups[name] != pictures.groups[one] for name in names])


def cut_for(wrong: NDArray[np.float64], share: float) -> float:
    """The smallest similarity above 0 that at most `share` of the wrong pairs reach.

    >>> cut_for(np.array([0.0, 0.1, 0.2, 0.3]), 0.25)
    0.3
    """
    values = np.unique(wrong[wrong > 0])
    for value in values:
        if (wrong >= value).mean() <= share:
            return float(value)
    return float(np.nextafter(values[-1], 2.0)) if len(values) else float(np.nextafter(0.0, 1.0))


def _recall(
    right: dict[tuple[str, str], float], kinds: dict[tuple[str, str], str], cut: float
) -> dict[str, float]:
    hits = defaultdict(list)
    for pair, similarity in right.items():
        hits[kinds[pair]].append(similarity >= cut)
    return {kind: mean(found) for kind, found in hits.items()}


def _groups_found(
    pictures: Pictures, field: Image, described: dict[str, bytes], threads: int
) -> tuple[float, float, int, int, float]:
    """Precision and recall of the pairs that `find_duplicates` verifies at the advised threshold."""
    documents = [benzer.Document(name, {"image": Description(data)}) for name, data in described.items()]
    start = time.perf_counter()
    result = benzer.find_duplicates(
        documents,
        schema=benzer.Schema(image=field),
        threshold=field.threshold,
        recall=RECALL,
        threads=threads,
    )
    seconds = time.perf_counter() - start
    found = {(min(str(a), str(b)), max(str(a), str(b))) for a, b, _ in result.expanded_pairs()}
    hit = len(found & pictures.pairs)
    share = (hit / max(len(found), 1), hit / len(pictures.pairs))
    return (*share, len(found), result.counts["candidates"], seconds)


def _nearest_of_group(pictures: Pictures, table: dict[str, NDArray[np.float64]], names: list[str]) -> float:
    """The number of images of its group among the 4 most similar ones, including itself (the N-S score of UKBench)."""
    groups = np.array([pictures.groups[name] for name in names])
    scores = []
    for name, similarity in table.items():
        best = np.argsort(-similarity, kind="stable")[:4]
        best = best[similarity[best] > 0]
        scores.append(int((groups[best] == pictures.groups[name]).sum()))
    return mean(scores)


def main() -> None:
    arguments = _parser().parse_args()
    here = machine.describe()
    results: dict[str, list[Found]] = {}
    for name in ("images_transformed", "images_ukbench"):
        pictures = load(arguments.data, name)
        results[name] = []
        for method in METHODS:
            found = measure(pictures, method, arguments.threads)
            results[name].append(found)
            print(name, found, flush=True)
    if not arguments.dry:
        record = {
            "machine": here.as_dict(),
            **{name: [asdict(one) for one in found] for name, found in results.items()},
        }
        report.write_record(here.date, "image-recall", record)
        write_page(results, here)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--threads", type=int, default=0, help="0 means all cores")
    parser.add_argument("--dry", action="store_true", help="print only, write neither record nor page")
    return parser


def write_page(results: dict[str, list[Found]], here: machine.Machine) -> None:
    """The generated sections of docs/image-recall.md."""
    title = "Recall on images"
    transformed, web = results["images_transformed"], results["images_ukbench"]
    report.write_section(PAGE, "transformations", _transformations(transformed), title)
    report.write_section(PAGE, "groups", _groups(transformed), title)
    report.write_section(PAGE, "web", _web(web), title)
    measured = (
        "Command: `python -m benchmarks.image_recall PATH_TO_DATA`. "
        f"Machine: {here.sentence()}. Benzer {benzer.__version__}."
    )
    report.write_section(PAGE, "cost", f"{_cost(transformed)}\n\n{measured}", title)


def _transformations(results: list[Found]) -> str:
    columns = ["transformation"]
    for one in results:
        columns += [f"{one.method}, cut", f"{one.method}, {Image(one.method).threshold}"]
    columns += list(PUBLISHED)
    kinds = list(results[0].recall_at_cut)
    rows: list[list[object]] = []
    for kind in kinds:
        cells: list[object] = [f"`{kind}`"]
        for one in results:
            cells += [f"{one.recall_at_cut[kind]:.3f}", f"{one.recall_at_threshold[kind]:.3f}"]
        rows.append([*cells, *(f"{figures[kind]:.3f}" for figures in PUBLISHED.values())])
    total: list[object] = ["**all**"]
    false: list[object] = ["wrong pairs"]
    cuts: list[object] = ["cut"]
    for one in results:
        total += [f"{mean(one.recall_at_cut.values()):.3f}", f"{mean(one.recall_at_threshold.values()):.3f}"]
        false += [f"{one.false_at_cut:.2%}", f"{one.false_at_threshold:.4%}"]
        cuts += [f"{one.cut:.3f}", f"{Image(one.method).threshold}"]
    total += [f"{mean(figures.values()):.3f}" for figures in PUBLISHED.values()]
    blank = [""] * len(PUBLISHED)
    return report.table(columns, [*rows, total, [*false, *blank], [*cuts, *blank]])


def _groups(results: list[Found]) -> str:
    columns = ["method", "threshold", "pairs found", "precision", "recall", "pair F1"]
    rows: list[list[object]] = [
        [
            one.method,
            Image(one.method).threshold,
            f"{one.pairs_found:,}",
            f"{one.pair_precision:.4f}",
            f"{one.pair_recall:.4f}",
            f"{_f1(one):.3f}",
        ]
        for one in results
    ]
    for name, (at_ten, best) in PUBLISHED_F1.items():
        rows.append([name, "distance 10", None, None, None, f"{at_ten:.3f}"])
        rows.append([name, "best cut, by the labels", None, None, None, f"{best:.3f}"])
    return report.table(columns, rows)


def _f1(one: Found) -> float:
    both = one.pair_precision + one.pair_recall
    return 2 * one.pair_precision * one.pair_recall / both if both else 0.0


def _web(results: list[Found]) -> str:
    columns = [
        "method",
        "cut",
        "recall of labels at the cut",
        "wrong by label at the cut",
        "N-S score",
        "pairs at the advised threshold",
    ]
    rows = [
        [
            one.method,
            f"{one.cut:.3f}",
            f"{one.recall_at_cut['same group']:.3f}",
            f"{one.false_at_cut:.2%}",
            f"{one.nearest_of_group:.2f}",
            one.pairs_found,
        ]
        for one in results
    ]
    return report.table(columns, rows)


def _cost(results: list[Found]) -> str:
    columns = [
        "method",
        "ms to describe an image, one thread",
        "bytes kept",
        "candidates",
        "seconds to join",
    ]
    rows = [
        [
            one.method,
            f"{one.milliseconds_an_image:.2g}",
            f"{one.bytes_an_image:,.0f}",
            f"{one.candidates:,}",
            report.seconds(one.seconds),
        ]
        for one in results
    ]
    return report.table(columns, rows)


if __name__ == "__main__":
    main()
