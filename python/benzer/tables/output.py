"""Writes results to a folder or file atomically."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from benzer.errors import OutputError, full_disk_named
from benzer.tables.partial import Partial, followed, sweep
from benzer.tables.partial import hidden as hidden


class OutputFolder:
    """A folder that is filled under a hidden name, and renamed at the end.

    `with` yields the folder to write into. An error (or Ctrl-C) removes what was written and leaves the old state.
    With `replace`, an old folder stays until the new one is complete and is removed last. At the end, all files and
    their names are on the disk; after a power failure before that, there is the old state or the new one, complete. A
    link to a folder is followed.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "results"
    >>> with OutputFolder(place) as folder:
    ...     _ = (folder / "summary.json").write_text("{}")
    ...     place.exists()
    False
    >>> [path.name for path in place.iterdir()]
    ['summary.json']
    """

    def __init__(self, path: str | Path, replace: bool = False) -> None:
        self.path = Path(path)
        self.replace = replace

    def __enter__(self) -> Path:
        self._place = followed(self.path)
        sweep(self._place)
        self._check()
        with full_disk_named(self.path):
            self._partial = Partial(self._place)
            try:
                self._partial.new.mkdir()
            except BaseException:
                self._partial.close()
                raise
        return self._partial.new

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with full_disk_named(self.path):
                if isinstance(error, OSError):
                    raise error
                if error is None:
                    self._check()
                    self._partial.place()
        finally:
            self._partial.close()

    def _check(self) -> None:
        if self._place.exists() and not self._place.is_dir():
            raise OutputError(f"{self.path} is a file, not a folder: choose another path")
        refuse_existing(self._place, self.path, self.replace)


@contextmanager
def atomic_write(path: str | Path, replace: bool = False) -> Iterator[Path]:
    """Yield a file to write, under a hidden name until it is complete; an existing file requires `replace`.

    At the end, the file and its name are on the disk. A link is followed.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "pairs.jsonl"
    >>> with atomic_write(place) as partial:
    ...     _ = partial.write_text("{}")
    >>> place.read_text()
    '{}'
    """
    final = followed(path)
    sweep(final)
    _check_file(final, replace)
    with full_disk_named(path):
        partial = Partial(final)
        try:
            yield partial.new
            _check_file(final, replace)
            partial.place()
        finally:
            partial.close()


def _check_file(path: Path, replace: bool) -> None:
    if path.is_dir():
        raise OutputError(f"{path} is a folder, not a file: choose another path")
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} is a device or a pipe, not a file: choose another path")
    refuse_existing(path, path, replace)


def refuse_existing(place: Path, name: str | Path, replace: bool) -> None:
    """Raise an error for an existing path that must not be replaced; `name` is the path given by the caller."""
    if place.exists() and not replace:
        raise OutputError(f"{name} already exists: choose another path, or allow replace")


def check_destination(inputs: Iterable[str | Path], output: str | Path) -> None:
    """Raise an error for an output that is an input, or that contains one and would replace it.

    Links are followed. An output inside an input folder is allowed.

    >>> check_destination(["data/corpus.jsonl"], "data")
    Traceback (most recent call last):
    benzer.errors.OutputError: output data would replace the input data/corpus.jsonl: choose another path
    """
    place = Path(os.path.realpath(output))
    for given in inputs:
        real = Path(os.path.realpath(given))
        if place == real or place in real.parents or _same_file(place, real):
            raise would_replace(output, given)


def would_replace(output: str | Path, given: str | Path) -> OutputError:
    """Return the error for an output that contains an input."""
    return OutputError(f"output {output} would replace the input {given}: choose another path")


def _same_file(item: Path, other: Path) -> bool:
    return item.exists() and other.exists() and item.samefile(other)
