"""How far is the work, how fast does it go, and how long will it take?  For terminals only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text


class AmountColumn(ProgressColumn):
    """What is done, of how much."""

    def render(self, task: Task) -> Text:
        """Write `1.2M / 3.4M`."""
        done = short_number(task.completed)
        return Text(f"{done} / {short_number(task.total)}" if task.total else done, justify="right")


class RateColumn(ProgressColumn):
    """How much is done in a second."""

    def render(self, task: Task) -> Text:
        """Write `350k/s`, or nothing before the first measurement."""
        speed = task.finished_speed or task.speed
        return Text(f"{short_number(speed)}/s" if speed else "", style="cyan", justify="right")


class Stages:
    """The progress callable that the library is given: one bar per stage, in order of their beginning."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Move the bar of a stage."""
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, total=total)
        self.bars.update(self.tasks[stage], completed=done, total=total)


@contextmanager
def bars() -> Iterator[Stages]:
    """Draw bars on stderr while the block runs, and take them away after it."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=None),
        AmountColumn(),
        RateColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as shown:
        yield Stages(shown)


def short_number(value: float) -> str:
    """Write a number in four or five characters.

    >>> short_number(999), short_number(1500), short_number(2_340_000), short_number(1.2e10)
    ('999', '1.5k', '2.3M', '12.0G')
    """
    for unit in ("", "k", "M", "G"):
        if value < 1000 or unit == "G":
            break
        value /= 1000
    return f"{value:.1f}{unit}" if unit else f"{value:.0f}"
