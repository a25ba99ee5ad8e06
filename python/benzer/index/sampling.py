"""Draws a seeded sample of the documents of an index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benzer.checks import is_number
from benzer.errors import SettingsError
from benzer.storage import DocumentId, Storage

_READ_AT_ONCE = 500
_ALL = 100_000
"""Numbers that are all looked at, to find those of documents that are held."""
_TRIES = 20  # draws that may fall on numbers of removed documents, for each that is wanted


def last_number(storage: Storage) -> int:
    """The greatest number of a document that is held; -1 where there is none."""
    low, high = -1, 1  # one is held beyond `low`, unless it is -1; none beyond `high`
    while next(storage.iterate(1, after=high), None) is not None:
        low, high = high, 4 * high
    if low < 0 and next(storage.iterate(1), None) is None:
        return -1
    while high - low > 1:
        middle = (low + high) // 2
        if next(storage.iterate(1, after=middle), None) is None:
            high = middle
        else:
            low = middle
    return high


def draw(storage: Storage, count: int, seed: int) -> NDArray[np.int64]:
    """Numbers of documents in a seeded order: all of them if they are no more than `count`.

    Where most documents that ever were are removed, fewer than `count` may be found.
    """
    end = last_number(storage) + 1
    generator = np.random.default_rng(seed)
    if end <= max(4 * count, _ALL):
        numbers = generator.permutation(end).astype(np.int64)
        return numbers[storage.held(numbers)][:count] if end else numbers
    found = np.empty(0, np.int64)
    for _ in range(_TRIES):
        if len(found) >= count:
            break
        drawn = generator.integers(0, end, size=count)
        drawn = drawn[storage.held(drawn)]
        found = np.concatenate((found, drawn))
        found = found[np.sort(np.unique(found, return_index=True)[1])]
    return found[:count]


def fitting(
    storage: Storage, numbers: NDArray[np.int64], most_bytes: int | None
) -> tuple[list[DocumentId], list[bytes]]:
    """The documents of the first numbers, as many as have so many bytes together; in order of arrival.

    At least one, however long it is.
    """
    taken: list[tuple[int, bytes]] = []
    total = 0
    for start in range(0, len(numbers), _READ_AT_ONCE):
        some = numbers[start : start + _READ_AT_ONCE]
        for number, payload in zip(some.tolist(), storage.payloads(some), strict=True):
            total += len(payload)
            if most_bytes is not None and total > most_bytes and taken:
                break
            taken.append((number, payload))
        else:
            continue
        break
    taken.sort()
    return storage.ids([number for number, _ in taken]), [payload for _, payload in taken]


def check_draw(count: int, most_bytes: int | None, seed: int) -> None:
    """Refuse a number of documents, or of bytes, that is none."""
    for name, value in {"count": count, "most_bytes": most_bytes}.items():
        if value is not None and (not is_number(value) or value != int(value) or value < 1):
            raise SettingsError(f"{name} must be 1 or more, got {value!r}")
    given: object = seed  # callers without a type checker may give anything
    if not isinstance(given, int) or given < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {seed!r}")
