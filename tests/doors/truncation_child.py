"""A batch run whose input file is truncated by the run's own progress (`test_truncated_input`)."""

from __future__ import annotations

import os
import sys

from benzer import find_duplicates
from benzer.errors import InputError


def main(path: str, stage: str, size: int) -> None:
    """Truncate the file to `size` bytes when `stage` reports first, and print the error of the run."""
    left = [stage]

    def progress(name: str, done: int, total: int | None) -> None:
        if name in left:
            left.remove(name)
            os.truncate(path, size)

    try:
        duplicates = find_duplicates(path, progress=progress, threads=2)
        print(len(duplicates.removed), "removed, no error")
    except InputError as error:
        print(error)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
