"""Measures the recall of a run on a sample, whose true neighbours are found without bands.

| module | contents |
|---|---|
| `measuring` | measuring the sample: `measure`, and its steps for other engines |
| `neighbours` | the documents that can reach the threshold with a sampled one |
| `drawing` | selection of the sampled documents and neighbours |
| `interval` | the confidence interval of a share |
| `estimate` | the result: `RecallEstimate` |
"""

from __future__ import annotations

from benzer.recall.drawing import chosen_neighbours, distinct, draw_places, drawn
from benzer.recall.estimate import Missed, RecallEstimate
from benzer.recall.interval import clopper_pearson
from benzer.recall.measuring import (
    PILOT,
    PILOT_SEED,
    Answers,
    Reported,
    RunCounts,
    check_sample,
    estimated,
    measure,
    missed_first,
    predicted,
    sample_until,
)
from benzer.recall.neighbours import affordable, field_thresholds, possible_neighbours

__all__ = [
    "PILOT",
    "PILOT_SEED",
    "Answers",
    "Missed",
    "RecallEstimate",
    "Reported",
    "RunCounts",
    "affordable",
    "check_sample",
    "chosen_neighbours",
    "clopper_pearson",
    "distinct",
    "draw_places",
    "drawn",
    "estimated",
    "field_thresholds",
    "measure",
    "missed_first",
    "possible_neighbours",
    "predicted",
    "sample_until",
]
