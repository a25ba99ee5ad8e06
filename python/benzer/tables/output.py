"""Where do results go? To a folder or file that appears whole at the end, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from benzer.errors import OutputError


class OutputFolder:
    """A folder that is filled under a hidden name beside its place, and renamed at success.

    Entering gives the folder to write into. An error (or Ctrl-C) removes what was written and leaves the old
    state. With `replace`, an old folder stays until the new one is complete and is removed last.

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
        self._partial = hidden(self.path, "partial")

    def __enter__(self) -> Path:
        self._check()
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)
        return self._partial

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._put_in_place()
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)

    def _check(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path} is a file, not a folder: choose another place")
        if self.path.exists() and not self.replace:
            raise OutputError(f"{self.path} exists already: choose another place, or allow replace")

    def _put_in_place(self) -> None:
        self._check()
        if not self.path.exists():
            self._partial.rename(self.path)
            return
        old = hidden(self.path, "old")
        self.path.rename(old)
        try:
            self._partial.rename(self.path)
        except BaseException:
            old.rename(self.path)
            raise
        shutil.rmtree(old)


@contextmanager
def atomic_write(path: str | Path, replace: bool = False) -> Iterator[Path]:
    """A file to write, under a hidden name until it is complete; an existing file needs `replace`.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "pairs.jsonl"
    >>> with atomic_write(place) as partial:
    ...     _ = partial.write_text("{}")
    >>> place.read_text()
    '{}'
    """
    final = Path(path)
    _check_file(final, replace)
    final.parent.mkdir(parents=True, exist_ok=True)
    # In containers a killed process has often left something under the number that this one has, or another writes.
    partial = hidden(final, f"{os.urandom(4).hex()}.partial")
    try:
        yield partial
        _check_file(final, replace)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)


def _check_file(path: Path, replace: bool) -> None:
    if path.is_dir():
        raise OutputError(f"{path} is a folder, not a file: choose another place")
    if path.exists() and not replace:
        raise OutputError(f"{path} exists already: choose another place, or allow replace")


def hidden(path: Path, purpose: str) -> Path:
    """The hidden name beside a place, one for each process.

    >>> hidden(Path("out/results"), "partial").name == f".results.partial-{os.getpid()}"
    True
    """
    whole = Path(os.path.abspath(path))
    return whole.with_name(f".{whole.name}.{purpose}-{os.getpid()}")


def check_destination(inputs: Iterable[str | Path], output: str | Path) -> None:
    """Refuse an output that is an input, or that holds one and would replace it.

    Links are followed. An output inside an input folder is allowed.

    >>> check_destination(["data/corpus.jsonl"], "data")
    Traceback (most recent call last):
    benzer.errors.OutputError: output data would replace the input data/corpus.jsonl: choose another place
    """
    place = Path(output).resolve()
    for given in inputs:
        real = Path(given).resolve()
        if place == real or place in real.parents or _same_file(place, real):
            raise OutputError(f"output {output} would replace the input {given}: choose another place")


def _same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
