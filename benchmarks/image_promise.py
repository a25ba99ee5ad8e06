"""The recall of the image method `local`, compared with the guaranteed and with the measured one.

`python -m benchmarks.image_promise PATH_TO_DATA` compares every image with every other, and writes the section
"promise" of docs/image-recall.md. The folder is that of `benchmarks.image_recall`. It takes ten minutes or more.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import benzer
from benchmarks import machine, report
from benchmarks.image_recall import PAGE, load
from benzer import Bands
from benzer.document import Description
from benzer.fields import Image

RECALLS = (0.9, 0.95, 0.99, 0.999)
SHARES = (0.018, 0.012, 0.008, 0.005, 0.003)
RUNS = (0.95, 0.99)
UNLIMITED = 65_535
LOCAL = Image("local")


@dataclass(frozen=True)
class Alike:
    """All pairs of images of one set at or above the advised threshold, found by comparing all pairs.

    jaccard: the Jaccard similarity of their words (float64).
    """

    name: str
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    jaccard: NDArray[np.float64]

    def part(self, name: str, chosen: NDArray[np.bool_]) -> Alike:
        """The pairs whose images are both chosen."""
        both = chosen[self.left] & chosen[self.right]
        return Alike(name, self.left[both], self.right[both], self.jaccard[both])

    def expected(self, share: float, recall: float) -> float:
        """The share of the pairs that bands for this share of words find."""
        bands = Bands.for_recall(share, recall, num_hashes=UNLIMITED)
        return float(np.mean(bands.probability(self.jaccard)))


def alike(name: str, descriptions: Sequence[bytes]) -> Alike:
    """Compare each image with all later ones."""
    left: list[int] = []
    right: list[int] = []
    jaccard: list[float] = []
    words = [set(LOCAL.sets([Description(one)])[1].tolist()) for one in descriptions]
    for at, one in enumerate(descriptions):
        similarity = LOCAL.compare(one, descriptions[at + 1 :])
        for other in (np.flatnonzero(similarity >= LOCAL.threshold) + at + 1).tolist():
            left.append(at)
            right.append(other)
            jaccard.append(benzer.jaccard(words[at], words[other]))
    return Alike(name, np.array(left), np.array(right), np.array(jaccard))


def ran(pairs: Alike, descriptions: Sequence[bytes], recall: float) -> list[object]:
    """A row of the table of runs: the true share found, and the recall that Benzer measures."""
    documents = [{"id": at, "image": Description(one)} for at, one in enumerate(descriptions)]
    schema = benzer.Schema(image=LOCAL)
    run = benzer.find_duplicates(documents, schema=schema, threshold=LOCAL.threshold, recall=recall)
    reported = {tuple(sorted((int(pair.left_id), int(pair.right_id)))) for pair in run.pairs}
    true = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    shares: dict[int, list[bool]] = {}
    for pair in true:
        for one in pair:
            shares.setdefault(one, []).append(pair in reported)
    document_recall = float(np.mean([np.mean(hits) for hits in shares.values()]))
    whole, sample = run.measure_recall(documents=len(descriptions)), run.measure_recall(documents=200)
    return [
        pairs.name,
        recall,
        f"{len(true):,}",
        f"{len(true & reported) / len(true):.4f}",
        f"{whole.pair_recall:.4f}",
        f"{document_recall:.4f}",
        f"{whole.recall:.4f}",
        "exact" if sample.exhaustive else f"{sample.low:.3f} to {sample.high:.3f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    here, shares, runs = machine.describe(), [], []
    for name in ("images_ukbench", "images_transformed"):
        images = load(data, name)
        answers = LOCAL.describe(list(images.files.values()), threads=0)
        descriptions = [one for one in answers if isinstance(one, bytes)]
        pairs = alike(name, descriptions)
        parts = [pairs]
        if images.transforms:
            groups = np.array([images.groups[one] for one in images.files])
            odd = np.array([int("".join(filter(str.isdigit, one))) % 2 == 1 for one in groups.tolist()])
            parts = [pairs.part(f"{name}, even groups", ~odd), pairs.part(f"{name}, odd groups", odd)]
        for part in parts:
            for share in SHARES:
                expected = [f"{part.expected(share, recall):.4f}" for recall in RECALLS]
                shares.append([part.name, f"{len(part.left):,}", f"{share:.1%}", *expected])
        print(report.table(["", "", "", *map(str, RECALLS)], shares), flush=True)
        runs += [ran(pairs, descriptions, recall) for recall in RUNS]
        print(runs, flush=True)
    columns = ["set", "pairs at or above 0.5", "share of words", *(f"recall {one}" for one in RECALLS)]
    headings = [
        "set", "promised", "pairs at or above 0.5", "share found", "as measured",
        "mean share of a document's", "as measured", "interval from 200 documents",
    ]  # fmt: skip
    command = (
        "Command: `python -m benchmarks.image_promise PATH_TO_DATA`. "
        f"Machine: {here.sentence()}. Benzer {benzer.__version__}."
    )
    body = f"{report.table(columns, shares)}\n\n{report.table(headings, runs)}\n\n{command}"
    report.write_section(PAGE, "promise", body, "Recall on images")


if __name__ == "__main__":
    main()
