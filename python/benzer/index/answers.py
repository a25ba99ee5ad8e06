"""What does an index answer? Matches, candidates, and what may be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.document import Document
from benzer.errors import SettingsError
from benzer.storage import DocumentId


class Match(NamedTuple):
    """A document that is like the one asked for.

    `similarity` is exact; `fields` has that of each field which both documents hold.

    >>> match = Match("a", 0.9, {"text": 0.9})
    >>> match.id, match.similarity
    ('a', 0.9)
    """

    id: DocumentId
    similarity: float
    fields: Mapping[str, float]


class SeenDocuments(NamedTuple):
    """Some documents, and when each was last seen (seconds since 1970, 0 if unknown)."""

    documents: Sequence[Document]
    seen: Sequence[int]


class Candidate(NamedTuple):
    """A document that shares buckets with the one asked for; nothing has been compared.

    `shared_bands` counts the bands, of all fields together, whose key both have.

    >>> Candidate("a", shared_bands=3).id
    'a'
    """

    id: DocumentId
    shared_bands: int


class Filed(NamedTuple):
    """The documents that share a bucket with rows of band keys: `rows` and `places` (int64, one entry a pair).

    A place counts in `ids` and `payloads`, which hold each document once, in order of arrival.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    ids: list[DocumentId]
    payloads: list[bytes]


def check_limit(limit: Any) -> None:
    """Refuse a number of matches that is none."""
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise SettingsError(f"limit must be 1 or more, or None for all, got {limit}")
