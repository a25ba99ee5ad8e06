"""Documents, queries and matches of an index, and samples of its documents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.checks import is_number
from benzer.document import Description, Document
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.storage import DocumentId, Storage


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


ALONE = (str, bytes, os.PathLike, np.ndarray, Description)
"""What may be given without a name, where a schema has one field."""


_LONE = re.compile("[\ud800-\udfff]")


class Query(NamedTuple):
    """A document to find others for; `identified` if its id is one of the collection's."""

    document: Document
    identified: bool

    def is_itself(self, document_id: str | int) -> bool:
        return self.identified and document_id == self.document.id


def as_query(given: Any, schema: Schema) -> Query:
    """Convert a query to a document: a `Document`, a text, or a mapping of fields."""
    if isinstance(given, Document):
        return Query(given, identified=True)
    if isinstance(given, (*ALONE, Mapping)):
        return Query(Document("", as_fields(given, schema)), identified=False)
    raise InputError(f"a query must be a text, a mapping of fields or a Document, got {type(given).__name__}")


def as_document(given: Any, schema: Schema) -> Document:
    """Convert a value accepted by `Index.add` to a document.

    >>> as_document((7, "some text"), Schema())
    Document(id=7, fields={'text': 'some text'})
    >>> as_document({"id": 7, "text": "some text"}, Schema())
    Document(id=7, fields={'text': 'some text'})
    """
    if isinstance(given, Document):
        return given
    if isinstance(given, tuple) and len(given) == 2:
        return Document(given[0], as_fields(given[1], schema))
    if isinstance(given, Mapping) and "id" in given:
        return Document(given["id"], {name: value for name, value in given.items() if name != "id"})
    raise InputError(
        f'a document must be a Document, an (id, text) pair or a mapping with an "id", got {given!r:.80}'
    )


def check_id(document: Document) -> Document:
    """Raise an error for an id that a corpus, or UTF-8, cannot represent.

    >>> check_id(Document(2**70, "a text"))
    Traceback (most recent call last):
    benzer.errors.InputError: the id 1180591620717411303424 is beyond 64 bits: pass it as text
    """
    if isinstance(document.id, int) and not -(2**63) <= document.id < 2**63:
        raise InputError(f"the id {document.id} is beyond 64 bits: pass it as text")
    if isinstance(document.id, str) and not document.id.isascii() and _LONE.search(document.id):
        raise InputError(
            f"the id {document.id!r} contains a lone surrogate: use an id that can be encoded as UTF-8"
        )
    return document


def ids_of(text: str) -> Iterator[str | int]:
    """Yield the ids that a text in a path or on a command line can represent: the text, then the integer written so.

    >>> list(ids_of("7")), list(ids_of("-7")), list(ids_of("07"))
    (['7', 7], ['-7', -7], ['07'])
    """
    yield text
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 20 and str(int(text)) == text:
        yield int(text)


def as_fields(given: Any, schema: Schema) -> Mapping[str, Any]:
    """Return a text, or the path or array of an image, as the only field of a schema; a mapping is not changed."""
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, ALONE):
        raise InputError(f"content must be a text or a mapping of fields, got {type(given).__name__}")
    names = list(schema.fields)
    if len(names) > 1:
        raise InputError(f"a text is ambiguous for the fields {', '.join(names)}: use a mapping of fields")
    return {names[0]: given}


_READ_AT_ONCE = 500
_ALL = 100_000
"""Numbers that are all looked at, to find those of documents that are held."""
_TRIES = 20  # draws that may fall on numbers of removed documents, for each that is wanted


def last_number(storage: Storage) -> int:
    """Return the highest number of a stored document; -1 if there is none."""
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
    """Return numbers of documents in a seeded order: all if there are at most `count`.

    If most documents were removed, fewer than `count` may be returned.
    """
    end = last_number(storage) + 1
    generator = np.random.default_rng(seed)
    if end <= max(4 * count, _ALL):
        numbers = generator.permutation(end).astype(np.int64)
        return numbers[storage.stored(numbers)][:count] if end else numbers
    candidates = np.empty(0, np.int64)
    for _ in range(_TRIES):
        if len(candidates) >= count:
            break
        drawn = generator.integers(0, end, size=count)
        drawn = drawn[storage.stored(drawn)]
        candidates = np.concatenate((candidates, drawn))
        candidates = candidates[np.sort(np.unique(candidates, return_index=True)[1])]
    return candidates[:count]


def fitting(
    storage: Storage, numbers: NDArray[np.int64], most_bytes: int | None
) -> tuple[list[DocumentId], list[bytes]]:
    """Return as many of the first documents as have `most_bytes` bytes together, in order of arrival.

    Returns at least one, however long it is.
    """
    chosen: list[tuple[int, bytes]] = []
    total = 0
    for start in range(0, len(numbers), _READ_AT_ONCE):
        some = numbers[start : start + _READ_AT_ONCE]
        for number, payload in zip(some.tolist(), storage.payloads(some), strict=True):
            total += len(payload)
            if most_bytes is not None and total > most_bytes and chosen:
                break
            chosen.append((number, payload))
        else:
            continue
        break
    chosen.sort()
    return storage.ids([number for number, _ in chosen]), [payload for _, payload in chosen]


def check_draw(count: int, most_bytes: int | None, seed: int) -> None:
    """Raise an error for an invalid number of documents or bytes."""
    for name, value in {"count": count, "most_bytes": most_bytes}.items():
        if value is not None and (not is_number(value) or value != int(value) or value < 1):
            raise SettingsError(f"{name} must be 1 or more, got {value!r}")
    given: object = seed  # callers without a type checker may give anything
    if not isinstance(given, int) or given < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {seed!r}")
