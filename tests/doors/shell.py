"""How a test uses the command line: in this process, as one of its own, or on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from benzer.cli import main

FOX = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun until the evening comes"
FOX_AGAIN = (
    "the quick brown fox jumps over the lazy dog and then it sleeps in the sun until the evening falls"
)
OTHER = "a survey of methods for finding documents that resemble each other in very large collections of text"
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "fox", "text": FOX, "stars": 1},
    {"id": "other", "text": OTHER, "stars": 2},
    {"id": "fox-again", "text": FOX_AGAIN, "stars": 3},
    {"id": "fox-loud", "text": FOX.upper(), "stars": 4},
    {"id": "short", "text": "hello", "stars": 5},
    {"id": "empty", "text": "", "stars": 6},
]


def run(*arguments: str, status: int = 0, stdin: str | bytes | None = None) -> Result:
    """Run a command line in this process, and check its exit status."""
    result = CliRunner().invoke(main, list(arguments), input=stdin)
    assert result.exit_code == status, result.output
    return result


def answer(*arguments: str, status: int = 0, stdin: str | bytes | None = None) -> dict[str, Any]:
    """What a command answers a program."""
    found: dict[str, Any] = json.loads(run(*arguments, "--json", status=status, stdin=stdin).stdout)
    return found


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command line as a process of its own, with pipes for its streams."""
    return subprocess.run(
        [sys.executable, "-m", "benzer", *arguments], capture_output=True, timeout=300, check=False, **options
    )


def on_terminal(stream: str, *arguments: str, columns: int = 80) -> tuple[str, bytes]:
    """Run with one stream on a terminal of some width: what the terminal saw, and the other stream."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    streams: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    size = ("COLUMNS", "LINES")  # they would go before the terminal's own
    environment = {name: value for name, value in os.environ.items() if name not in size}
    environment["TERM"] = "xterm-256color"
    command = [sys.executable, "-m", "benzer", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, **streams) as running:  # type: ignore[call-overload]
        os.close(theirs)
        seen = b"".join(iter(lambda: read_terminal(ours), b""))
        other = (running.stderr if stream == "stdout" else running.stdout).read()
    os.close(ours)
    return seen.decode(), other


def read_terminal(number: int) -> bytes:
    try:
        return os.read(number, 65536)
    except OSError:  # the other end is closed
        return b""


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def one_line(result: Result) -> str:
    """The error of a command that failed: one line on stderr, and nothing on stdout."""
    assert result.stdout == ""
    assert result.stderr.startswith("benzer: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr
