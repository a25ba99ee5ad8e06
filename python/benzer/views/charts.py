"""SVG charts inside a page: the style sheet of the page sets the colours, and text is escaped.

Each figure has a title and a description for screen readers, and every mark has a tooltip with its value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from benzer.wording import count, decimal, ratio, rounded, short

WIDTH, HEIGHT = 480, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 44
READING_LINE = Markup('<line class="reading" y1="{}" y2="{}"/>').format(TOP, HEIGHT - BOTTOM)
SIMILARITY, ESTIMATED = "similarity of a pair", "estimated pairs"
"""Titles of axes."""
TENTHS = [(number / 10, decimal(number / 10)) for number in range(0, 11, 2)]
"""The ticks of an axis from 0 to 1."""


@dataclass(frozen=True)
class Bar:
    """One bar: its range on the x axis, height, style class and tooltip."""

    start: float
    end: float
    height: float
    look: str
    says: str


@dataclass(frozen=True)
class Axes:
    """The axes of a figure: the ranges and the labels."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str

    def across(self, value: float) -> float:
        """The x coordinate of a value."""
        span = self.x[1] - self.x[0] or 1.0
        return round(LEFT + (value - self.x[0]) / span * (WIDTH - LEFT - RIGHT), 2)

    def up(self, value: float) -> float:
        """The y coordinate of a value."""
        span = self.y[1] - self.y[0] or 1.0
        return round(HEIGHT - BOTTOM - (value - self.y[0]) / span * (HEIGHT - TOP - BOTTOM), 2)

    def frame(self, x_ticks: Iterable[tuple[float, str]], y_ticks: Iterable[tuple[float, str]]) -> Markup:
        """The axes with ticks and labels."""
        floor = HEIGHT - BOTTOM
        parts = [
            Markup(
                '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" class="end">{}</text>'
            ).format(
                LEFT,
                WIDTH - RIGHT,
                self.up(position),
                self.up(position),
                LEFT - 6,
                self.up(position) + 4,
                word,
            )
            for position, word in y_ticks
        ]
        parts += [
            Markup('<text x="{}" y="{}" class="middle">{}</text>').format(
                self.across(position), floor + 17, word
            )
            for position, word in x_ticks
        ]
        parts.append(
            Markup('<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                LEFT, WIDTH - RIGHT, floor, floor
            )
        )
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(
            Markup('<text x="{}" y="{}" class="middle label">{}</text>').format(
                middle, HEIGHT - 6, self.x_label
            )
        )
        turned = f"rotate(-90 12 {(TOP + floor) / 2})"
        parts.append(
            Markup('<text x="12" y="{}" transform="{}" class="middle label">{}</text>').format(
                (TOP + floor) / 2, turned, self.y_label
            )
        )
        return Markup("").join(parts)


def figure(name: str, title: str, description: str, content: Markup, height: int = HEIGHT) -> Markup:
    """An SVG element with a title and a description; `name` must be unique in the page."""
    return Markup(
        '<svg class="chart" viewBox="0 0 {w} {h}" role="img" aria-labelledby="{n}-title {n}-desc">'
        '<title id="{n}-title">{title}</title><desc id="{n}-desc">{description}</desc>{content}</svg>'
    ).format(w=WIDTH, h=height, n=name, title=title, description=description, content=content)


def s_curve(
    points: Sequence[tuple[float, float]],
    threshold: float,
    promised: float,
    measured: tuple[float, float, float] | None = None,
    *,
    reading: bool = False,
) -> Markup:
    """The probability that a pair is found by its similarity, with the measured recall.

    Args:
        points: Similarities with their probabilities.
        threshold: The threshold.
        promised: The probability at the threshold.
        measured: Lower bound, estimate and upper bound of the recall of pairs at or above the threshold.
        reading: Whether to add a line and a dot that a script moves.
    """
    axes = Axes((0, 1), (0, 1), SIMILARITY, "probability of being found")
    path = " ".join(f"{axes.across(x)},{axes.up(y)}" for x, y in points)
    left, right, floor = axes.across(threshold), axes.across(1), axes.up(0)
    parts = [
        Markup('<rect class="above" x="{}" y="{}" width="{}" height="{}"/>').format(
            left, TOP, round(right - left, 2), round(floor - TOP, 2)
        ),
        axes.frame(TENTHS, TENTHS),
        Markup('<line class="threshold" x1="{x}" x2="{x}" y1="{}" y2="{}"/>').format(TOP, floor, x=left),
        Markup('<polyline class="line" points="{}"/>').format(path),
    ]
    said = f"{decimal(threshold)} is found with probability {ratio(promised)}"
    if measured is not None:
        low, estimate, high = measured
        top, bottom = axes.up(high), axes.up(low)
        parts.append(
            Markup(
                '<rect class="interval" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
            ).format(
                left,
                top,
                round(right - left, 2),
                round(max(bottom - top, 1), 2),
                f"measured recall {ratio(estimate)}, between {ratio(low)} and {rounded(high)}",
            )
        )
        parts.append(
            Markup('<line class="measured" x1="{}" x2="{}" y1="{y}" y2="{y}"/>').format(
                left, right, y=axes.up(estimate)
            )
        )
    parts.append(
        Markup('<circle class="mark" cx="{}" cy="{}" r="4"><title>{}</title></circle>').format(
            left,
            axes.up(promised),
            f"a pair at {said}",
        )
    )
    left_of = axes.across(threshold) > WIDTH / 4
    parts.append(
        Markup('<text class="value" text-anchor="{}" x="{}" y="{}">{}</text>').format(
            "end" if left_of else "start",
            left - 10 if left_of else left + 10,
            min(max(axes.up(promised) + 4, TOP + 12), HEIGHT - BOTTOM - 8),
            ratio(promised),
        )
    )
    if reading:
        parts.append(
            READING_LINE + Markup('<circle class="reading" r="3.5" cx="{}" cy="{}"/>').format(left, TOP)
        )
    description = f"The S-curve. A pair at the threshold {said}."
    return figure(
        "s-curve", "Probability that a pair is found, by similarity", description, Markup("").join(parts)
    )


def recall_strip(promised: float, measured: tuple[float, float, float]) -> Markup:
    """The measured recall with its interval and the guaranteed recall, on a scale that ends at 1."""
    low, estimate, high = measured
    start = math.floor(min(low, promised) * 20 - 1e-9) / 20
    axes = Axes((max(start, 0), 1), (0, 1), "", "")
    step = next(item for item in (0.01, 0.02, 0.05, 0.1, 0.2) if (1 - axes.x[0]) / item <= 6)
    places = [axes.x[0] + step * number for number in range(round((1 - axes.x[0]) / step) + 1)]
    parts = [
        Markup('<line class="axis" x1="{}" x2="{}" y1="40" y2="40"/>').format(LEFT, WIDTH - RIGHT),
        *(
            Markup('<text x="{}" y="57" class="middle">{}</text>').format(
                axes.across(position), decimal(round(position, 2))
            )
            for position in places
        ),
        Markup('<rect class="interval" x="{}" y="18" width="{}" height="22"/>').format(
            axes.across(low), max(round(axes.across(high) - axes.across(low), 2), 1)
        ),
        Markup('<line class="measured" x1="{x}" x2="{x}" y1="14" y2="40"/>').format(x=axes.across(estimate)),
        Markup('<circle class="mark" cx="{}" cy="40" r="4"/>').format(axes.across(promised)),
    ]
    said = (
        f"Measured {ratio(estimate)}, between {ratio(low)} and {rounded(high)}; guaranteed {ratio(promised)}."
    )
    return figure("strip", "Measured and guaranteed recall", said, Markup("").join(parts), 66)


def bars(
    name: str,
    title: str,
    description: str,
    axes: Axes,
    drawn: Sequence[Bar],
    x_ticks: Sequence[tuple[float, str]],
) -> Markup:
    """A bar chart; the y axis starts at 0."""
    parts = [axes.frame(x_ticks, [(position, short(position)) for position in ticks(axes.y[1])])]
    for bar in drawn:
        left, right = axes.across(bar.start), axes.across(bar.end)
        top = axes.up(bar.height)
        height = max(round(axes.up(0) - top, 2), 1.0) if bar.height else 0
        parts.append(
            Markup(
                '<rect class="bar {}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
            ).format(
                bar.look,
                left + 0.5,
                round(axes.up(0) - height, 2),
                round(max(right - left - 1, 0.5), 2),
                height,
                bar.says,
            )
        )
    return figure(name, title, description, Markup("").join(parts))


def columns(bars: Sequence[tuple[str, str, int]], x_label: str, title: str) -> Markup:
    """A bar chart of counts with a logarithmic axis and the value above each bar; a bar is (name, mark, count)."""
    most = max(number for _, _, number in bars)
    top = max(1, math.ceil(math.log10(most + 1)))
    axes = Axes((0, len(bars)), (0, 1.14 * top), x_label, "")

    def height(number: int) -> float:
        return 0.14 * top + math.log10(number) if number else 0.0

    parts = [
        axes.frame(
            [(number + 0.5, mark) for number, (_, mark, _) in enumerate(bars)],
            [(height(10**power), short(10**power)) for power in range(top + 1)],
        )
    ]
    wide = min(0.8, 64 * len(bars) / (WIDTH - LEFT - RIGHT))
    for position, (name, _, number) in enumerate(bars):
        left, right = axes.across(position + 0.5 - wide / 2), axes.across(position + 0.5 + wide / 2)
        up = axes.up(height(number))
        parts.append(
            Markup(
                '<rect class="bar near" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
                '<text class="middle" x="{}" y="{}">{}</text>'
            ).format(
                left,
                up,
                round(right - left, 2),
                round(HEIGHT - BOTTOM - up, 2),
                f"{name}: {count(number)}",
                axes.across(position + 0.5),
                up - 5,
                short(number),
            )
        )
    description = ", ".join(f"{name}: {count(number)}" for name, _, number in bars)
    return figure("buckets-chart", title, description, Markup("").join(parts))


def share_bar(parts: Sequence[tuple[float, str, str]]) -> Markup:
    """A small stacked bar for a table row; each part is (share, style class, tooltip)."""
    drawn, start = [], 0.0
    for part, look, says in parts:
        if part > 0:
            drawn.append(
                Markup(
                    '<rect class="bar {}" x="{}" y="0" width="{}" height="10"><title>{}</title></rect>'
                ).format(look, round(100 * start, 2), round(100 * part, 2), says)
            )
        start += part
    words = ", ".join(says for part, _, says in parts if part > 0)
    return Markup(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(words, Markup("").join(drawn))


def ticks(most: float) -> list[int]:
    """At most five round integers from 0 to `most`.

    >>> ticks(10), ticks(1), ticks(1234)
    ([0, 5, 10], [0, 1], [0, 500, 1000])
    """
    steps = (unit * 10**power for power in range(20) for unit in (1, 2, 5))
    return list(range(0, int(most) + 1, next(step for step in steps if most / step <= 4)))
