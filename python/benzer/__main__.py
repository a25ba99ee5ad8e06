"""Runs the command line with `python -m benzer`."""

from __future__ import annotations

from benzer.cli import main

if __name__ == "__main__":
    main()
