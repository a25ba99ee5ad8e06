"""The time limit of a request: a clock that cancels the task that it was made in."""

from __future__ import annotations

import asyncio


class Clock:
    """Cancels the task that created it when its time limit is over."""

    def __init__(self) -> None:
        self.loop, self.task = asyncio.get_running_loop(), asyncio.current_task()
        self.timer: asyncio.TimerHandle | None = None
        self.struck = False

    def allow(self, seconds: float) -> None:
        """Set the limit to a number of seconds from now."""
        self.stop()
        self.timer = self.loop.call_later(seconds, self.strike)

    def strike(self) -> None:
        """End the task."""
        self.struck = True
        if self.task is not None:
            self.task.cancel()

    def stop(self) -> None:
        """Remove the limit."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def forgive(self) -> None:
        """Let the task continue after its time limit; Python 3.11 counts how often a task is cancelled."""
        uncancel = getattr(self.task, "uncancel", None)
        if uncancel is not None:
            uncancel()
