"""Compresses and decompresses streams, with kept libraries: gzip, Zstandard, bzip2 and xz."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, cast

from benzer.errors import InputError
from benzer.sources.formats import HEAD_BYTES

COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz")
"""The endings of compressed files, which are also the names of the compressions."""
CHUNK_BYTES = 1 << 17
LARGEST_ZSTD_WINDOW = 1 << 31
ZSTD_PIECE_BYTES = 1 << 11
"""Compressed bytes that are decompressed together: 4 bytes may stand for a block of 128 KiB, so these for 64 MiB."""


def compression_ending(name: str) -> str:
    """The ending of a name that stands for a compression, in lower case; "" for any other name.

    >>> compression_ending("a.jsonl.GZ"), compression_ending("a.csv")
    ('.gz', '')
    """
    return next((ending for ending in COMPRESSIONS if name.lower().endswith(ending)), "")


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Turn what decompressors raise into an `InputError` that names the file."""
    try:
        yield
    except EOFError as error:
        raise InputError(f"{name} is cut off in the middle of its compressed data: fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name} is not valid gzip data ({error}): fetch it again") from error
    except lzma.LZMAError as error:
        raise InputError(f"{name} is not valid xz data ({error}): fetch it again") from error
    except PermissionError as error:
        raise InputError(f"{name} cannot be opened ({error.strerror}): change its permissions") from error
    except OSError as error:
        if error.errno is None and "data stream" in str(error):  # the only way that BZ2File says it
            raise InputError(f"{name} is not valid bzip2 data ({error}): fetch it again") from error
        raise


def decompressed(stream: BinaryIO, compression: str, name: str, stack: ExitStack) -> BinaryIO:
    """`stream` itself, or its decompressed content."""
    if compression == ".gz":
        return cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))
    if compression == ".zst":
        return cast(BinaryIO, io.BufferedReader(_ZstdContent(stream, name), CHUNK_BYTES))
    if compression == ".bz2":
        return cast(BinaryIO, stack.enter_context(bz2.BZ2File(stream)))
    if compression == ".xz":
        return cast(BinaryIO, stack.enter_context(lzma.LZMAFile(stream)))
    return stream


def compressed(stream: BinaryIO, compression: str, stack: ExitStack) -> BinaryIO:
    """`stream` itself, or a stream that compresses what it writes there; finished when `stack` closes."""
    if compression == ".gz":
        packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0)
        return cast(BinaryIO, stack.enter_context(packed))
    if compression == ".zst":
        from zstandard import ZstdCompressor

        writer = ZstdCompressor(write_checksum=True).stream_writer(stream, closefd=False)
        return cast(BinaryIO, stack.enter_context(writer))
    if compression == ".bz2":
        return cast(BinaryIO, stack.enter_context(bz2.BZ2File(stream, "wb")))
    if compression == ".xz":
        return cast(BinaryIO, stack.enter_context(lzma.LZMAFile(stream, "wb")))
    return stream


def unpacked(head: bytes, compression: str) -> bytes:
    """The beginning of what is compressed, of the beginning of a file; as far as it can be unpacked.

    >>> unpacked(gzip.compress(b"one two")[:-4], ".gz"), unpacked(b"one", "")
    (b'one two', b'one')
    """
    try:
        if compression == ".gz":
            return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
        if compression == ".bz2":
            return bz2.BZ2Decompressor().decompress(head, HEAD_BYTES)
        if compression == ".xz":
            return lzma.LZMADecompressor().decompress(head, HEAD_BYTES)
        if compression == ".zst":
            return _unpacked_zstd(head)
    except (zlib.error, lzma.LZMAError, OSError):
        return b""
    return head


def _unpacked_zstd(head: bytes) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError

    frame = ZstdDecompressor(max_window_size=LARGEST_ZSTD_WINDOW).decompressobj()
    content = b""
    try:
        for start in range(0, len(head), ZSTD_PIECE_BYTES):
            if len(content) >= HEAD_BYTES or frame.eof:
                break
            content += frame.decompress(head[start : start + ZSTD_PIECE_BYTES])
    except ZstdError:
        return b""
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
        from zstandard import ZstdError

        unused = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
        data = unused or self._stream.read(ZSTD_PIECE_BYTES)
        if not data:
            if self._frame is not None and not self._frame.eof:
                raise EOFError
            return False
        if self._frame is None or self._frame.eof:
            self._frame = self._decompressor.decompressobj()
        try:
            self._ready = memoryview(self._frame.decompress(data))
        except ZstdError as error:
            raise InputError(f"{self._name} is not valid Zstandard data ({error}): fetch it again") from error
        return True
