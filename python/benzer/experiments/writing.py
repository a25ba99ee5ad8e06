"""Writes results as files: each table as CSV, each figure as SVG and PNG, all or none of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from benzer.experiments.base import Cell, ExperimentResult, ResultTable
from benzer.experiments.figures import draw
from benzer.tables.output import OutputFolder


def write_results(
    results: Iterable[ExperimentResult], folder: str | Path, replace: bool = False
) -> list[str]:
    """Write the tables and figures of results to a new folder.

    A file is named after its experiment and table, e.g. e1-errors.csv, e1-errors.svg and e1-errors.png. The folder
    appears when all files are written.

    Args:
        results: The results.
        folder: The new folder.
        replace: Whether to replace an existing folder.

    Returns:
        The names of the files in their order.

    Raises:
        OutputError: The folder exists, or cannot be written.
    """
    names = []
    with OutputFolder(folder, replace) as place:
        for result in results:
            for name, data in files_of(result).items():
                (place / name).write_bytes(data)
                names.append(name)
    return names


def files_of(result: ExperimentResult) -> dict[str, bytes]:
    """Return the files of one result: their names and their bytes."""
    stem = result.name.lower()
    files = {f"{stem}-{name}.csv": csv_of(table) for name, table in result.tables.items()}
    for name, figure in result.figures.items():
        files[f"{stem}-{name}.svg"] = draw(figure, "svg")
        files[f"{stem}-{name}.png"] = draw(figure, "png")
    return files


def csv_of(table: ResultTable) -> bytes:
    """Return a table as CSV in UTF-8; numbers with six significant digits, an empty cell for None.

    >>> csv_of(ResultTable(("n", "error"), ((10, 0.12345678), (20, None))))
    b'n,error\\r\\n10,0.123457\\r\\n20,\\r\\n'
    """

    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table.columns)
    writer.writerows([[written(cell) for cell in row] for row in table.rows])
    return text.getvalue().encode()


def written(cell: Cell) -> str:
    """Format one cell of a CSV file."""
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
