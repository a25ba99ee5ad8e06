"""Eight experiments from five published texts on MinHash and LSH, repeated.

Each experiment is one module. It uses the settings of its source with Benzer's own sketches, hash families and bands,
and compares the published results with those of a correct analysis of the same data. docs/experiments.md shows the
results.

| module | contents |
|---|---|
| `base` | `ExperimentResult` with tables and figures; `EXPERIMENTS`, the registry |
| `one_function` | E1: one hash function compared with many |
| `set_sizes` | E2: error for several sizes of the sets |
| `similarities` | E3: error for several similarities of the sets |
| `shingle_sizes` | E4: similarity for several sizes of shingles |
| `family_speed` | E5: speed of hash families |
| `convergence` | E6: convergence of the estimate to the true similarity, for each hash family |
| `all_queries` | E7: time and recall of 12,000 queries |
| `uniformity` | E8: uniformity of buckets |
| `random_sets` | E1 to E3: random pairs of sets, and the errors of estimates on them |
| `made_texts` | E4 to E7: texts generated from a seed |
| `exact_pairs` | E7: exact comparison of all pairs |
| `hashing` | the published hash functions of strings and integers, by name |
| `matrices` | characteristic and signature matrices of small sets |
| `figures` | drawing of figures |
| `writing` | output files |
"""

from __future__ import annotations

from benzer.experiments.base import (
    EXPERIMENTS,
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Series,
    run_experiment,
)
from benzer.experiments.writing import write_results

__all__ = [
    "EXPERIMENTS",
    "ExperimentFigure",
    "ExperimentResult",
    "Panel",
    "ResultTable",
    "Series",
    "run_experiment",
    "write_results",
]
