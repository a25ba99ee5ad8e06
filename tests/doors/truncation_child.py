"""Batch runs whose input file is truncated by their own progress (`test_truncated_input`)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from benzer import find_duplicates
from benzer.errors import InputError


def main(path: str, cuts: list[tuple[str, int]]) -> None:
    """For each cut truncate the file to `size` bytes when `stage` reports first, and print the error of the run."""
    whole = Path(path).read_bytes()
    for stage, size in cuts:
        Path(path).write_bytes(whole)
        left = [stage]

        def progress(
            name: str, done: int, total: int | None, left: list[str] = left, size: int = size
        ) -> None:
            if name in left:
                left.remove(name)
                os.truncate(path, size)

        try:
            duplicates = find_duplicates(path, progress=progress, threads=2)
            print(len(duplicates.removed), "removed, no error")
        except InputError as error:
            print(error)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
