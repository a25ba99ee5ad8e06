"""Progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from benzer.wording import duration, short


class AmountColumn(ProgressColumn):
    """Shows completed amount, total and rate."""

    def render(self, task: Task) -> Text:
        """Format `1.2M / 3.4M  350k/s`; empty for a stage without counts."""
        if task.total is None or task.fields["seconds"] is not None:
            return Text("")
        amount = f"{short(task.completed)} / {short(task.total)}"
        return Text(f"{amount}  {short(task.speed)}/s" if task.speed else amount)


class TimeColumn(ProgressColumn):
    """Shows the remaining or total time."""

    def render(self, task: Task) -> Text:
        """Format the remaining time, or the total time of a finished stage."""
        if task.fields["seconds"] is not None:
            return Text(duration(task.fields["seconds"]), style="green", justify="right")
        if task.time_remaining is None:
            return Text(duration(task.elapsed or 0.0), justify="right")
        return Text(f"{duration(task.time_remaining)} left", style="cyan", justify="right")


class Stages:
    """The progress callback for the library, with one bar for each stage.

    The library calls it with (stage, done, total), and with (stage, 1, 1) at the end of a stage. `order` gives the
    next stage, so that stages without counts are shown as well.
    """

    def __init__(self, bars: Progress, order: Sequence[str]) -> None:
        self.bars = bars
        self.order = list(order)
        self.tasks: dict[str, TaskID] = {}
        self.since = perf_counter()
        self.begin(self.order[0])

    def begin(self, stage: str) -> None:
        """Show a stage."""
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, total=None, seconds=None)

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Update the bar of a stage, or end it and show the next stage."""
        self.begin(stage)
        if (done, total) != (1, 1):
            self.bars.update(self.tasks[stage], completed=done, total=total)
            return
        now = perf_counter()
        self.bars.update(self.tasks[stage], completed=1, total=1, seconds=now - self.since)
        self.since = now
        following = self.order[self.order.index(stage) + 1 :] if stage in self.order else []
        if following:
            self.begin(following[0])


@contextmanager
def bars(order: Sequence[str]) -> Iterator[Stages]:
    """Show bars on stderr while the block runs."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    columns = (TextColumn("{task.description:<10}"), BarColumn(bar_width=None), AmountColumn(), TimeColumn())
    with Progress(*columns, console=console, transient=True, expand=True) as display:
        yield Stages(display, order)
