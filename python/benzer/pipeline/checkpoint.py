"""Checkpoints: a folder with the finished parts of a run, from which it resumes."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from benzer.errors import OutputError, SettingsError, full_disk_named
from benzer.tables.durable import make_folder, sync_folder

Arrays = dict[str, NDArray[Any]]
FORMAT = 1
RUN, LOCK = "run.json", "lock"
OWN = re.compile(r"lock|run\.json(\.partial)?|[a-z]+(-\d+)*\.npz(\.partial)?")
"""The names that a checkpoint gives to its files; no other is ever removed."""


class Checkpoint:
    """A folder of finished parts of one run, with a description of the run.

    Each part is written under another name, made durable and then renamed: after a kill at any moment a part is
    complete or missing. One process at a time may use a folder. The caller ensures that a part depends only on the
    described run; existing parts are read instead of made. At the end its own files are removed, and no others.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "saved"
    >>> with Checkpoint(place) as saved:
    ...     saved.begin({"threshold": 0.8})
    ...     first = saved.part("numbers", lambda: {"n": np.arange(3)})
    >>> with Checkpoint(place) as saved:
    ...     saved.begin({"threshold": 0.8})
    ...     saved.part("numbers", lambda: {"n": np.arange(1000)})["n"].tolist()
    ...     saved.discard()
    [0, 1, 2]
    >>> place.exists()
    False
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: BinaryIO | None = None
        self._made = False

    def __enter__(self) -> Checkpoint:  # noqa: PYI034 (Self needs Python 3.11)
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        """Reserve the folder for this process; create it if it does not exist."""
        refuse_foreign(self.path)
        self._made = not self.path.exists()
        make_folder(self.path)
        lock = (self.path / LOCK).open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            raise OutputError(
                f"another run is using the checkpoint {self.path}: wait for it, or choose another folder"
            ) from error
        self._lock = lock

    def begin(self, run: Mapping[str, Any]) -> None:
        """Describe the run (JSON values).

        Raises:
            SettingsError: The folder contains another run; the message names the differences.
        """
        described = json.loads(json.dumps({"format": FORMAT, **run}))
        place = self.path / RUN
        if not place.exists():
            self._write(RUN, lambda file: file.write(json.dumps(described, indent=1).encode()))
            return
        there = run_there(place)
        if there != described:
            raise other_run(self.path, there, described)

    def part(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a part: read if it exists and is valid, otherwise made and stored.

        Args:
            name: Words of lowercase letters and digits, joined by hyphens.
            make: Makes the part.
        """
        place = self.path / f"{name}.npz"
        stored = read_part(place)
        if stored is not None:
            return stored
        made = make()

        def write(file: BinaryIO) -> None:
            np.savez(file, **made)  # type: ignore[arg-type]

        self._write(place.name, write)
        return made

    def _write(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        partial = self.path / f"{name}.partial"
        with full_disk_named(f"the checkpoint {self.path}"):
            with partial.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self.path / name)
            sync_folder(self.path)

    def discard(self) -> None:
        """Remove its files after the run, and the folder if it is then empty.

        The description is removed last, so that the folder remains a checkpoint after a kill.
        """
        own = [path for path in self.path.iterdir() if OWN.fullmatch(path.name) and not path.is_dir()]
        for path in sorted(own, key=lambda path: (path.name in (RUN, LOCK), path.name == LOCK)):
            path.unlink()
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def close(self) -> None:
        """Release the folder; a new one for a run that never began is removed."""
        if self._lock is not None:
            if self._made and self.path.is_dir() and not (self.path / RUN).exists():
                self.discard()
            self._lock.close()
            self._lock = None


class NoCheckpoint:
    """The checkpoint of a run without one: every part is made."""

    def part(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Make the arrays of a part."""
        return make()

    def discard(self) -> None:
        """Do nothing."""


def refuse_foreign(path: Path) -> None:
    """Raise an error for a folder with other contents: after the run it would be removed."""
    if path.is_file():
        raise OutputError(f"{path} is a file, not a folder: choose another path for the checkpoint")
    if (path / RUN).exists():
        run_there(path / RUN)
    elif path.is_dir():
        others = [name for name in os.listdir(path) if name not in (LOCK, f"{RUN}.partial")]
        if others:
            raise OutputError(
                f"{path} holds other files ({others[0]}) and no checkpoint: choose another folder, or an empty one"
            )


def run_there(place: Path) -> dict[str, Any]:
    """Return the run that a folder describes; a file of that name with other contents is an `OutputError`."""
    try:
        there = json.loads(place.read_bytes())
    except ValueError:
        there = None
    if not isinstance(there, dict) or "format" not in there:
        raise OutputError(f"{place} is not a checkpoint file: choose another folder, or an empty one")
    return there


def read_part(place: Path) -> Arrays | None:
    """Return the arrays of a part; None if it is missing or damaged, e.g. by a failed disk."""
    if not place.exists():
        return None
    from zipfile import BadZipFile

    try:
        with place.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except (BadZipFile, EOFError, ValueError):
        return None


def other_run(path: Path, there: Any, described: Any) -> SettingsError:
    """Return the error that names the differences of two runs."""
    old, new = dict(flat(there)), dict(flat(described))
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    differences = "; ".join(
        f"{name} was {old.get(name, 'missing')!r}, now {new.get(name, 'missing')!r}" for name in names[:3]
    )
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return SettingsError(
        f"the checkpoint {path} belongs to another run ({differences}{more}): "
        f"use the same arguments, or remove the folder to start again"
    )


def flat(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the plain values of nested mappings, each with its path.

    >>> list(flat({"a": {"b": 1}, "c": [2]}))
    [('a.b', 1), ('c', [2])]
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
