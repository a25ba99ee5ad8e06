"""Evaluation of Benzer by published protocols, CORE and NEWS-COPY, on your copy of the data.

    python -m benchmarks.published core FILE
    python -m benchmarks.published news-copy FILE

FILE contains one document per row, as JSONL (also .gz or .xz) or Parquet. core: `core_id`, `processed_title`,
`processed_abstract`, `labelled_duplicates` (a list of core_ids, or one written as JSON): the 100,000 scholarly
documents of Gyawali, Anastasiou and Knoth (LREC 2020). news-copy: `article` and `cluster`: the test set of Silcock,
D'Amico-Wong, Yang and Dell (2022).

Prints a table: the published protocol (unverified candidates, clusters are connected components), then with every
pair verified, then with Benzer's clusters; figures are means over the seeds with their spread.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import numpy as np

from benchmarks.quality_scores import Ints, adjusted_rand_index, bcubed, components, harmonic
from benchmarks.quality_sets import numbers, pairs_within
from benchmarks.report import table
from benzer import Bands, Document, Options, Schema, ValueSet, find_duplicates

WORD = re.compile(r"\w+")
REMOVED = str.maketrans("", "", "\"#$%&\\()*+/:;<=>@[]^_`{|}~.?,!'")
TOUCH = 1e-9
"""A threshold that every pair with a shingle in common reaches: then bands alone decide."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Documents with labels: texts (cleaned), the labelled duplicates of each by position, true clusters.

    `listed` contains -1 for labels whose document is not in the file: they can never be predicted.
    """

    texts: list[str]
    listed: list[frozenset[int]]
    clusters: Ints


@dataclass(frozen=True, slots=True)
class Protocol:
    """A published evaluation: the format of the file, the prescribed settings, and the published figures.

    `figures` computes figures by name from (labelled, labels of found clusters); `published` contains the figures
    of other tools by the same names.
    """

    read: Callable[[Sequence[Mapping[str, Any]]], Labelled]
    num_hashes: int
    bands: Bands
    threshold: float
    figures: Callable[[Labelled, Ints], dict[str, float]]
    published: Mapping[str, Mapping[str, float]]


def two_shingles(text: str) -> list[str]:
    """The word 2-shingles of both protocols: lower case, words split on anything but letters, digits, `_`.

    >>> two_shingles("To be, or NOT"), two_shingles("Alone"), two_shingles("")
    (['to be', 'be or', 'or not'], ['alone'], [])
    """
    words = WORD.findall(text.lower())
    return [" ".join(pair) for pair in pairwise(words)] or words


def cleaned_article(text: str) -> str:
    """The cleaning of NEWS-COPY: words joined over hyphenated line ends, most punctuation and non-ASCII out.

    >>> cleaned_article('The “new” presi-\\ndent said:\\n"No."')
    'The new president said No'
    """
    return text.replace("-\n", "").replace("\n", " ").translate(REMOVED).encode("ascii", "ignore").decode()


def read_core(rows: Sequence[Mapping[str, Any]]) -> Labelled:
    """The documents of CORE: title and abstract, as prepared by its makers."""
    place = {str(row["core_id"]): at for at, row in enumerate(rows)}
    listed = [
        frozenset(place.get(str(one), -1) for one in _listed(row["labelled_duplicates"])) for row in rows
    ]
    edges = [(at, other) for at, others in enumerate(listed) for other in others if other >= 0]
    left, right = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    texts = [f"{row['processed_title'] or ''} {row['processed_abstract'] or ''}".lower() for row in rows]
    return Labelled(texts, listed, components(len(rows), left, right))


def read_news_copy(rows: Sequence[Mapping[str, Any]]) -> Labelled:
    """The articles of NEWS-COPY, cleaned."""
    clusters = numbers([str(row["cluster"]) for row in rows])
    return Labelled([cleaned_article(row["article"]) for row in rows], listed_by(clusters), clusters)


def listed_by(clusters: Ints) -> list[frozenset[int]]:
    """For each document the others of its cluster.

    >>> [sorted(one) for one in listed_by(np.array([3, 4, 3]))]
    [[2], [], [0]]
    """
    members: dict[int, set[int]] = {}
    for at, label in enumerate(clusters.tolist()):
        members.setdefault(label, set()).add(at)
    return [frozenset(members[label] - {at}) for at, label in enumerate(clusters.tolist())]


def core_figures(labelled: Labelled, found: Ints) -> dict[str, float]:
    """The figures of CORE, by document.

    An empty prediction is a true negative without a label and a false negative with one. A prediction is a true
    positive if the labelled set is not empty and is contained in the predicted one, otherwise a false positive.
    Accuracy is the share of documents whose predicted set equals the labelled one. The published "macro F1" is the
    mean of the two precisions; here it is called "mean precision".
    """
    counts = dict.fromkeys(("tp", "fp", "tn", "fn"), 0)
    equal = 0
    for labels, predicted in zip(labelled.listed, listed_by(found), strict=True):
        counts[_outcome(labels, predicted)] += 1
        equal += labels == predicted
    tp, fp, tn, fn = counts.values()
    duplicates, others = _share(tp, tp + fp), _share(tn, tn + fn)
    return {
        "precision, duplicates": duplicates,
        "recall, duplicates": _share(tp, tp + fn),
        "precision, others": others,
        "recall, others": _share(tn, tn + fp),
        "mean precision": (duplicates + others) / 2,
        "accuracy": equal / max(len(labelled.listed), 1),
    }


def _outcome(labels: frozenset[int], predicted: frozenset[int]) -> str:
    if not predicted:
        return "fn" if labels else "tn"
    return "tp" if labels and labels <= predicted else "fp"


def news_copy_figures(labelled: Labelled, found: Ints) -> dict[str, float]:
    """The figure of NEWS-COPY: the adjusted Rand index."""
    return {"ARI": adjusted_rand_index(found, labelled.clusters)}


def added_figures(labelled: Labelled, found: Ints) -> dict[str, float]:
    """Figures that neither publication has: pairs of documents in one cluster, and B-cubed."""
    pairs = [{tuple(pair) for pair in pairs_within(labels).tolist()} for labels in (found, labelled.clusters)]
    both = len(pairs[0] & pairs[1])
    precision, recall = _share(both, len(pairs[0])), _share(both, len(pairs[1]))
    b_precision, b_recall = bcubed(found, labelled.clusters)
    return {
        "pair P": precision,
        "pair R": recall,
        "pair F1": harmonic(precision, recall),
        "B³ P": b_precision,
        "B³ R": b_recall,
        "B³ F1": harmonic(b_precision, b_recall),
    }


PROTOCOLS = {
    "core": Protocol(
        read_core,
        200,
        Bands(50, 4),
        0.5,
        core_figures,
        {
            "text-dedup": {
                "precision, duplicates": 0.9587,
                "recall, duplicates": 0.9416,
                "precision, others": 0.9450,
                "recall, others": 0.9611,
                "mean precision": 0.9518,
                "accuracy": 0.9277,
            },
            "text-dedup-rs": {"accuracy": 0.9284},
            "RETSim, partial": {"accuracy": 0.928},
        },
    ),
    "news-copy": Protocol(
        read_news_copy,
        256,
        Bands(47, 5),
        0.45,
        news_copy_figures,
        {
            "text-dedup": {"ARI": 0.7293},
            "text-dedup-rs": {"ARI": 0.7697},
            "MinHash, in RETSim's paper": {"ARI": 0.783},
            "RETSim": {"ARI": 0.831},
            "bi-encoder": {"ARI": 0.915},
            "re-ranking": {"ARI": 0.937},
        },
    ),
}
WAYS = ("as published", "verified", "verified, leaders")


def evaluate(protocol: Protocol, labelled: Labelled, seeds: range) -> dict[str, list[dict[str, float]]]:
    """The figures of each method with each seed."""
    documents = [Document(at, {"shingles": two_shingles(text)}) for at, text in enumerate(labelled.texts)]
    figures: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for seed in seeds:
        for way, clusters in found_clusters(protocol, documents, seed).items():
            figures[way].append(protocol.figures(labelled, clusters) | added_figures(labelled, clusters))
    return figures


def found_clusters(protocol: Protocol, documents: list[Document], seed: int) -> dict[str, Ints]:
    """The clusters of each method, as a label for each document."""
    touching = find_duplicates(
        documents,
        schema=Schema(shingles=ValueSet()),
        threshold=TOUCH,
        options=Options(minhash="kmins", num_hashes=protocol.num_hashes, bands=protocol.bands, seed=seed),
    )
    pairs, verified = touching.pairs, touching.rethreshold(protocol.threshold)
    alike = pairs.similarity >= protocol.threshold
    left, right = pairs.left.astype(np.int64), pairs.right.astype(np.int64)
    return {
        "as published": components(len(documents), left, right),
        "verified": components(len(documents), left[alike], right[alike]),
        "verified, leaders": verified.leader.astype(np.int64),
    }


def markdown(protocol: Protocol, figures: Mapping[str, list[dict[str, float]]]) -> str:
    """The table: Benzer's methods with their spread over seeds, then the published figures."""
    names = list(next(iter(figures.values()))[0])
    rows = [
        [f"Benzer, {way}", *(_spread([one[name] for one in runs]) for name in names)]
        for way, runs in figures.items()
    ]
    for other, known in protocol.published.items():
        rows.append(
            [f"{other} (published)", *(f"{known[name]:.4f}" if name in known else "" for name in names)]
        )
    return table(["", *names], rows)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL or Parquet file."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    return list(_lines(path))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    opened: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _listed(value: Any) -> list[Any]:
    """The labels of a document: a list, a list as JSON, or nothing."""
    listed: list[Any] = json.loads(value.replace("'", '"')) if isinstance(value, str) and value else value
    return list(listed or [])


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _spread(values: list[float]) -> str:
    return f"{mean(values):.4f} ±{pstdev(values):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("protocol", choices=sorted(PROTOCOLS))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    protocol = PROTOCOLS[arguments.protocol]
    labelled = protocol.read(read_rows(arguments.file))
    print(markdown(protocol, evaluate(protocol, labelled, range(arguments.seeds))))


if __name__ == "__main__":
    main()
