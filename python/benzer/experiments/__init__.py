"""What did the literature find by experiment, and what is found when it is done again with care?

Five published texts on MinHash and LSH report eight experiments. Each is one module here, with the settings
of its source, run through Benzer's own sketches, hash families and bands, beside what a correct reading of
the same data says. docs/experiments.md shows the results.

| room | answers |
|---|---|
| `base` | `ExperimentResult`, `ResultTable`, `ExperimentFigure`; `EXPERIMENTS`, the registry |
| `one_function` | E1: are many hash functions better than one? |
| `set_sizes` | E2: does the size of the sets matter? |
| `similarities` | E3: does the similarity of the sets matter? |
| `shingle_sizes` | E4: how does similarity fall with the size of shingles? |
| `family_speed` | E5: which hash family fills the signatures soonest? |
| `convergence` | E6: does an estimate converge to the truth, with every hash family? |
| `all_queries` | E7: how long do 12,000 queries take, and what do they miss? |
| `uniformity` | E8: do hash functions fill their buckets evenly? |
| `random_sets` | E1 to E3: random pairs of sets, and the errors of estimates on them |
| `made_texts` | E4 to E7: texts made from a seed |
| `exact_pairs` | E7: every pair, exactly |
| `hashing` | the published hash functions of strings and integers, by name |
| `matrices` | characteristic and signature matrices of small sets |
| `figures` | how a figure is drawn |
| `writing` | how results become files |
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
