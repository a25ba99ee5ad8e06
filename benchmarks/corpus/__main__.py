"""Build the benchmark corpora: `python -m benchmarks.corpus`; existing ones are not built again."""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus import packages, planted, text
from benchmarks.corpus.documents import Cutter, unshared
from benchmarks.scenarios import DATA, CorpusPlan, load_corpus_plan

_LEVELS = (0.5, 0.7, 0.8, 0.9, 1.0)
log = logging.getLogger("benchmarks.corpus")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="where the downloads and the corpora lie")
    parser.add_argument("--force", action="store_true", help="build again what exists")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    names = ("corpus", "small")
    if not arguments.force and all((arguments.data / f"{name}.json").exists() for name in names):
        log.info("the corpora in %s are complete", arguments.data)
        return
    build(load_corpus_plan(), arguments.data)


def build(plan: CorpusPlan, folder: Path) -> None:
    """Base documents, then the large and the small corpus with their true pairs."""
    base = list(base_documents(plan, folder))
    size = sum(len(document.encode()) for document in base)
    log.info("%d base documents, %.1f MB", len(base), size / 1e6)
    if size < plan.minimum_bytes * _base_share(plan):
        wanted = plan.minimum_bytes / 1e6
        raise SystemExit(f"{size / 1e6:.0f} MB of base text are too few for {wanted:.0f} MB: add packages")
    versions = packages.versions(plan.packages, folder)
    write(planted.plant(base, plan.planted, plan.seed), folder, "corpus", versions)
    sample = random.Random(plan.seed).sample(base, round(plan.small_documents * _base_share(plan)))
    write(planted.plant(sample, plan.planted, plan.seed + 1), folder, "small", versions)
    packages.discard_unpacked(folder)


def _base_share(plan: CorpusPlan) -> float:
    return 1 - sum(plan.planted.values())


def base_documents(plan: CorpusPlan, folder: Path) -> list[str]:
    """Documents in shuffled order; none of them shares much with the previous ones."""
    rng = random.Random(plan.seed)
    found = packages.fetch(plan.packages, folder)
    cutter = Cutter(rng, plan.median_length, plan.length_sigma)
    documents: list[str] = []
    for name, unpacked in found.items():
        documents += _of_package(name, unpacked, cutter, plan)
    rng.shuffle(documents)
    log.info("%d documents before the filter", len(documents))
    return [documents[position] for position in unshared(documents, plan.shared_limit)]


def _of_package(name: str, unpacked: Path, cutter: Cutter, plan: CorpusPlan) -> Iterator[str]:
    size = count = 0
    for path in packages.files(unpacked, text.SUFFIXES):
        for document in cutter.cut(text.lines(path)):
            size, count = size + len(document), count + 1
            yield document
        if size > plan.package_limit:
            break
    log.info("%s: %d documents, %.1f MB", name, count, size / 1e6)


def write(corpus: planted.PlantedCorpus, folder: Path, name: str, versions: dict[str, str]) -> None:
    """Write NAME.jsonl, NAME.parquet, NAME.truth.parquet, and last NAME.json, which describes them."""
    ids = list(range(len(corpus.texts)))
    digest = _write_jsonl(corpus.texts, folder / f"{name}.jsonl")
    pq.write_table(
        pa.table({"id": ids, "text": corpus.texts}), folder / f"{name}.parquet", row_group_size=20_000
    )
    left, right, similarity = zip(*planted.exact_pairs(corpus), strict=True)
    truth = pa.table({"left": left, "right": right, "jaccard": similarity})
    pq.write_table(truth, folder / f"{name}.truth.parquet")
    facts = {
        "documents": len(ids),
        "jsonl_bytes": (folder / f"{name}.jsonl").stat().st_size,
        "text_bytes": sum(len(document.encode()) for document in corpus.texts),
        "planted_clusters": len(corpus.clusters),
        "planted_pairs": len(left),
        "pairs_from": {str(level): sum(value >= level for value in similarity) for level in _LEVELS},
        "sha256": digest,
        "packages": versions,
    }
    (folder / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")
    log.info("%s: %s", name, {key: value for key, value in facts.items() if key != "packages"})


def _write_jsonl(texts: list[str], path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as sink:
        for number, document in enumerate(texts):
            line = json.dumps({"id": number, "text": document}, ensure_ascii=False).encode() + b"\n"
            digest.update(line)
            sink.write(line)
    return digest.hexdigest()


if __name__ == "__main__":
    main()
