"""What does an experiment hand on, and which experiments are there?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal, cast

from benzer.checks import check_seed
from benzer.errors import SettingsError
from benzer.registry import Registry

Cell = str | int | float | None
Scale = Literal["small", "full"]
MOST_ROWS_SHOWN = 20
SCALES: tuple[Scale, ...] = ("small", "full")

EXPERIMENTS = Registry(
    "experiment",
    {
        "E1": "benzer.experiments.one_function:run",
        "E2": "benzer.experiments.set_sizes:run",
        "E3": "benzer.experiments.similarities:run",
        "E4": "benzer.experiments.shingle_sizes:run",
        "E5": "benzer.experiments.family_speed:run",
        "E6": "benzer.experiments.convergence:run",
        "E7": "benzer.experiments.all_queries:run",
        "E8": "benzer.experiments.uniformity:run",
    },
)

QUESTIONS: Mapping[str, str] = {
    "E1": "Is one hash function better than many?",
    "E2": "Does the size of the sets matter?",
    "E3": "Does the similarity of the sets matter?",
    "E4": "How does the similarity of texts fall with the size of their shingles?",
    "E5": "Which hash functions fill the signature matrix fastest?",
    "E6": "Does the estimate converge to the true similarity?",
    "E7": "How long do queries for the nearest documents take, and what do they miss?",
    "E8": "Do hash functions fill their buckets evenly?",
}


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of cells under named columns; None is a cell that has no meaning in its row.

    >>> table = ResultTable(("family", "error"), (("modular", 0.1), ("murmur3_32", 0.2)))
    >>> table.column("error"), table.where(family="modular").column("error")
    ((0.1, 0.2), (0.1,))
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, name: str) -> tuple[Any, ...]:
        """The cells of one column."""
        at = self.columns.index(name)
        return tuple(row[at] for row in self.rows)

    def where(self, **equal: Cell) -> ResultTable:
        """The rows that have these values in these columns."""
        wanted = [(self.columns.index(name), value) for name, value in equal.items()]
        return ResultTable(
            self.columns, tuple(row for row in self.rows if all(row[at] == v for at, v in wanted))
        )

    def wide(self, rows: Sequence[str], across: str, value: str, head: str = "{}") -> ResultTable:
        """One row for each combination of some columns, one column for each value of another.

        `head` makes the names of those columns of their values.

        >>> table = ResultTable(("n_h", "sketch", "error"), ((10, "one", 0.2), (10, "many", 0.3), (20, "one", 0.1)))
        >>> table.wide(["n_h"], "sketch", "error")
        ResultTable(columns=('n_h', 'one', 'many'), rows=((10, 0.2, 0.3), (20, 0.1, None)))
        """
        heads = tuple(dict.fromkeys(self.column(across)))
        keys = list(zip(*map(self.column, rows), strict=True))
        cells = dict(zip(zip(keys, self.column(across), strict=True), self.column(value), strict=True))
        body = tuple((*key, *(cells.get((key, head)) for head in heads)) for key in dict.fromkeys(keys))
        return ResultTable((*rows, *(head.format(shown(value)) for value in heads)), body)

    def for_readers(self) -> list[list[str]]:
        """The cells as text, each column with one number of decimals."""
        columns = [
            [shown(cell, decimals_of(self.column(name))) for cell in self.column(name)]
            for name in self.columns
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def series(self, label: str, x: str, y: str, **options: Any) -> Series:
        """Two columns as a series of a figure; rows without one of the two are left out."""
        points = [(a, b) for a, b in zip(self.column(x), self.column(y), strict=True) if None not in (a, b)]
        return Series(label, tuple(a for a, _ in points), tuple(b for _, b in points), **options)


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn under one name of the legend.

    kind: "line" with markers, "points", "curve" (a line without), "theory" (a thin grey line: what a formula
        says; with low and high a grey band) or "bars".
    low, high: a shaded range around a line, or the ends of error bars at points.
    look: the number of its colour and marker; None takes the first that is free.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: Literal["line", "points", "curve", "theory", "bars"] = "line"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    look: int | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes.

    x_names: names for the positions 0, 1, 2, … of the x axis, instead of numbers.
    level: the height of a dotted line across, with what it stands for.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    y_from: float | None = None
    y_to: float | None = None
    x_names: tuple[str, ...] = ()
    level: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class ExperimentFigure:
    """Panels side by side; those that measure the same have one y axis, unless `own_scales`."""

    title: str
    panels: tuple[Panel, ...]
    own_scales: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The answer of one experiment.

    settings: how it was measured.
    published, finding: what the source says, and what came out here; both in a few sentences.
    tables, figures: by their short names, which become names of files. Long tables hold the numbers behind a
        short one.
    """

    name: str
    settings: str
    published: str
    finding: str
    tables: Mapping[str, ResultTable]
    figures: Mapping[str, ExperimentFigure] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """What was asked."""
        return QUESTIONS[self.name]

    @property
    def short_tables(self) -> dict[str, ResultTable]:
        """The tables that can be read at a glance."""
        return {name: table for name, table in self.tables.items() if len(table.rows) <= MOST_ROWS_SHOWN}


def run_experiment(name: str, scale: Scale = "small", seed: int = 0, **options: Any) -> ExperimentResult:
    """Run one experiment by its name, "E1" to "E8".

    scale: "small" takes a few seconds; "full" has the settings of the source, and takes up to a minute.
    seed: of the random sets and texts. Equal seeds give equal results, but for times.
    options: what a single experiment takes besides; E7 takes `texts`, a sequence of documents of your own.

    >>> result = run_experiment("E8")
    >>> result.tables["collisions"].where(hash="djb2a").column("collisions")[:2]
    (14, 910)
    """
    run = EXPERIMENTS.load(name)
    if scale not in SCALES:
        raise SettingsError(f'scale must be "small" or "full", got {scale!r}')
    check_seed(seed)
    unknown = sorted(options.keys() - signature(run).parameters.keys())
    if unknown:
        raise SettingsError(f"experiment {name} has no option {unknown[0]!r}: leave it out")
    return cast(ExperimentResult, run(scale, seed, **options))


def table_of(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> ResultTable:
    """A table of any sequences.

    >>> table_of(["a"], [[1]])
    ResultTable(columns=('a',), rows=((1,),))
    """
    return ResultTable(tuple(columns), tuple(tuple(row) for row in rows))


def shown(cell: Cell, decimals: int = 3) -> str:
    """A cell for readers: counts with separators, from 100 on without decimals; nothing for None.

    >>> shown(71994000), shown(0.04987), shown(1234.5), shown(1.0, 1), shown(None)
    ('71,994,000', '0.050', '1,234', '1.0', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{decimals if abs(cell) < 100 else 0}f}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, which makes its plural with s.

    >>> counted(0, "pair"), counted(1, "pair"), counted(71994000, "pair")
    ('no pair', '1 pair', '71,994,000 pairs')
    """
    return f"{number or 'no':{',' if number else ''}} {noun}{'' if number < 2 else 's'}"


def duration(seconds: float) -> str:
    """A time in the largest unit of which it has one.

    >>> duration(719_940), duration(7_200), duration(43.86), duration(0.0123)
    ('8.3 days', '2.0 hours', '43.9 s', '12.3 ms')
    """
    for unit, length in (("days", 86_400), ("hours", 3_600), ("s", 1)):
        if seconds >= length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{1000 * seconds:.3g} ms"


def decimals_of(column: Sequence[Cell]) -> int:
    """With how many decimals a column is shown: no more than its numbers have, at most four for shares.

    >>> decimals_of((0.5, 0.25)), decimals_of((0.12345, 1.0)), decimals_of((0.12345, 42.0, 1e6))
    (2, 4, 2)
    """
    numbers = [abs(cell) for cell in column if isinstance(cell, float) and abs(cell) < 100]
    largest = max(numbers, default=0.0)
    most = 4 if largest <= 1 else 3 if largest < 10 else 2
    return next((few for few in range(1, most) if all(round(n, few) == n for n in numbers)), most)
