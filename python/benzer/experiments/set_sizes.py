"""E2: error of the estimates for several sizes of the sets (Karamatlı 2012, figure 6b).

The source finds that one function has no error at n_h = n, the size of the sets. This is true for its estimate,
|Z_A ∩ Z_B| / n_h, relative to s_r: at n_h = n it is the overlap of the whole sets. The unbiased estimate of
the Jaccard similarity is exact if the n_h values contain the whole union, n_h = |A ∪ B|.
"""

from __future__ import annotations

from math import ceil

from benzer.experiments.base import (
    Cell,
    ExperimentFigure,
    ExperimentResult,
    Panel,
    ResultTable,
    Scale,
    table_of,
)
from benzer.experiments.random_sets import (
    COLUMNS,
    MANY,
    ONE_FUNCTION,
    ONE_OVERLAP,
    THEORY,
    RandomSetPairs,
    Sketch,
    measure,
)

S_R = 0.5
SIZES = (200, 1_000, 10_000)
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.2, 4 / 3, 1.5)
EXACT = 0.0001
MOST_FUNCTIONS = {"small": 1_000, "full": 10_000}
PAIRS = {"small": 100, "full": 200}
VIEWS: tuple[tuple[str, Sketch], ...] = (
    ("published", ONE_OVERLAP),
    ("corrected", ONE_FUNCTION),
    ("corrected", MANY),
)


def run(scale: Scale, seed: int) -> ExperimentResult:
    """Measure the errors for n_h up to 1.5 n, for sets of 200, 1,000 and 10,000 elements."""
    most = MOST_FUNCTIONS[scale]
    table = with_shares(
        [row for size in SIZES for view in VIEWS for row in errors_at(size, *view, PAIRS[scale], most, seed)]
    )
    return ExperimentResult(
        name="E2",
        settings=(
            f"n = {', '.join(f'{size:,}' for size in SIZES)}; s_r = {S_R}; {PAIRS[scale]:,} pairs per point "
            f"(the source: 10); many functions up to n_h = {most:,}, because their time grows with n · n_h"
        ),
        published="With one function the error is 0 when n_h = n.",
        finding=finding(table),
        tables={"summary": summary(table), "errors": table},
        figures={"errors": figure(table)},
    )


def errors_at(
    size: int, generator: str, sketch: Sketch, count: int, most: int, seed: int
) -> list[list[Cell]]:
    """Measure the errors of one sketch on sets of one size, at the `SHARES` of their size."""
    pairs = RandomSetPairs.draw(generator, count, size, S_R, seed)
    numbers = [ceil(size * share) for share in SHARES]
    limit = {MANY.label: most, ONE_OVERLAP.label: size}.get(sketch.label, 2 * size)
    numbers = [number for number in numbers if number <= limit]
    return measure(pairs, [sketch], numbers, seed)


def with_shares(rows: list[list[Cell]]) -> ResultTable:
    """Return the table of errors, with n_h / n as a last column."""
    size, number = COLUMNS.index("size"), COLUMNS.index("num_hashes")
    return table_of(
        (*COLUMNS, "n_h / n"), [[*row, float(row[number] or 0) / float(row[size] or 1)] for row in rows]
    )


def finding(table: ResultTable) -> str:
    """Describe where each estimate of one function becomes exact."""
    exact = [first_exact(table.where(size=size, sketch=ONE_FUNCTION.label)) for size in SIZES]
    many = table.where(sketch=MANY.label)
    ratios = [e / t for e, t in zip(many.column("rms_error"), many.column("theory"), strict=True)]
    return (
        f"This is true for the published estimate relative to s_r: at n_h = n it is the overlap n_i / n itself. The "
        f"unbiased estimate of one function is exact if its values contain the whole union, |A ∪ B| = 4/3 n "
        f"at J = 1/2: from n_h = {', '.join(f'{number:,}' for number in exact)} on (errors below "
        f"{EXACT}: two of 10,000 elements may have the same 32-bit value). The error of many functions "
        f"depends only on n_h, not on n: it is {min(ratios):.2f} to {max(ratios):.2f} times √(J(1 − J)/n_h)."
    )


def first_exact(table: ResultTable) -> int:
    """Return the smallest number of hashes from which on there is no error."""
    errors = dict(zip(table.column("num_hashes"), table.column("rms_error"), strict=True))
    last = max(number for number, error in errors.items() if error >= EXACT)
    return int(min(number for number in errors if number > last))


def summary(table: ResultTable) -> ResultTable:
    """Return the errors by size and sketch, one column for each share n_h / n."""
    rows = [
        (
            size,
            sketch,
            f"n_h = {share:.3g} n".replace(" 1 n", " n"),
            from_s_r if sketch == ONE_OVERLAP.label else error,
        )
        for size, sketch, share, error, from_s_r in zip(
            *map(table.column, ("size", "sketch", "n_h / n", "rms_error", "rms_error_from_s_r")), strict=True
        )
    ]
    return table_of(("n", "sketch", "n_h", "error"), rows).wide(["n", "sketch"], "n_h", "error")


def figure(table: ResultTable) -> ExperimentFigure:
    """Draw one panel for each size."""

    def panel(size: int) -> Panel:
        part = table.where(size=size)
        lines = [
            part.where(sketch=sketch.label).series(
                sketch.label, "n_h / n", "rms_error_from_s_r" if sketch is ONE_OVERLAP else "rms_error",
                look=sketch.look,
            )
            for _, sketch in VIEWS
        ]  # fmt: skip
        theory = part.where(sketch=MANY.label).series(THEORY, "n_h / n", "theory", kind="theory")
        title = f"$n$ = {size:,}"
        return Panel(title, "$n_h / n$", "root mean square error", (*lines, theory), y_from=0)

    title = "E2: error of the estimated similarity, by the size of the sets"
    return ExperimentFigure(title, tuple(map(panel, SIZES)), own_scales=True)
