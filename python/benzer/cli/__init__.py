"""Command-line interface: one file per command; `main` is the `benzer` command.

Results go to stdout; progress, notes and errors go to stderr. Exit status: 0 success, 1 completed but problems
were found, 2 invalid usage or input (one line, no traceback), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

from benzer.cli.group import main

__all__ = ["main"]
