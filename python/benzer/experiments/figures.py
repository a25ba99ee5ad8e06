"""Draws figures as SVG and PNG, with the same bytes each time.

Requires matplotlib, `pip install 'benzer[experiments]'`, which is imported when a figure is drawn. The colours are
those of Okabe and Ito, which colour-blind readers can distinguish; each line also has its own marker.
"""

from __future__ import annotations

import io
from typing import Any, Literal

import numpy as np

from benzer.experiments.base import ExperimentFigure, Panel, Series
from benzer.registry import require

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C564B")
SHADES = ("#440154", "#3B528B", "#21918C", "#5EC962", "#C7B020")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
INK, GREY, GRID = "#262626", "#7F7F7F", "#DADADA"
PANEL_WIDTH, ONE_PANEL_WIDTH, HEIGHT = 3.7, 5.4, 3.4
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.85,
    "svg.hashsalt": "benzer",
    "svg.fonttype": "path",
    "path.simplify": False,
}
SAVED = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def draw(figure: ExperimentFigure, format: Literal["svg", "png"]) -> bytes:
    """Return the figure as the bytes of an SVG or a PNG file.

    >>> panel = Panel("error", "n_h", "error", (Series("one function", (1, 2), (0.2, 0.1)),))
    >>> draw(ExperimentFigure("E1", (panel,)), "svg").startswith(b"<?xml")
    True
    """
    matplotlib = require("matplotlib", extra="experiments", purpose="figures")
    drawing = require("matplotlib.figure", extra="experiments", purpose="figures")
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **STYLE}):
        width = PANEL_WIDTH * len(figure.panels) if len(figure.panels) > 1 else ONE_PANEL_WIDTH
        sheet = drawing.Figure(figsize=(width, HEIGHT), layout="constrained")
        looks = {label: number for number, label in enumerate(labels(figure))}
        axes = sheet.subplots(1, len(figure.panels), squeeze=False, sharey=one_scale(figure))[0]
        for panel, ax in zip(figure.panels, axes, strict=True):
            draw_panel(panel, ax, looks)
            if panel is figure.panels[0] or not one_scale(figure):
                ax.set_ylabel(panel.y_label)
        sheet.suptitle(figure.title, fontsize=10.5, fontweight="bold")
        draw_legends(figure, sheet, axes)
        data = io.BytesIO()
        sheet.savefig(data, format=format, dpi=150, metadata=SAVED[format], facecolor="white")
    return data.getvalue()


def one_scale(figure: ExperimentFigure) -> bool:
    """Whether all panels have the same measure on their y axes, and share it."""
    return not figure.own_scales and len({(panel.y_label, panel.log_y) for panel in figure.panels}) == 1


def labels(figure: ExperimentFigure) -> list[str]:
    """Return the labels of all lines, points and bars, in the order in which they first appear."""
    drawn = [s.label for panel in figure.panels for s in panel.series if s.kind != "theory"]
    return list(dict.fromkeys(drawn))


def draw_panel(panel: Panel, ax: Any, looks: dict[str, int]) -> None:
    """Draw one pair of axes; equal labels have the same colour and marker in all panels."""
    for series in panel.series:
        draw_series(series, ax, looks.get(series.label, 0) if series.look is None else series.look)
    ax.set(title=panel.title, xlabel=panel.x_label)
    if all(float(x).is_integer() for series in panel.series for x in series.x):
        ax.xaxis.get_major_locator().set_params(integer=True)
    if panel.log_x:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(plain_number)
    if panel.log_y:
        ax.set_yscale("log")
    if panel.log_y or ax.get_ylim()[1] >= 1000:
        ax.yaxis.set_major_formatter(plain_number)
    if panel.level is not None:
        height, meaning = panel.level
        ax.axhline(height, color=INK, linewidth=0.9, linestyle=":", label=meaning)
    if panel.y_from is not None or panel.y_to is not None:
        ax.set_ylim(panel.y_from, panel.y_to)
    if panel.x_names:
        ax.set_xticks(
            range(len(panel.x_names)), panel.x_names, rotation=35, ha="right", rotation_mode="anchor"
        )


def plain_number(value: float, _: int | None = None) -> str:
    """Format a tick of a logarithmic axis as a number, not as a power.

    >>> plain_number(0.01), plain_number(10000.0)
    ('0.01', '10,000')
    """
    return f"{value:,.10g}"


def draw_series(series: Series, ax: Any, look: int) -> None:
    """Draw one line, one set of points, or one row of bars."""
    colours = (*COLOURS, *SHADES)
    colour, marker = colours[look % len(colours)], MARKERS[look % len(MARKERS)]
    x, y = list(series.x), list(series.y)
    if series.kind == "theory":
        if series.low:
            ax.fill_between(x, series.low, series.high, color=GRID, linewidth=0, label=series.label)
        else:
            ax.plot(x, y, color=GREY, linewidth=1.2, linestyle="--", label=series.label, zorder=1.5)
    elif series.kind == "curve":
        ax.plot(x, y, color=colour, linewidth=1.4, label=series.label)
    elif series.kind == "bars":
        ax.bar(x, y, color=colour, width=0.75, label=series.label)
    elif series.kind == "points":
        spread = (np.subtract(y, series.low), np.subtract(series.high, y)) if series.low else None
        ax.errorbar(
            x, y, yerr=spread, color=colour, marker=marker, markersize=4.5,
            linestyle="none", elinewidth=1.0, label=series.label,
        )  # fmt: skip
    else:
        ax.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=1.4, label=series.label)
        if series.low:
            ax.fill_between(x, series.low, series.high, color=colour, alpha=0.15, linewidth=0)


def draw_legends(figure: ExperimentFigure, sheet: Any, axes: Any) -> None:
    """Draw one legend below several panels if those with a legend have equal ones; otherwise one in each."""
    entries = [ax.get_legend_handles_labels() for ax in axes]
    needed = [(handles, names) for handles, names in entries if len(names) > 1]
    if len(axes) > 1 and needed and all(names == needed[0][1] for _, names in needed):
        handles, names = needed[0]
        columns = min(len(names), 5 * len(axes) // 2)
        sheet.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=8.5)
        return
    for ax, (_, names) in zip(axes, entries, strict=True):
        if len(names) > 1:
            ax.legend(fontsize=8)
