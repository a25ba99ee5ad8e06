"""Finds documents by keys with one script per few thousand keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from benzer.errors import StoreFormatError
from benzer.storage.base import NO_KEY, Keys, Numbers, Pairs
from benzer.storage.redis.records import (
    packed_numbers,
    read_record,
    search_piece,
    unpacked_numbers,
    wanted_keys,
)
from benzer.storage.redis.server import RewrittenError
from benzer.storage.redis.session import RedisSession

_KEYS_AT_ONCE = 2048
_RECORDS_ALONG = 256
_NUMBERS_AT_ONCE = 50_000
_NONE = np.empty(0, np.int64)


def find(session: RedisSession, keys: Keys, mortal: bool) -> Pairs:
    """Return (row, number) of the documents that share a key with a row of `keys`, sorted, each pair once."""
    if len(keys) == 1 and keys.shape[1] <= _KEYS_AT_ONCE:
        wanted = np.sort(keys[0])  # not `np.unique`, 8 microseconds: a key that comes twice does no harm
        short, long = _search(session, wanted[wanted != NO_KEY], mortal, alone=True)[2:]
        numbers = np.unique(np.concatenate([short, long[1]])) if len(long[1]) else np.sort(short)
        return np.zeros(len(numbers), np.int64), numbers
    wanted, first, counts, rows = wanted_keys(keys)
    places, numbers_found = [_NONE], [_NONE]
    for start in range(0, len(wanted), _KEYS_AT_ONCE):
        place, number = _find_some(session, wanted[start : start + _KEYS_AT_ONCE], mortal)
        places.append(place + start)
        numbers_found.append(number)
    place, number = np.concatenate(places), np.concatenate(numbers_found)
    repeats = counts[place]
    begin = np.repeat(first[place] - (np.cumsum(repeats) - repeats), repeats)
    row = rows[begin + np.arange(len(begin))]
    codes = np.unique((row << 32) | np.repeat(number, repeats))
    return codes >> 32, codes & 0xFFFFFFFF


def _find_some(session: RedisSession, wanted: Keys, mortal: bool) -> Pairs:
    """Return (position of the key, number) of the documents under distinct keys."""
    place, number, stored, long = _search(session, wanted, mortal, alone=False)
    there = np.isin(number, stored)
    return np.concatenate([place[there], long[0]]), np.concatenate([number[there], long[1]])


def _search(
    session: RedisSession, wanted: Keys, mortal: bool, alone: bool
) -> tuple[Numbers, Numbers, Numbers, Pairs]:
    """Return positions and numbers in short shards, the stored numbers among them, and the results in long shards."""
    while True:
        try:
            return _search_once(session, wanted, mortal, alone)
        except RewrittenError:
            continue  # a writer has made shards meanwhile


def _search_once(
    session: RedisSession, wanted: Keys, mortal: bool, alone: bool
) -> tuple[Numbers, Numbers, Numbers, Pairs]:
    packed_keys = wanted.astype("<u8").tobytes()
    rewrites, matches, packed, records, long = session.read(
        "find", packed_keys, _RECORDS_ALONG, "1" if alone else "0"
    )
    stored = unpacked_numbers(packed)
    for number, record in zip(stored.tolist(), records, strict=False):
        if record:
            session.documents[number] = read_record(number, record, mortal)
    pairs = np.frombuffer(matches, "<u4").reshape(-1, 2).astype(np.int64)
    in_long = _NONE, _NONE
    if long:
        long_pairs = [_find_in_long(session, wanted, shard, rewrites) for shard in long]
        places, numbers = (np.concatenate(parts) for parts in zip(*long_pairs, strict=True))
        there = np.isin(numbers, alive(session, np.unique(numbers)))
        in_long = places[there], numbers[there]
    return pairs[:, 0], pairs[:, 1], stored, in_long


def _find_in_long(session: RedisSession, wanted: Keys, shard: list[Any], rewrites: int) -> Pairs:
    """Search a shard that is read in pieces; postings appended meanwhile are beyond the reported length."""
    name, length, piece = shard
    position, places, numbers = 0, [], []
    while True:
        place, number = search_piece(f"p{name}", piece, wanted)
        places.append(place)
        numbers.append(number)
        position += len(piece)
        if position >= length:
            return np.concatenate(places), np.concatenate(numbers)
        (piece,) = session.read("piece", name, position, rewrites)
        if not piece:
            raise StoreFormatError(
                f"shard p{name} of {session.address!r} is truncated: restore it from a copy"
            )


def alive(session: RedisSession, numbers: Numbers) -> Numbers:
    """Return the stored ones of some document numbers."""
    parts = [_NONE]
    for start in range(0, len(numbers), _NUMBERS_AT_ONCE):
        (packed,) = session.read("alive", packed_numbers(numbers[start : start + _NUMBERS_AT_ONCE]))
        parts.append(unpacked_numbers(packed))
    return np.concatenate(parts)
