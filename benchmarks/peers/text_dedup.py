"""text-dedup: the steps of its MinHash command in one process, without the copy of the data that it would write.

Documents of fewer than five words are dropped before the first step, as in its command.
"""

from __future__ import annotations

import logging
import os
import tempfile

_CACHE = tempfile.TemporaryDirectory()  # what it caches would make a second run look fast
os.environ |= {"HF_DATASETS_CACHE": _CACHE.name, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}

from datasets import disable_progress_bars  # noqa: E402 (it reads the environment when it is imported)
from text_dedup.config import MinHashAlgorithmConfig  # noqa: E402
from text_dedup.config.base import Config  # noqa: E402
from text_dedup.config.io.input_configs import LocalInputConfig  # noqa: E402
from text_dedup.config.io.output_configs import OutputConfig  # noqa: E402
from text_dedup.minhash import assign, cluster, fingerprint, load_and_preprocess  # noqa: E402

from benchmarks.peers.base import Answer, Clock, Task  # noqa: E402


def run(task: Task) -> Answer:
    disable_progress_bars()
    logging.disable(logging.INFO)
    config = _config(task)
    clock = Clock()
    rows, documents, _ = load_and_preprocess(config)
    clock.lap("read")
    signatures = fingerprint(config, rows)
    clock.lap("shingle and sketch")
    parents = cluster(config, signatures)
    clustered = assign(config, rows, parents)
    clock.lap("bands and clusters")
    column = config.algorithm.cluster_column
    seen: set[int] = set()
    flagged = []
    for document, parent in zip(clustered["id"], clustered[column], strict=True):
        if parent in seen:
            flagged.append(document)
        seen.add(parent)
    clock.lap("removed")
    return Answer(documents=documents, stages=clock.stages, flags="removed", flagged=flagged)


def _config(task: Task) -> Config:
    kind = "parquet" if task.path.endswith(".parquet") else "json"
    reading = {"path": kind, "data_files": task.path, "split": "train"}
    return Config.model_construct(
        input=LocalInputConfig.model_construct(
            input_type="local_files", file_type=kind, read_arguments=reading
        ),
        algorithm=MinHashAlgorithmConfig(
            algorithm_name="minhash",
            text_column="text",
            num_perm=task.num_hashes,
            bands=task.bands,
            rows=task.rows,
            ngram_size=5,
            threshold=task.threshold,
            num_proc=task.threads,
        ),
        output=OutputConfig.model_construct(output_dir=""),
    )
