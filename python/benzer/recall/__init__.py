"""Measures the recall of a run on a sample, whose true neighbours are found without bands.

| room | answers |
|---|---|
| `measuring` | how the sample is asked: `measure`, and its steps for those who ask otherwise |
| `neighbours` | which documents can reach the threshold with a drawn one |
| `drawing` | which documents are asked, and for which neighbour |
| `interval` | between which bounds the share lies |
| `estimate` | what is said of it: `RecallEstimate` |
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
    Told,
    asked_until,
    check_sample,
    estimated,
    measure,
    missed_first,
    predicted,
)
from benzer.recall.neighbours import affordable, field_thresholds, possible_neighbours

__all__ = [
    "PILOT",
    "PILOT_SEED",
    "Answers",
    "Missed",
    "RecallEstimate",
    "Reported",
    "Told",
    "affordable",
    "asked_until",
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
]
