"""Results of experiments become figures, files and a page."""

from __future__ import annotations

import csv
import io
import runpy
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from benzer.errors import MissingExtraError, OutputError
from benzer.experiments import (
    ExperimentFigure,
    ExperimentResult,
    Panel,
    Series,
    run_experiment,
    write_results,
)
from benzer.experiments.figures import draw
from benzer.experiments.writing import csv_of, files_of


def example(label: str = "one function") -> ExperimentFigure:
    line = Series(label, (10, 100), (0.2, 0.1), low=(0.1, 0.05), high=(0.3, 0.2))
    points = Series("points", (10, 100), (0.2, 0.1), "points", low=(0.1, 0.05), high=(0.3, 0.2))
    bars, band = (
        Series("bars", (1, 2), (0.3, 0.1), "bars"),
        Series("band", (1, 2), (1, 1), "theory", (0, 0), (2, 2)),
    )
    log = Panel("log", "n", "error", (line, points), log_x=True, log_y=True, level=(0.1, "a level"))
    return ExperimentFigure(
        "An example", (log, Panel("names", "", "count", (bars, band), x_names=("a", "b", "c")))
    )


def test_figures_are_drawn_the_same_each_time() -> None:
    for format in ("svg", "png"):
        assert draw(example(), format) == draw(example(), format) != draw(example("two"), format)


def test_figures_leave_the_settings_of_matplotlib_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw(example(), "png")
    assert dict(mpl.rcParams) == before


def test_an_svg_says_nothing_of_when_and_where() -> None:
    tree = ET.fromstring(draw(example(), "svg"))
    words = {
        (element.text or "").strip() for element in tree.iter() if element.tag.endswith(("date", "title"))
    }
    assert words <= {""}


def test_only_figures_need_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = run_experiment("E4")
    with pytest.raises(
        MissingExtraError, match=r"figures need matplotlib.*pip install 'benzer\[experiments\]'"
    ):
        files_of(found)


def test_a_csv_holds_the_cells_of_its_table() -> None:
    table = run_experiment("E4").tables["similarities"]
    read = list(csv.DictReader(io.StringIO(csv_of(table).decode(), newline="")))
    assert [row["unit"] for row in read] == list(table.column("unit"))
    assert [float(row["mean"]) for row in read] == pytest.approx(table.column("mean"), rel=1e-5)


def test_results_are_written_all_or_none(tmp_path: Path) -> None:
    place = tmp_path / "results"

    def failing() -> Iterator[ExperimentResult]:
        yield run_experiment("E4")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_results(failing(), place)
    assert list(tmp_path.iterdir()) == []
    names = write_results([run_experiment("E4")], place)
    assert sorted(names) == sorted(path.name for path in place.iterdir())
    assert names == [
        "e4-summary.csv", "e4-similarities.csv", "e4-similarities.svg", "e4-similarities.png",
    ]  # fmt: skip
    with pytest.raises(OutputError, match="already exists"):
        write_results([run_experiment("E4")], place)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["E4", "E8"])
def test_the_page_shows_what_comes_out(name: str) -> None:
    """Of those that take a second or two at the full scale; without times, which differ."""
    tool = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "make_experiments_page.py"))
    page = tool["PAGE"].read_text(encoding="utf-8")
    assert tool["replaced"](page, name, tool["section"](run_experiment(name, "full"))) == page, (
        f"stale: run `python tools/make_experiments_page.py {name}`"
    )
