"""E3: error of the estimates for several similarities of the sets (Karamatlı 2012, figure 6c).

The source reports no considerable difference between several s_r. The error of an unbiased estimate is
√(J(1 − J)/n_h): it is largest at J = 1/2, and three fifths of that at J = 0.1 and 0.9.
"""

from __future__ import annotations

from benzer.experiments.base import (
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Scale,
    Series,
    table_of,
)
from benzer.experiments.random_sets import (
    FAST,
    MANY,
    ONE_FUNCTION,
    ONE_OVERLAP,
    THEORY,
    RandomSetPairs,
    error_table,
    measure,
)
from benzer.minhash import MinHash

SIZE = 1000
SIMILARITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NUM_HASHES = (10, 20, 50, 100, 200, 500)
COMPARED = 100
PAIRS = {"small": 150, "full": 1000}
SKETCHES = (MANY, ONE_FUNCTION, FAST)


def run(scale: Scale, seed: int) -> ExperimentResult:
    """Measure the errors for s_r from 0.1 to 0.9 and n_h from 10 to 500."""
    rows = []
    for s_r in SIMILARITIES:
        published = RandomSetPairs.draw("published", PAIRS[scale], SIZE, s_r, seed)
        rows += measure(published, [ONE_OVERLAP], NUM_HASHES, seed)
        rows += measure(
            RandomSetPairs.draw("corrected", PAIRS[scale], SIZE, s_r, seed), SKETCHES, NUM_HASHES, seed
        )
    table = error_table(rows)
    return ExperimentResult(
        name="E3",
        settings=(
            f"s_r = {SIMILARITIES[0]} to {SIMILARITIES[-1]}; |A| = |B| = {SIZE:,}; {PAIRS[scale]:,} pairs per point "
            f"(the source: 10)"
        ),
        published="No considerable difference.",
        finding=finding(table),
        tables={"summary": summary(table), "errors": table},
        figures={"errors": figure(table)},
    )


def finding(table: ResultTable) -> str:
    """Describe the error of many functions at the middle and at the ends."""
    part = table.where(sets="corrected", sketch=MANY.label, num_hashes=COMPARED)
    measured, formula = (
        dict(zip(*map(part.column, ("s_r", column)), strict=True)) for column in ("rms_error", "theory")
    )
    return (
        f"The error depends on the similarity: it is √(J(1 − J)/n_h). With n_h = {COMPARED}, the error of many "
        f"functions is {measured[0.1]:.3f} at J = 0.1, {measured[0.5]:.3f} at 0.5 and "
        f"{measured[0.9]:.3f} at 0.9 (the formula: "
        f"{formula[0.1]:.3f}, {formula[0.5]:.3f}, {formula[0.9]:.3f}). With 10 pairs per point, as in the source, "
        f"each error is uncertain by a fifth, which hides most of the difference."
    )


def summary(table: ResultTable) -> ResultTable:
    """Return the errors with 100 hashes by s_r, one column for each sketch, and the formula."""
    part = table.where(num_hashes=COMPARED)
    names = ("s_r", "sketch", "rms_error", "rms_error_from_s_r")
    rows = [
        (s_r, sketch, from_s_r if sketch == ONE_OVERLAP.label else error)
        for s_r, sketch, error, from_s_r in zip(*map(part.column, names), strict=True)
    ]
    rows += [(s_r, "√(J(1 − J)/n_h)", MinHash("kmins", COMPARED).standard_error(s_r)) for s_r in SIMILARITIES]
    return table_of(("s_r", "sketch", "error"), rows).wide(["s_r"], "sketch", "error")


def figure(table: ResultTable) -> ExperimentFigure:
    """Draw the published view, and the error by similarity."""
    published = table.where(sketch=ONE_OVERLAP.label)
    corrected = table.where(sets="corrected", num_hashes=COMPARED)
    fine = tuple(step / 100 for step in range(101))
    minhash = MinHash("kmins", COMPARED)
    theory = Series(THEORY, fine, tuple(map(minhash.standard_error, fine)), kind="theory")
    lines = [
        corrected.where(sketch=s.label).series(s.label, "jaccard", "rms_error", look=s.look) for s in SKETCHES
    ]
    by_similarity = tuple(
        published.where(s_r=s_r).series(f"$s_r$ = {s_r}", "num_hashes", "rms_error_from_s_r", look=8 + shade)
        for shade, s_r in enumerate((0.1, 0.3, 0.5, 0.7, 0.9))
    )
    return ExperimentFigure(
        "E3: error of the estimated similarity, by the similarity of the sets",
        (
            Panel(
                "as published: one function, error from $s_r$", "values in the signature, $n_h$",
                "root mean square error", by_similarity, log_x=True, y_from=0,
            ),
            Panel(
                f"corrected: error from $J$, $n_h$ = {COMPARED}", "Jaccard similarity $J$", "root mean square error",
                (*lines, theory), y_from=0,
            ),
        ),
        own_scales=True,
    )  # fmt: skip
