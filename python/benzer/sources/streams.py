"""Reads and writes the bytes of files, compressed or not."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from benzer.errors import InputError, OutputError, full_disk_named
from benzer.sources.compression import CHUNK_BYTES, compressed, damage_named, decompressed
from benzer.sources.expansion import Bounded, ExpansionLimits
from benzer.sources.formats import HEAD_BYTES, compression_of

BLOCK_BYTES = 1 << 24
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class FileInput:
    """One file or folder as the user named it. `compression` is "" or one of `COMPRESSIONS`; `pattern` chooses
    text files of a folder; `spool` keeps the temporary copy of a pipe alive."""

    name: str
    path: Path
    compression: str = ""
    suffix: str = ""
    pattern: str | None = None
    spool: Any = None

    @property
    def given_path(self) -> Path | None:
        """The path the user gave; None for a pipe."""
        return None if self.spool is not None else self.path

    @property
    def limits(self) -> ExpansionLimits | None:
        """What the file may expand to; None where it is not compressed."""
        return ExpansionLimits.of(self.path.stat().st_size) if self.compression else None

    def content(self) -> bytes:
        """All bytes, decompressed, of a file that is one document."""
        with self.open() as stream:
            if self.limits is None:
                return stream.read()
            data = stream.read(self.limits.at_once + 1)
            if len(data) > self.limits.at_once:
                raise self.limits.excess_at_once(self.name, "text")
            return data

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes, decompressed; a file that is damaged or expands too far is an `InputError` that names it."""
        with ExitStack() as stack, damage_named(self.name):
            stream = stack.enter_context(self.path.open("rb"))
            content = decompressed(stream, self.compression, self.name, stack)
            if self.limits is None:
                yield content
            else:
                yield cast(BinaryIO, io.BufferedReader(Bounded(content, self.name, self.limits), CHUNK_BYTES))

    def head(self) -> bytes:
        """The first bytes, decompressed, by which the content is recognized."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    def stamp(self) -> tuple[int, int]:
        """Size and time of change, by which `check_unchanged` knows the file again."""
        try:
            status = self.path.stat()
        except FileNotFoundError as error:
            raise InputError(f"{self.name} no longer exists: restore it, or omit it") from error
        return status.st_size, status.st_mtime_ns

    def check_unchanged(self, stamp: tuple[int, int] | None) -> None:
        """Rows are chosen by position, so a file that changed since it was read must not be copied from."""
        if stamp != self.stamp():
            raise InputError(f"{self.name} has changed since it was read: run again on the current file")


def printable(name: str) -> str:
    """A file's name as text: bytes of it that are not UTF-8 become question marks.

    >>> printable("notes-" + chr(0xDCE9) + ".txt")
    'notes-?.txt'
    """
    return name.encode("utf-8", "replace").decode()


@contextmanager
def create(destination: Path, compression: str) -> Iterator[BinaryIO]:
    """A new file to write to, compressed as its source was; an existing file is an `OutputError`."""
    with ExitStack() as stack:
        stream = stack.enter_context(create_plain(destination))
        yield compressed(stream, compression, stack)


def create_plain(destination: Path) -> BinaryIO:
    """Open a file that must not exist yet; its folder is made where needed."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    try:
        return destination.open("xb")
    except FileExistsError as error:
        raise OutputError(f"{destination} already exists: choose another path, or remove it") from error


def line_blocks(stream: BinaryIO, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Blocks of whole lines, about `size` bytes each; only the last line may lack its newline.

    >>> list(line_blocks(io.BytesIO(b"one\\ntwo\\nthree"), size=5))
    [b'one\\n', b'two\\n', b'three']
    """
    parts: list[bytes] = []
    while chunk := stream.read(size + sum(map(len, parts))):  # twice as much each time, in a long line
        cut = chunk.rfind(b"\n") + 1
        if cut:
            block = b"".join((*parts, chunk[:cut]))
            parts = [chunk[cut:]]  # a long line lies in memory once, not twice, while it is used
            yield block
        else:
            parts.append(chunk)
    block = b"".join(parts)
    parts.clear()
    if block:
        yield block


def spooled(name: str, stream: BinaryIO, suffix: str) -> FileInput:
    """A pipe can be read once, so it is copied to a temporary file, which goes when the source goes."""
    import tempfile

    spool = tempfile.NamedTemporaryFile(prefix="benzer-")
    with full_disk_named(f"a copy of {name} to {tempfile.gettempdir()}", "set TMPDIR to another folder"):
        shutil.copyfileobj(stream, spool, BLOCK_BYTES)
        spool.flush()
    spool.seek(0)
    compression = compression_of(spool.read(HEAD_BYTES))
    return FileInput(name, Path(spool.name), compression, suffix + compression, spool=spool)
