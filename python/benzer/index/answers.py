"""Results of index searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.document import Document
from benzer.errors import SettingsError
from benzer.storage import DocumentId


class Match(NamedTuple):
    """A document that matches a query.

    Attributes:
        id: Id of the document.
        similarity: Exact similarity to the query.
        fields: Similarity of each field that both documents have.

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
    """A document that shares buckets with a query and has not been compared with it.

    Attributes:
        id: Id of the document.
        shared_bands: Number of common band keys, over all fields.

    >>> Candidate("a", shared_bands=3).id
    'a'
    """

    id: DocumentId
    shared_bands: int


class Filed(NamedTuple):
    """The documents that share a bucket with rows of band keys.

    Attributes:
        rows: Row of each pair (int64).
        places: Position of the document of each pair in `ids` and `payloads` (int64).
        ids: Id of each document, in the order in which they were added.
        payloads: Encoded content of each document.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    ids: list[DocumentId]
    payloads: list[bytes]


def check_limit(limit: Any) -> None:
    """Check a maximum number of matches."""
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise SettingsError(f"limit must be 1 or more, or None for all, got {limit}")
