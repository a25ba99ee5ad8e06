"""Encodes ids, documents and postings as bytes.

    id        "s" and UTF-8, or "i" and decimal digits
    record    4 bytes: CRC-32 of the document's number and what follows; 4 bytes: the length of the id; id; payload
              (in an index with a time to live 4 bytes before it: when it expires, in seconds since 1970)
    posting   8 bytes: band key, or hash of an id; 4 bytes: number of the document

All numbers are little-endian.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benzer.errors import StoreFormatError
from benzer.storage.base import NO_KEY, DocumentId, Keys, Numbers, Pairs
from benzer.storage.postings import Postings

POSTING = np.dtype([("key", "<u8"), ("number", "<u4")])
_GROUP = np.dtype([("shard", "<u4"), ("count", "<u4")])
_NUMBER = np.dtype("<u4")
_U32 = struct.Struct("<I")
_HEAD = struct.Struct("<II")
_PORTION_DOCUMENTS = 256
_PORTION_POSTINGS = 16_384
_PORTION_SHARDS = 2048
_PORTION_BYTES = 1 << 20


class Record(NamedTuple):
    """A document as it was stored."""

    id: DocumentId
    payload: bytes


def id_text(document_id: DocumentId) -> bytes:
    """Return an id as bytes.

    >>> id_text("a"), id_text(-7)
    (b'sa', b'i-7')
    """
    if isinstance(document_id, int):
        return b"i%d" % document_id
    return b"s" + document_id.encode("utf-8", "surrogatepass")


def given_id(text: bytes) -> DocumentId:
    """Return the id that `id_text` encoded."""
    return int(text[1:]) if text[:1] == b"i" else text[1:].decode("utf-8", "surrogatepass")


def id_hash(text: bytes) -> bytes:
    """Return the key under which the number of the document with an id is stored: 8 bytes of BLAKE2b."""
    return hashlib.blake2b(text, digest_size=8).digest()


def id_postings(texts: Sequence[bytes], first: int) -> Postings:
    """Return the postings of the numbers from `first` on under the hashes of their ids."""
    keys = np.frombuffer(b"".join(map(id_hash, texts)), "<u8").astype(np.uint64)
    return Postings(keys, np.arange(first, first + len(texts), dtype=np.uint32))


def record_of(number: int, text: bytes, payload: bytes) -> bytes:
    """Return a document as it is stored."""
    size = _U32.pack(len(text))
    checksum = zlib.crc32(payload, zlib.crc32(text, zlib.crc32(_U32.pack(number) + size)))
    return b"".join((_U32.pack(checksum), size, text, payload))


def read_record(number: int, record: bytes, mortal: bool) -> Record:
    """Return the document in a record; StoreFormatError if it differs from the one that was written."""
    start = 4 if mortal else 0
    if len(record) < start + 9:
        raise damaged(number)
    checksum, size = _HEAD.unpack_from(record, start)
    if zlib.crc32(memoryview(record)[start + 4 :], zlib.crc32(_U32.pack(number))) != checksum:
        raise damaged(number)
    split = start + 8 + size
    return Record(given_id(record[start + 8 : split]), record[split:])


def damaged(number: int) -> StoreFormatError:
    """Return the error for a record that is missing or damaged."""
    return StoreFormatError(
        f"document {number} is damaged or missing in the server: restore a copy, or create the index again, and set "
        f"the server's maxmemory-policy to noeviction"
    )


def portions(sizes: Sequence[int]) -> Iterator[slice]:
    """Divide documents of these sizes in bytes into messages that occupy the server only for milliseconds.

    >>> list(portions([10] * 300))
    [slice(0, 256, None), slice(256, 300, None)]
    """
    start = total = 0
    for place, size in enumerate(sizes):
        if place > start and (place - start == _PORTION_DOCUMENTS or total + size > _PORTION_BYTES):
            yield slice(start, place)
            start, total = place, 0
        total += size
    if start < len(sizes):
        yield slice(start, len(sizes))


def shard_of(hashes: Numbers, shards: int) -> Numbers:
    """Return the shard of each 32-bit hash by linear hashing: its low bits, one fewer if that shard does not exist yet.

    >>> shard_of(np.arange(8), 5).tolist()
    [0, 1, 2, 3, 4, 1, 2, 3]
    """
    once = 1 << (shards.bit_length() - 1)
    wide = hashes & (2 * once - 1)
    return np.where(wide >= shards, wide & (once - 1), wide)


def grouped(postings: Postings, shards: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield postings by shard in portions (at least one): pairs (shard, count), and the postings."""
    shard = shard_of((postings.keys & np.uint64(0xFFFFFFFF)).astype(np.int64), shards)
    order = np.argsort(shard, kind="stable")
    packed = np.empty(len(order), POSTING)
    packed["key"], packed["number"] = postings.keys[order], postings.numbers[order]
    names, first, counts = np.unique(shard[order], return_index=True, return_counts=True)
    groups = np.empty(len(names), _GROUP)
    groups["shard"], groups["count"] = names, counts
    bounds = np.append(first, len(order))
    start = 0
    while start < len(names) or start == 0:
        enough = int(np.searchsorted(bounds, bounds[start] + _PORTION_POSTINGS, "right")) - 1
        stop = min(max(enough, start + 1), start + _PORTION_SHARDS, len(names))
        yield groups[start:stop].tobytes(), packed[bounds[start] : bounds[stop]].tobytes()
        start = max(stop, 1)


def wanted_keys(keys: Keys) -> tuple[Keys, Numbers, Numbers, Numbers]:
    """Return the distinct keys, sorted; the begin and the number of the rows of each; and all rows."""
    flat = keys.reshape(-1)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    end = int(np.searchsorted(ordered, NO_KEY))
    ordered = ordered[:end]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if end else order[:0]
    counts = np.diff(np.append(first, end))
    return ordered[first], first, counts, order[:end] // max(1, keys.shape[1])


def postings_in(shard: str, piece: bytes) -> npt.NDArray[np.void]:
    """Return the postings in a shard or a piece of it; StoreFormatError if the last one is incomplete."""
    if len(piece) % POSTING.itemsize:
        raise StoreFormatError(
            f"shard {shard} is damaged in the server (its length is not a multiple of {POSTING.itemsize} bytes): "
            f"restore a copy, or create the index again"
        )
    return np.frombuffer(piece, POSTING)


def search_piece(shard: str, piece: bytes, wanted: Keys) -> Pairs:
    """Return the wanted keys (sorted, distinct) in a piece of a shard: (position of the key, number)s."""
    postings = postings_in(shard, piece)
    if not len(wanted) or not len(postings):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    place = np.minimum(np.searchsorted(wanted, postings["key"]), len(wanted) - 1)
    is_wanted = wanted[place] == postings["key"]
    return place[is_wanted], postings["number"][is_wanted].astype(np.int64)


def packed_numbers(numbers: Numbers) -> bytes:
    """Encode document numbers, 4 bytes each."""
    return numbers.astype(_NUMBER).tobytes()


def unpacked_numbers(packed: bytes) -> Numbers:
    """Decode document numbers, 4 bytes each."""
    return np.frombuffer(packed, _NUMBER).astype(np.int64)
