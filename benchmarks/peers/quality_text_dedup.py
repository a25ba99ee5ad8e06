"""text-dedup: its own words, n-grams, bands, clusters and verification; the functions of its MinHash command.

Documents with fewer words than `min_length` are dropped before the first step. The verification compares all pairs
of a cluster in Python, so it is omitted if there are too many pairs.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

import numpy as np
from datasets import Dataset, disable_progress_bars
from text_dedup.config import MinHashAlgorithmConfig
from text_dedup.config.algorithms.minhash import optimal_param
from text_dedup.config.base import Config
from text_dedup.config.io.input_configs import LocalInputConfig
from text_dedup.config.io.output_configs import OutputConfig
from text_dedup.minhash import check_false_positives, cluster

from benchmarks.peers.quality_base import Answer, Collection, GaveUp, Settings

MOST_BUCKET_PAIRS = 20_000_000
MOST_VERIFIED = 120_000_000  # characters that its verification reads, each pair anew: about a minute


def find(collection: Collection, settings: Settings, seed: int) -> Answer:
    disable_progress_bars()
    logging.disable(logging.INFO)
    names = ("ngram", "num_hashes", "threshold", "min_length")
    algorithm, config, parents = _clustered(collection, *(settings[name] for name in names), seed)
    if settings["verify"] and parents:
        parents = _verified(config, collection, algorithm, parents)
    count = len(collection.texts)
    labels = np.arange(count, dtype=np.int64)
    for document, parent in parents.items():
        labels[document] = count + parent
    return Answer(clusters=(("components", settings["threshold"], labels),))


@lru_cache(maxsize=1)  # the same clusters are then taken as they are, and verified
def _clustered(
    collection: Collection, ngram: int, num_hashes: int, threshold: float, min_length: int, seed: int
) -> tuple[Any, Config, dict[int, int]]:
    bands, rows = _bands(threshold, num_hashes)
    algorithm = MinHashAlgorithmConfig(
        algorithm_name="minhash",
        text_column="text",
        num_perm=num_hashes,
        ngram_size=ngram,
        threshold=threshold,
        bands=bands,
        rows=rows,
        min_length=min_length,
        seed=seed + 42,
        num_proc=1,
    )
    keep = algorithm.get_filtering_func()
    held = [position for position, text in enumerate(collection.texts) if keep(text)]
    signatures, config = _signatures(collection, algorithm, held), _config(algorithm)
    return algorithm, config, cluster(config, signatures) if len(signatures) else {}


@lru_cache
def _bands(threshold: float, num_hashes: int) -> tuple[int, int]:
    """Its choice of bands for a threshold, which it would compute again for every setting."""
    return optimal_param(threshold, num_hashes)


def _signatures(collection: Collection, algorithm: Any, rows: list[int]) -> Dataset:
    """The result of its `fingerprint` step: a row for each document and band."""
    embed, index = algorithm.get_embed_func(), algorithm.internal_index_column
    columns: dict[str, list[Any]] = {"__band_idx__": [], "__band_val__": [], index: []}
    for position in rows:
        for name, values in embed([collection.texts[position]], [position]).items():
            columns[name].extend(values)
    _check_buckets(columns["__band_idx__"], columns["__band_val__"])
    return Dataset.from_dict(columns)


def _check_buckets(bands: list[int], values: list[bytes]) -> None:
    """Give up on large buckets, because its clustering joins every bucket with itself."""
    sizes: dict[tuple[int, bytes], int] = {}
    for key in zip(bands, values, strict=True):
        sizes[key] = sizes.get(key, 0) + 1
    pairs = sum(size * size for size in sizes.values() if size > 1)
    if pairs > MOST_BUCKET_PAIRS:
        raise GaveUp(f"its buckets would be joined into {pairs:,} rows")


def _verified(
    config: Config, collection: Collection, algorithm: Any, parents: dict[int, int]
) -> dict[int, int]:
    sizes = np.unique(list(parents.values()), return_counts=True)[1].astype(np.int64)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    length = sum(map(len, collection.texts)) // len(collection.texts)
    if 2 * pairs * length > MOST_VERIFIED:
        raise GaveUp(f"its verification would compare {pairs:,} pairs in Python")
    documents = sorted(parents)
    rows = Dataset.from_dict(
        {
            algorithm.internal_index_column: documents,
            "text": [collection.texts[position] for position in documents],
            algorithm.cluster_column: [parents[position] for position in documents],
            "__duplicate__": [True] * len(documents),
        }
    )
    return check_false_positives(config, rows)[1]


def _config(algorithm: Any) -> Config:
    """A configuration that reads and writes nothing."""
    return Config.model_construct(
        input=LocalInputConfig.model_construct(input_type="local_files", file_type="json", read_arguments={}),
        algorithm=algorithm,
        output=OutputConfig.model_construct(output_dir=""),
    )
