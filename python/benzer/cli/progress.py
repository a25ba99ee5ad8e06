"""How far is the work, how fast does it go, and how long will it take?  For terminals only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from benzer.cli.console import duration


class AmountColumn(ProgressColumn):
    """What is done, of how much, and at which rate."""

    def render(self, task: Task) -> Text:
        """Write `1.2M / 3.4M  350k/s`; nothing for a stage that does not count."""
        if task.total is None or task.fields["seconds"] is not None:
            return Text("")
        amount = f"{short_number(task.completed)} / {short_number(task.total)}"
        return Text(f"{amount}  {short_number(task.speed)}/s" if task.speed else amount)


class TimeColumn(ProgressColumn):
    """How long it will take, or took."""

    def render(self, task: Task) -> Text:
        """Write the remaining time, or for a finished stage its own."""
        if task.fields["seconds"] is not None:
            return Text(duration(task.fields["seconds"]), style="green", justify="right")
        if task.time_remaining is None:
            return Text(duration(task.elapsed or 0.0), justify="right")
        return Text(f"{duration(task.time_remaining)} left", style="cyan", justify="right")


class Stages:
    """The progress callable that the library is given: one bar for each stage of the work.

    The library calls it with (stage, done, total), and with (stage, 1, 1) at the end of a stage. It knows
    from `order` what comes next, so that a stage which does not count is seen as well.
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
        """Move the bar of a stage, or end it and show the next."""
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
    """Draw bars on stderr while the block runs, and take them away after it."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    columns = (TextColumn("{task.description:<10}"), BarColumn(bar_width=None), AmountColumn(), TimeColumn())
    with Progress(*columns, console=console, transient=True, expand=True) as shown:
        yield Stages(shown, order)


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
