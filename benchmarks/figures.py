"""Figures of the newest records for docs/benchmarks.md, as SVG in docs/figures.

`python -m benchmarks.run figures` draws them and writes their section of the page. `python -m benchmarks.scale`
writes the record of the scaling figure. Runs in the environment `figures`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import report
from benchmarks.scenarios import DOCS, RECORDS

FOLDER = DOCS / "figures"
# Colours that people with any colour vision tell apart (Okabe and Ito); Benzer is the dark one.
COLOURS = {
    "benzer": "#000000",
    "benzer-written": "#555555",
    "orjson": "#999999",
    "daft": "#0072B2",
    "gaoya": "#009E73",
    "rensa": "#D55E00",
    "fastsketchlsh": "#E69F00",
    "datasketch": "#CC79A7",
    "text-dedup": "#56B4E9",
}
MARKERS = dict(zip(COLOURS, "oo.svD^<>", strict=True))
_LEFT_OUT_OF_CURVES = {"benzer-written"}
_MANY = 5000  # pairs from which on a curve is drawn in fine steps
_FEWEST = 10  # pairs of a step that is drawn


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: the records that it needs (the newest ones are used), its caption, and the function that draws it."""

    name: str
    records: tuple[str, ...]
    caption: str
    draw: Callable[..., Figure]


def main() -> None:
    mpl.rcParams |= {
        "svg.hashsalt": "benzer",
        "svg.fonttype": "path",
        "font.size": 9,
        "axes.spines.top": False,
    }
    mpl.rcParams |= {
        "axes.spines.right": False,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
    FOLDER.mkdir(exist_ok=True)
    parts = ["## Figures"]
    for drawing in DRAWINGS:
        found = [newest(name) for name in drawing.records]
        if None in found:
            print(f"{drawing.name}: no record of {' or '.join(drawing.records)} yet, left out")
            continue
        path = FOLDER / f"benchmark-{drawing.name}.svg"
        drawing.draw(*found).savefig(path, metadata={"Date": None})
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
        parts.append(f"![{drawing.caption}](figures/{path.name})\n\n{drawing.caption}")
    if len(parts) > 1:
        report.write_section(DOCS / "benchmarks.md", "figures", "\n\n".join(parts), "Benchmarks")


def newest(name: str) -> dict[str, Any] | None:
    """The latest `DATE-NAME.json`."""
    paths = sorted(path for path in RECORDS.glob(f"*-{name}.json") if path.stem[11:] == name)
    return json.loads(paths[-1].read_text(encoding="utf-8")) if paths else None


def recall(words: Mapping[str, Any], small: Mapping[str, Any], characters: Mapping[str, Any]) -> Figure:
    """Share of pairs found against their exact similarity, one line per engine, for both units.

    Engines that are too slow for the large corpus are shown with their results on the small one.
    """
    figure = Figure(figsize=(8.0, 3.6))
    left, right = figure.subplots(1, 2, sharey=True)
    large = _curves(words)
    _plot(left, large | {name: curve for name, curve in _curves(small).items() if name not in large}, words)
    _plot(right, _curves(characters), characters)
    left.set_title("5-shingles of words", loc="left")
    right.set_title("5-shingles of characters", loc="left")
    left.set_ylabel("share found")
    handles: dict[str, Any] = {}
    for axes in (left, right):
        handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside right center")
    return figure


def _curves(record: Mapping[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Engine -> similarity and share found, on one thread. Steps of too few pairs are joined in twos, otherwise
    omitted.
    """
    found = {}
    for item in record["measurements"]:
        name = item["engine"]
        if item["flags"] and item["threads"] == 1 and name not in _LEFT_OUT_OF_CURVES:
            found[name] = _joined(item["flags"]["curve"])
    return found


def _joined(curve: Sequence[tuple[float, float, int, float]]) -> list[tuple[float, float]]:
    """Points of the curve; for missing steps a point without a value keeps the line from crossing the gap."""
    width = 0.025 if sum(pairs for *_, pairs, _ in curve) > _MANY else 0.05
    steps: dict[int, list[tuple[int, float]]] = {}
    for low, _, pairs, share in curve:
        steps.setdefault(round(low / width - 0.3), []).append((pairs, share))
    points: list[tuple[float, float]] = []
    last = None
    for at, parts in sorted(steps.items()):
        pairs = sum(count for count, _ in parts)
        if pairs >= _FEWEST:
            if last is not None and at > last + 1:
                points.append((width * at, float("nan")))
            middle = min(width * (at + 0.5), 1.0)
            points.append((middle, sum(count * share for count, share in parts) / pairs))
            last = at
    return points


def _plot(axes: Axes, curves: Mapping[str, list[tuple[float, float]]], record: Mapping[str, Any]) -> None:
    threshold = record["scenario"]["threshold"]
    axes.axvline(threshold, color="#999999", linewidth=0.8, linestyle=":")
    axes.text(threshold, 1.04, "threshold", ha="center", color="#666666", fontsize=8)
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), label=name, **_style(name))
    axes.set_xlabel("exact Jaccard similarity of the pair")
    axes.set_xlim(0.4, 1.02)
    axes.set_ylim(-0.03, 1.1)


def _style(name: str) -> dict[str, Any]:
    width = 2.2 if name == "benzer" else 1.1
    return {
        "color": COLOURS.get(name, "#444444"),
        "marker": MARKERS.get(name, "o"),
        "markersize": 3.2,
        "linewidth": width,
    }


def seconds(*records: Mapping[str, Any]) -> Figure:
    """Seconds of every engine, on one thread and on two, one panel per record."""
    figure = Figure(figsize=(8.0, 1.0 + 0.24 * sum(len(_times(record)) for record in records)))
    heights = [len(_times(record)) for record in records]
    panels = figure.subplots(len(records), 1, height_ratios=heights, sharex=True, squeeze=False)[:, 0]
    for axes, record in zip(panels, records, strict=True):
        _bars(axes, record)
    times = [one for record in records for _, one, two in _times(record) for one in (one, two or one)]
    panels[-1].set_xlim(min(times) / 2, max(times) * 3)
    panels[-1].xaxis.set_major_formatter("{x:g}")
    panels[-1].set_xlabel("seconds from the file to the answer (each step ten times as long)")
    return figure


def _times(record: Mapping[str, Any]) -> list[tuple[str, float, float | None]]:
    """Engine, seconds on one thread and on two; the fastest first."""
    found: dict[str, dict[int, float]] = {}
    for item in record["measurements"]:
        if item["median_seconds"]:
            found.setdefault(item["engine"], {})[item["threads"]] = item["median_seconds"]
    rows = [(name, by[1], by.get(2)) for name, by in found.items() if 1 in by]
    return sorted(rows, key=lambda row: row[1])


def _bars(axes: Axes, record: Mapping[str, Any]) -> None:
    rows = _times(record)
    for at, (name, one, two) in enumerate(rows):
        colour = COLOURS.get(name, "#999999")
        axes.barh(at, one, height=0.62, color=colour, alpha=0.9)
        axes.text(one * 1.06, at, f"{report.seconds(one)} s", va="center", fontsize=8)
        if two is not None:
            axes.plot([two, two], [at - 0.31, at + 0.31], color="white", linewidth=1.6)
            axes.plot([two], [at], marker="|", color="white", markersize=5)
    unit = {"word": "words", "char": "characters"}[record["scenario"]["unit"]]
    size = record["corpus"]["jsonl_bytes"] / 1e6
    axes.set_title(
        f"{record['corpus']['documents']:,} documents, {size:.0f} MB, 5-shingles of {unit}", loc="left"
    )
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")


def scaling(record: Mapping[str, Any]) -> Figure:
    """Time per document and total memory, from a thousand documents to ten million."""
    rows = sorted(
        (row for row in record["rows"] if row["family"] == "ordinary"), key=lambda row: row["documents"]
    )
    figure = Figure(figsize=(8.0, 3.2))
    left, right = figure.subplots(1, 2)
    for name, style in zip(
        dict.fromkeys(map(_kind, rows)), ("-o", "--o", "-s", "--s", "-D", "--D"), strict=False
    ):
        own = [row for row in rows if _kind(row) == name]
        documents = [row["documents"] for row in own]
        colour = "#0072B2" if style.startswith("--") else "#000000"
        how = {"markersize": 4, "label": name, "color": colour}
        left.plot(documents, [1e6 * row["seconds"] / row["documents"] for row in own], style, **how)
        right.plot(documents, [max(row["peak"] - row["before"], 1) / 1e6 for row in own], style, **how)
    for axes, what in ((left, "microseconds a document"), (right, "megabytes of memory of its own")):
        axes.set_xscale("log")
        axes.set_xlabel("documents")
        axes.set_title(what, loc="left")
    left.set_ylim(0, 1.15e6 * max(row["seconds"] / row["documents"] for row in rows))
    right.set_yscale("log")
    right.legend()
    return figure


def _kind(row: Mapping[str, Any]) -> str:
    """The difference between rows with the same number of documents."""
    return f"threshold {row['threshold']}, {'memory ' + row['memory'] if row.get('memory') else 'no bound'}"


DRAWINGS: Sequence[Drawing] = (
    Drawing(
        "recall",
        ("words", "words-small", "characters-small"),
        "Share of the planted pairs that each tool finds, by their exact similarity (clusters of two documents). An "
        "exact answer is a step at the threshold: all above, none below. The copies were made by editing "
        "words, so hardly any have a similarity by characters between .5 and .75.",
        recall,
    ),
    Drawing(
        "seconds",
        ("words", "words-small", "characters-small"),
        "Seconds by tool, one thread; the white mark is two threads. orjson only parses the file.",
        seconds,
    ),
    Drawing(
        "scaling",
        ("scale",),
        "Time for each document, and memory in addition to the mapped file, as the number of documents grows.",
        scaling,
    ),
)

if __name__ == "__main__":
    main()
