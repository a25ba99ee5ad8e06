"""How is Benzer asked from a shell?  One file per command; `main` is the `benzer` command itself.

Results go to stdout, talk (progress, notes, errors) to stderr. Exit status: 0 done, 1 done and something was
found wrong, 2 wrong usage or input (one line, no traceback), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

from benzer.cli.group import main

__all__ = ["main"]
