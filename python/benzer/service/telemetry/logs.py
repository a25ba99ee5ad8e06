"""The log of the service on stderr: one line per request and per error.

Requests put lines into a queue and one thread writes them, so a blocked terminal or pipe stops neither the event loop
nor a request. Lines that do not fit into the queue are dropped, and the next line reports their number.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from collections import deque
from collections.abc import Mapping
from datetime import datetime, timezone
from queue import SimpleQueue
from time import time
from types import TracebackType
from typing import Any, TextIO

FORMATS = ("json", "text", "off")
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
QUEUED = 10_000
TOGETHER_SECONDS = 0.05
END_SECONDS = 2.0

Line = Mapping[str, Any]


class Log:
    """The log of a service in one format, from a minimum level. `close` writes the queued lines."""

    def __init__(self, form: str = "text", level: str = "info", stream: TextIO | None = None) -> None:
        self.form, self.least = form, LEVELS[level]
        self._stream = sys.stderr if stream is None else stream
        self._lines: deque[Line] = deque()
        self._dropped = 0
        # A SimpleQueue, because a signal handler may call `write` during `write`, and only a SimpleQueue is reentrant.
        self._ready: SimpleQueue[None] = SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write_all, name="benzer-log", daemon=True)
        if form != "off":
            self._thread.start()

    def write(self, level: str, event: str, **facts: Any) -> None:
        """Queue a line; `event` is its kind."""
        if self.form == "off" or LEVELS[level] < self.least:
            return
        if len(self._lines) >= QUEUED:
            self._dropped += 1
            return
        self._lines.append({"time": time(), "level": level, "event": event, **facts})
        self._ready.put(None)

    def close(self) -> None:
        """Write the queued lines, unless the output is blocked, and end."""
        self._closing.set()
        self._ready.put(None)
        if self._thread.is_alive():
            self._thread.join(END_SECONDS)

    def _write_all(self) -> None:
        while not (self._closing.is_set() and not self._lines):
            self._ready.get()
            while not self._ready.empty():
                self._ready.get()
            lines = [self._lines.popleft() for _ in range(len(self._lines))]
            dropped, self._dropped = self._dropped, 0
            if dropped:
                lines.append({"time": time(), "level": "warning", "event": "dropped", "lines": dropped})
            try:
                self._stream.write("".join(written(line, self.form) for line in lines))
                self._stream.flush()
            except (OSError, ValueError):  # stderr is closed
                return
            self._closing.wait(TOGETHER_SECONDS)

    def __enter__(self) -> Log:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Forwarded(logging.Handler):
    """Forwards records of the standard `logging`, such as errors of the server."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Forward one record."""
        level = next((name for name, value in LEVELS.items() if record.levelno <= value), "error")
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else None
        facts = {"logger": record.name, "message": record.getMessage()}
        self.log.write(level, "message", **facts, **({"traceback": trace} if trace else {}))


def forward(log: Log, *names: str) -> None:
    """Route these loggers to `log` only."""
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers = [Forwarded(log)]
        logger.propagate = False
        logger.setLevel(max(log.least, LEVELS["warning"]))


def written(line: Line, form: str) -> str:
    """Format a line; in text, control characters are escaped, except the line breaks of a traceback.

    >>> line = {"time": 0.25, "level": "info", "event": "request", "method": "GET", "status": 200, "key": None}
    >>> print(written(line, "json"), end="")
    {"time":"1970-01-01T00:00:00.250Z","level":"info","event":"request","method":"GET","status":200,"key":null}
    >>> print(written(line, "text"), end="")
    00:00:00.250 info request method=GET status=200
    """
    moment = datetime.fromtimestamp(line["time"], timezone.utc).isoformat(timespec="milliseconds")
    if form == "json":
        stamped = {**line, "time": moment.replace("+00:00", "Z")}
        return json.dumps(stamped, separators=(",", ":"), default=str) + "\n"
    said = [f"{moment[11:23]} {line['level']} {line['event']}"]
    rest = {
        name: value for name, value in line.items() if name not in ("time", "level", "event", "traceback")
    }
    said += [f"{name}={plain(value)}" for name, value in rest.items() if value is not None]
    return " ".join(said) + "\n" + str(line.get("traceback", ""))


def plain(value: object) -> str:
    """A value as a word or a quoted text.

    >>> plain("a b\\n"), plain(0.00213)
    ('"a b\\\\n"', '0.00213')
    """
    text = str(value)
    return text if text.isprintable() and " " not in text and text else json.dumps(text)
