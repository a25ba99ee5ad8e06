"""The registry of experiments, and the classes of their results."""

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
    """Rows of cells under named columns; None is an undefined cell.

    Attributes:
        columns: Names of the columns.
        rows: The cells of each row.

    >>> table = ResultTable(("family", "error"), (("modular", 0.1), ("murmur3_32", 0.2)))
    >>> table.column("error"), table.where(family="modular").column("error")
    ((0.1, 0.2), (0.1,))
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, name: str) -> tuple[Any, ...]:
        """Return the cells of one column.

        Args:
            name: Name of the column.
        """
        positions = self.columns.index(name)
        return tuple(row[positions] for row in self.rows)

    def where(self, **equal: Cell) -> ResultTable:
        """Return the rows that have given values.

        Args:
            **equal: The value of each column by its name.
        """
        wanted = [(self.columns.index(name), value) for name, value in equal.items()]
        return ResultTable(
            self.columns, tuple(row for row in self.rows if all(row[position] == v for position, v in wanted))
        )

    def wide(self, rows: Sequence[str], across: str, value: str, head: str = "{}") -> ResultTable:
        """Return one row for each combination of some columns, and one column for each value of another.

        Args:
            rows: Columns whose combinations become rows.
            across: Column whose values become columns.
            value: Column with the cells.
            head: Format of the names of the new columns.

        >>> table = ResultTable(("n_h", "sketch", "error"), ((10, "one", 0.2), (10, "many", 0.3), (20, "one", 0.1)))
        >>> table.wide(["n_h"], "sketch", "error")
        ResultTable(columns=('n_h', 'one', 'many'), rows=((10, 0.2, 0.3), (20, 0.1, None)))
        """
        heads = tuple(dict.fromkeys(self.column(across)))
        keys = list(zip(*map(self.column, rows), strict=True))
        cells = dict(zip(zip(keys, self.column(across), strict=True), self.column(value), strict=True))
        body = tuple((*key, *(cells.get((key, head)) for head in heads)) for key in dict.fromkeys(keys))
        return ResultTable((*rows, *(head.format(formatted(value)) for value in heads)), body)

    def for_readers(self) -> list[list[str]]:
        """Return the cells as text, with the same number of decimals in each column."""
        columns = [
            [formatted(cell, decimals_of(self.column(name))) for cell in self.column(name)]
            for name in self.columns
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def series(self, label: str, x: str, y: str, **options: Any) -> Series:
        """Return two columns as a series of a figure; rows without one of the two are left out.

        Args:
            label: Name in the legend.
            x: Column of the x values.
            y: Column of the y values.
            **options: Other attributes of the `Series`.
        """
        points = [(a, b) for a, b in zip(self.column(x), self.column(y), strict=True) if None not in (a, b)]
        return Series(label, tuple(a for a, _ in points), tuple(b for _, b in points), **options)


@dataclass(frozen=True, slots=True)
class Series:
    """The data drawn under one name of the legend.

    Attributes:
        kind: "line" with markers, "points", "curve" (a line without markers), "theory" (a thin grey line for the
            values of a formula; with low and high a grey band) or "bars".
        low: Lower end of a shaded range around a line, or of error bars at points.
        high: Upper end of that range.
        look: Number of its colour and marker; None selects the first unused one.
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

    Attributes:
        x_names: Names for the positions 0, 1, 2, … of the x axis, instead of numbers.
        level: The height of a horizontal dotted line, with its label.
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
    """Panels side by side; those with the same measure share one y axis.

    Attributes:
        title: Title of the figure.
        panels: The panels.
        own_scales: Whether each panel has its own y axis.
    """

    title: str
    panels: tuple[Panel, ...]
    own_scales: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The result of one experiment.

    Attributes:
        settings: How it was measured.
        published: The result in the source, in a few sentences.
        finding: The result of this run, in a few sentences.
        tables: Tables by their short names, which become names of files. Long tables have the numbers behind a short
            one.
        figures: Figures by their short names.
    """

    name: str
    settings: str
    published: str
    finding: str
    tables: Mapping[str, ResultTable]
    figures: Mapping[str, ExperimentFigure] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """The question of the experiment."""
        return QUESTIONS[self.name]

    @property
    def short_tables(self) -> dict[str, ResultTable]:
        """The short tables."""
        return {name: table for name, table in self.tables.items() if len(table.rows) <= MOST_ROWS_SHOWN}


def run_experiment(name: str, scale: Scale = "small", seed: int = 0, **options: Any) -> ExperimentResult:
    """Run one experiment by its name, "E1" to "E8".

    Args:
        name: Name of the experiment.
        scale: "small" takes a few seconds; "full" has the settings of the source, and takes up to a minute.
        seed: Seed of the random sets and texts. Equal seeds give equal results, except for times.
        options: Further arguments of a single experiment; E7 accepts `texts`, a sequence of your own documents.

    Returns:
        The result with its tables and figures.

    Raises:
        SettingsError: There is no such experiment, or it does not accept an option.

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
        raise SettingsError(f"experiment {name} has no option {unknown[0]!r}: remove it")
    return cast(ExperimentResult, run(scale, seed, **options))


def table_of(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> ResultTable:
    """Return a table of any sequences.

    >>> table_of(["a"], [[1]])
    ResultTable(columns=('a',), rows=((1,),))
    """
    return ResultTable(tuple(columns), tuple(tuple(row) for row in rows))


def formatted(cell: Cell, decimals: int = 3) -> str:
    """Format a cell: counts with separators, from 100 on without decimals; "" for None.

    >>> formatted(71994000), formatted(0.04987), formatted(1234.5), formatted(1.0, 1), formatted(None)
    ('71,994,000', '0.050', '1,234', '1.0', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{decimals if abs(cell) < 100 else 0}f}"


def counted(number: int, noun: str) -> str:
    """Format a number with its noun, which has a plural with s.

    >>> counted(0, "pair"), counted(1, "pair"), counted(71994000, "pair")
    ('no pair', '1 pair', '71,994,000 pairs')
    """
    return f"{number or 'no':{',' if number else ''}} {noun}{'' if number < 2 else 's'}"


def duration(seconds: float) -> str:
    """Format a time in the largest unit in which it is at least 1.

    >>> duration(719_940), duration(7_200), duration(43.86), duration(0.0123)
    ('8.3 days', '2.0 hours', '43.9 s', '12.3 ms')
    """
    for unit, length in (("days", 86_400), ("hours", 3_600), ("s", 1)):
        if seconds >= length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{1000 * seconds:.3g} ms"


def decimals_of(column: Sequence[Cell]) -> int:
    """Return the number of decimals of a column: at most those of its numbers, and four for shares.

    >>> decimals_of((0.5, 0.25)), decimals_of((0.12345, 1.0)), decimals_of((0.12345, 42.0, 1e6))
    (2, 4, 2)
    """
    numbers = [abs(cell) for cell in column if isinstance(cell, float) and abs(cell) < 100]
    largest = max(numbers, default=0.0)
    most = 4 if largest <= 1 else 3 if largest < 10 else 2
    return next((few for few in range(1, most) if all(round(n, few) == n for n in numbers)), most)
