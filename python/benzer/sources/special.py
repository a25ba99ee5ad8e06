"""Opens inputs that are not regular files: reads pipes, rejects devices and sockets."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Literal

from benzer.errors import InputError

SECONDS_FOR_WRITER = 60.0
"""How long a pipe is waited for that no process has opened for writing."""


def kind_of(name: str, path: Path) -> Literal["folder", "file", "pipe"]:
    """What a path leads to.

    Raises:
        InputError: it is a link to nothing or to itself, a device, or a socket.

    >>> kind_of("home", Path.home())
    'folder'
    >>> kind_of("/dev/zero", Path("/dev/zero"))
    Traceback (most recent call last):
    benzer.errors.InputError: /dev/zero is a device: use a file, a folder, or - for the standard input
    """
    if path.is_symlink() and not path.exists():
        raise InputError(f"{name} is a broken or circular link: check its target")
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISFIFO(mode):
        return "pipe"
    noun = "socket" if stat.S_ISSOCK(mode) else "device"
    raise InputError(f"{name} is a {noun}: use a file, a folder, or - for the standard input")


def open_pipe(name: str, path: Path) -> BinaryIO:
    """Open a named pipe, as soon as a process writes to it; an `InputError` where none does for a minute."""
    from concurrent.futures import Future, TimeoutError

    opening: Future[BinaryIO] = Future()

    def wait() -> None:
        try:
            opening.set_result(path.open("rb"))
        except OSError as error:
            opening.set_exception(error)

    Thread(target=wait, daemon=True).start()
    try:
        return opening.result(SECONDS_FOR_WRITER)
    except TimeoutError as error:
        with suppress(OSError, TimeoutError):  # a writer of a moment lets the thread end
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            opening.result(1).close()
        raise InputError(
            f"no process has opened the pipe {name} for writing in {SECONDS_FOR_WRITER:.0f} seconds: "
            f"start its writer first, or use a file"
        ) from error
