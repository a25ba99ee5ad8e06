"""`python -m benzer` is the command line."""

from __future__ import annotations

from benzer.cli import main

if __name__ == "__main__":
    main()
