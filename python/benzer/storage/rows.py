"""Types and checksums of the rows of an index file."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any

from benzer.storage.base import DocumentId

StoredId = int | str | bytes
_LOW = 0xFFFFFFFF


class Damaged(sqlite3.DatabaseError):
    """A row that differs from the one that was written; `layout.told` adds path and fix as a StoreFormatError.

    Args:
        fault: Description of the damage.
        part: The part of the file that is damaged, e.g. "document 7"; None for the file as a whole.
    """

    def __init__(self, fault: str, part: str | None = None) -> None:
        super().__init__(fault)
        self.part = part


def integers(rows: Sequence[tuple[Any, ...]], table: str) -> Sequence[tuple[int, ...]]:
    """Return the rows; raise Damaged unless all their values are integers."""
    if any(type(value) is not int for row in rows for value in row):
        raise Damaged(f"{table} has a value that is not an integer")
    return rows


def checksum_of(*numbers: int) -> int:
    """Return the CRC-32 of some integers, in decimal.

    >>> checksum_of(1, 23) != checksum_of(12, 3)
    True
    """
    return zlib.crc32(",".join(map(str, numbers)).encode())


def document_checksum(number: int, stored: StoredId, payload: bytes) -> int:
    """Return the checksum of a document: of its number and id in the upper 32 bits, of its payload in the lower.

    The upper half is never 0: documents that were written in formats 1 and 2 have a checksum of the payload only.

    >>> document_checksum(0, 1, b"x") & 0xFFFFFFFF == zlib.crc32(b"x")
    True
    """
    unsigned = _id_checksum(number, stored) << 32 | zlib.crc32(payload)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


def _id_checksum(number: int, stored: StoredId) -> int:
    if isinstance(stored, str):
        stored = b"s" + stored.encode()
    elif isinstance(stored, int):
        stored = b"i%d" % stored
    return zlib.crc32(stored, number) or 1


def sound_id(number: int, checksum: int, stored: StoredId) -> DocumentId:
    """Return the user's id; raise Damaged unless id and number have this checksum.

    >>> sound_id(7, document_checksum(7, "a", b""), "a")
    'a'
    """
    try:
        if (expected := checksum >> 32 & _LOW) and _id_checksum(number, stored) != expected:
            raise Damaged("its id has another checksum", f"document {number}")
        return given_id(stored)
    except (TypeError, ValueError, AttributeError) as error:
        raise Damaged("its id has a wrong type", f"document {number}") from error


def sound_payload(number: int, checksum: int, payload: bytes) -> bytes:
    """Return the payload; raise Damaged unless it has this checksum."""
    if type(payload) is not bytes or type(checksum) is not int or zlib.crc32(payload) != checksum & _LOW:
        raise Damaged("its payload has another checksum", f"document {number}")
    return payload


def stored_id(document_id: DocumentId) -> StoredId:
    """Return an id as SQLite stores it, with distinct types; other types become bytes.

    >>> stored_id("7"), stored_id(7), stored_id(2**64), stored_id(chr(0xD800))
    ('7', 7, b'i18446744073709551616', b's\\xed\\xa0\\x80')
    """
    if isinstance(document_id, int):
        return document_id if -(2**63) <= document_id < 2**63 else b"i%d" % document_id
    if document_id.isascii():
        return document_id
    try:
        document_id.encode()
    except UnicodeEncodeError:
        return b"s" + document_id.encode("utf-8", "surrogatepass")
    return document_id


def given_id(stored: StoredId) -> DocumentId:
    """Return the user's id from the stored one.

    >>> given_id(stored_id(2**64)) == 2**64 and given_id(stored_id(chr(0xD800))) == chr(0xD800)
    True
    """
    if isinstance(stored, bytes):
        return int(stored[1:]) if stored[:1] == b"i" else stored[1:].decode("utf-8", "surrogatepass")
    if isinstance(stored, int | str):
        return stored
    raise Damaged("a document has an id of a wrong type")
