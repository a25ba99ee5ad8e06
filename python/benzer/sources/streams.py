"""Reads and writes the bytes of files, with compression."""

from __future__ import annotations

import gzip
import io
import shutil
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from benzer.errors import InputError, OutputError, full_disk_named
from benzer.sources.expansion import Bounded, ExpansionLimits
from benzer.sources.formats import HEAD_BYTES, compression_of

BLOCK_BYTES = 1 << 24
CHUNK_BYTES = 1 << 17
BOM = b"\xef\xbb\xbf"
LARGEST_ZSTD_WINDOW = 1 << 31
ZSTD_PIECE_BYTES = 1 << 11
"""Compressed bytes that are decompressed together: 4 bytes may stand for a block of 128 KiB, so these for 64 MiB."""


@dataclass(frozen=True)
class FileInput:
    """One file or folder as the user named it. `compression` is "", ".gz" or ".zst"; `pattern` chooses text
    files of a folder; `spool` keeps the temporary copy of a pipe alive."""

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
            content = decompressed(stream, self, stack)
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
def damage_named(name: str) -> Iterator[None]:
    """Turn what decompressors raise into an `InputError` that names the file."""
    try:
        yield
    except EOFError as error:
        raise InputError(f"{name} is cut off in the middle of its compressed data: fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name} is not valid gzip data ({error}): fetch it again") from error
    except PermissionError as error:
        raise InputError(f"{name} cannot be opened ({error.strerror}): change its permissions") from error


def decompressed(stream: BinaryIO, file: FileInput, stack: ExitStack) -> BinaryIO:
    """`stream` itself, or its decompressed content."""
    if file.compression == ".gz":
        return cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
    if file.compression == ".zst":
        return cast(BinaryIO, io.BufferedReader(_ZstdContent(stream, file.name), CHUNK_BYTES))
    return stream


def unpacked(head: bytes, compression: str) -> bytes:
    """The beginning of what is compressed, of the beginning of a file; as far as it can be unpacked.

    >>> unpacked(gzip.compress(b"one two")[:-4], ".gz"), unpacked(b"one", "")
    (b'one two', b'one')
    """
    try:
        if compression == ".gz":
            return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
        if compression == ".zst":
            from zstandard import ZstdDecompressor, ZstdError

            try:
                return _unpacked_zstd(
                    ZstdDecompressor(max_window_size=LARGEST_ZSTD_WINDOW).decompressobj(), head
                )
            except ZstdError:
                return b""
    except zlib.error:
        return b""
    return head


def _unpacked_zstd(frame: Any, head: bytes) -> bytes:
    content = b""
    for start in range(0, len(head), ZSTD_PIECE_BYTES):
        if len(content) >= HEAD_BYTES or frame.eof:
            break
        content += frame.decompress(head[start : start + ZSTD_PIECE_BYTES])
    return content[:HEAD_BYTES]


class _ZstdContent(io.RawIOBase):
    """The content of Zstandard frames. The package's own reader takes a frame cut short for a whole one."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        from zstandard import ZstdDecompressor

        self._stream, self._name = stream, name
        self._decompressor = ZstdDecompressor(max_window_size=LARGEST_ZSTD_WINDOW)
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._decompress_some():
                return 0
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decompress_some(self) -> bool:
        unused = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
        data = unused or self._stream.read(ZSTD_PIECE_BYTES)
        if not data:
            if self._frame is not None and not self._frame.eof:
                raise EOFError
            return False
        from zstandard import ZstdError

        if self._frame is None or self._frame.eof:
            self._frame = self._decompressor.decompressobj()
        try:
            self._ready = memoryview(self._frame.decompress(data))
        except ZstdError as error:
            raise InputError(f"{self._name} is not valid Zstandard data ({error}): fetch it again") from error
        return True


@contextmanager
def create(destination: Path, compression: str) -> Iterator[BinaryIO]:
    """A new file to write to, compressed as its source was; an existing file is an `OutputError`."""
    with ExitStack() as stack:
        stream: Any = stack.enter_context(create_plain(destination))
        if compression == ".gz":
            stream = stack.enter_context(gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0))
        elif compression == ".zst":
            from zstandard import ZstdCompressor

            stream = stack.enter_context(
                ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False)
            )
        yield cast(BinaryIO, stream)


def create_plain(destination: Path) -> BinaryIO:
    """Open a file that must not exist yet; its folder is made where needed."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    try:
        return destination.open("xb")
    except FileExistsError as error:
        raise OutputError(f"{destination} exists already: choose another place, or remove it") from error


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
