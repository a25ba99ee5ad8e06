"""Finds the encoding of text, and converts blocks of bytes to UTF-8 and back."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from typing import BinaryIO

from benzer.errors import InputError, SettingsError

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Encodings by the byte order mark that a file begins with; that of UTF-32 begins with that of UTF-16."""
CANDIDATES = (
    "cp1252", "cp1251", "cp1250", "cp1254", "cp1253", "cp1257", "shift_jis", "gb18030", "big5", "euc_kr", "euc_jp",
    "koi8_r",
)  # fmt: skip
"""The encodings that are detected, of equally likely ones the first. cp1252 contains Latin-1."""
BOM = codecs.BOM_UTF8
SAMPLE_BYTES = 1 << 16
MOST_CHAOS = 0.1
NOT_UTF8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|([\x80-\xff])"
)
NOT_ASCII = re.compile(rb"[\x80-\xff]")


def detected(data: bytes) -> str:
    """The encoding of some text that is not only ASCII; "utf-8" also for UTF-8 with some damaged bytes.

    A byte 0xFE or 0xFF alone is damage: hardly any text in another encoding has no other byte above 0x7F.

    >>> detected("Straße".encode()), detected("Größe der Straße".encode("cp1252"))
    ('utf-8', 'cp1252')
    >>> detected(b"dam" + bytes([255]) + b"ged")
    'utf-8'
    """
    sample = data[:SAMPLE_BYTES] if NOT_ASCII.search(data, 0, SAMPLE_BYTES) else _around(data)
    found = [match.group(1) for match in NOT_UTF8.finditer(sample)]
    invalid = [byte for byte in found if byte]
    if 2 * len(invalid) <= len(found) or set(invalid) <= {b"\xfe", b"\xff"}:
        return "utf-8"
    from charset_normalizer import from_bytes

    lines = b"\n".join(line for line in sample.split(b"\n") if not line.isascii())
    matches = [
        (match.chaos > MOST_CHAOS, -round(match.coherence, 1), CANDIDATES.index(name))
        for match in from_bytes(lines, cp_isolation=list(CANDIDATES))
        for name in match.could_be_from_charset
        if name in CANDIDATES
    ]
    return CANDIDATES[min(matches)[-1]] if matches else "utf-8"


def _around(data: bytes) -> bytes:
    first = NOT_ASCII.search(data)
    start = first.start() if first else 0
    return data[max(0, start - SAMPLE_BYTES // 2) : start + SAMPLE_BYTES // 2]


def marked(head: bytes) -> str | None:
    """The encoding that the beginning of a file shows by its byte order mark; None for UTF-8 or no mark.

    >>> marked("a".encode("utf-16")), marked(b"a")
    ('utf-16-le', None)
    """
    return next((name for mark, name in MARKS.items() if head.startswith(mark)), None)


def checked_encoding(name: str | None) -> str | None:
    """The name of an encoding as Python writes it; None stays None.

    >>> checked_encoding("Latin1")
    'iso8859-1'
    >>> checked_encoding("latin-99")
    Traceback (most recent call last):
    benzer.errors.SettingsError: there is no text encoding "latin-99": use e.g. utf-8, cp1252 or utf-16
    """
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError) as error:
        raise SettingsError(
            f'there is no text encoding "{name}": use e.g. utf-8, cp1252 or utf-16'
        ) from error
    return "utf-8" if found.name == "utf-8-sig" else found.name


def decoded(data: bytes, encoding: str | None) -> tuple[str, str]:
    """The text of a whole file, and its encoding, detected where None is given; `UnicodeDecodeError` if it is not.

    >>> decoded("Größe der Straße".encode("cp1252"), None)
    ('Größe der Straße', 'cp1252')
    """
    encoding = encoding or marked(data)
    if encoding is None:
        try:
            return data.decode(), "utf-8"
        except UnicodeDecodeError:
            encoding = detected(data)
    return data.decode(encoding), encoding


class Utf8Blocks:
    """The blocks of a text file in UTF-8, whatever its encoding.

    Bytes that are not valid in the encoding of the file stay as bytes that are not valid in UTF-8, so that their rows
    can be set aside. Without a given encoding, byte order marks decide, and otherwise the first block that is not only
    ASCII. `encoding` is the encoding so far. `mark` is the byte order mark in UTF-8, which is not part of a block.
    """

    def __init__(self, stream: BinaryIO, name: str, encoding: str | None) -> None:
        self._stream, self._name = stream, name
        self.encoding = encoding or "utf-8"
        self._settled = encoding is not None
        self._begun = False
        self.mark = b""
        self._decoder: codecs.IncrementalDecoder | None = None

    def read(self, size: int) -> bytes:
        """About so many bytes in UTF-8; b"" at the end."""
        while True:
            data = self._stream.read(size)
            if not self._settled and not data.isascii():
                data += self._stream.readline(SAMPLE_BYTES)  # not to be judged by half of a character
            self._settle(data)
            block = data if self.encoding == "utf-8" else self._converted(data)
            if block and not self._begun:
                self._begun = True
                self.mark = BOM if block.startswith(BOM) else b""
                block = block[len(self.mark) :]
            if block or not data:
                return block

    def _settle(self, data: bytes) -> None:
        mark = None if self._begun else marked(data)
        if mark is not None and (not self._settled or self.encoding == mark[:6]):
            self.encoding, self._settled = mark, True
        if not self._settled and not data.isascii():
            self.encoding, self._settled = detected(data), True

    def _converted(self, data: bytes) -> bytes:
        errors = _errors(self.encoding)
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder(self.encoding)(errors)
        try:
            return self._decoder.decode(data, final=not data).encode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise InputError(f"{self._name} ends in the middle of a character: fetch it again") from error


def original(data: bytes, encoding: str) -> bytes:
    """Bytes that `Utf8Blocks` gave, in the encoding of their file."""
    if encoding == "utf-8":
        return data
    errors = _errors(encoding)
    return data.decode("utf-8", errors).encode(encoding, errors)


def other_encodings(encodings: Iterable[str]) -> dict[str, int]:
    """How many texts are in each encoding other than UTF-8.

    >>> other_encodings(["utf-8", "cp1252", "cp1252"])
    {'cp1252': 2}
    """
    return dict(Counter(encoding for encoding in encodings if encoding != "utf-8"))


def _errors(encoding: str) -> str:
    return "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
