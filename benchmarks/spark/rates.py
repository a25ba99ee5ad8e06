"""Rates of the measurement of a gigabyte, for the extrapolation of `benchmarks.cluster_sizing`."""

from __future__ import annotations

from typing import Any

from benchmarks.spark.plan import THREADS

STAGES = ("sketch", "copies", "join", "blocks", "decide")


def rates_of(found: dict[str, Any]) -> dict[str, Any]:
    """The fields of `cluster_sizing.Rates`, from the run on Spark with the median time."""
    cell = found["middle"]["benzer on Spark"]
    shape = found["middle"]["benzer"]["shape"]
    return {
        "seconds": by_stage(cell["stages"], cell["seconds"]),
        "cores": THREADS,
        "documents": found["documents"],
        "text_bytes": found["text_bytes"],
        "shuffled": cell["work"]["shuffle_written"],
        **shape,
    }


def by_stage(timings: dict[str, float], seconds: float) -> dict[str, float]:
    """Seconds of the stages; parts are added to their stage ("blocks-pairs" to blocks), and `rest` is the
    remainder.

    >>> by_stage({"sketch": 2.0, "blocks-pairs": 1.0, "decided-copies": 0.5, "total": 4.5}, 5.0)
    {'sketch': 2.0, 'copies': 0.0, 'join': 0.0, 'blocks': 1.0, 'decide': 0.5, 'rest': 1.5}
    """
    found = dict.fromkeys(STAGES, 0.0)
    for name, taken in timings.items():
        stage = name.split("-")[0].removesuffix("d")  # those of `decide` are called decided
        if stage in found:
            found[stage] += taken
    return {**found, "rest": round(max(0.0, seconds - sum(found.values())), 6)}
