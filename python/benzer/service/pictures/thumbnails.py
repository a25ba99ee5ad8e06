"""Storage of thumbnails next to the index, which stores only descriptions.

A thumbnail is stored under the id and field of a document, with a digest of the description in the index. It is
written before the document and returned only while the digests are equal. After an acknowledged write it exists,
after a failed write it may be missing, and the image of another document is never returned.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

from benzer.document import Description, Document
from benzer.service.pictures.copies import Thumbnail
from benzer.storage import DocumentId, is_url

ENDING = ".thumbnails"
LOG = logging.getLogger("benzer.service")
MEDIA_TYPES = ("image/jpeg", "image/png")
_AT_ONCE = 500


class Kept(NamedTuple):
    """A thumbnail to store: its document and field, and the digest of the description."""

    id: DocumentId
    field: str
    digest: bytes
    thumbnail: Thumbnail


class Thumbnails(Protocol):
    """Storage for thumbnails. All methods are thread-safe."""

    def put(self, copies: Iterable[Kept]) -> None:
        """Store thumbnails durably; they replace those of the same documents and fields."""

    def find(self, id: DocumentId, field: str) -> tuple[bytes, Thumbnail] | None:
        """The stored digest and thumbnail of a field of a document."""

    def remove(self, ids: Iterable[DocumentId]) -> None:
        """Delete all thumbnails of some documents."""

    def close(self) -> None:
        """Close the storage."""


def thumbnails_beside(location: str | os.PathLike[str]) -> Thumbnails:
    """The thumbnail storage of an index; it is created with the first thumbnail."""
    if is_url(location):
        return RedisThumbnails(os.fspath(location))
    return FileThumbnails(Path(os.fspath(location) + ENDING))


def digest_of(description: bytes) -> bytes:
    """The digest of a description: 16 bytes."""
    return hashlib.blake2b(description, digest_size=16).digest()


def stored_thumbnail(thumbnails: Thumbnails, document: Document, field: str) -> Thumbnail | None:
    """The thumbnail of a document, if it belongs to the current image of the document."""
    content = document.fields.get(field)
    kept = thumbnails.find(document.id, field) if isinstance(content, Description) else None
    if kept is None or not isinstance(content, Description) or kept[0] != digest_of(content.data):
        return None
    return kept[1]


def urls_of(thumbnails: Thumbnails, index: str, document: Document) -> dict[str, str]:
    """The addresses of the thumbnails of a document, by field."""
    pictures = [name for name, content in document.fields.items() if isinstance(content, Description)]
    return {
        name: url_of(index, document.id, name)
        for name in pictures
        if stored_thumbnail(thumbnails, document, name) is not None
    }


def url_of(index: str, id: DocumentId, field: str) -> str:
    """The address of a thumbnail.

    >>> url_of("photos", "a/b", "photo")
    '/v1/indexes/photos/thumbnail?id=a%2Fb&field=photo'
    >>> url_of("photos", 7, "photo")  # not that of "7"
    '/v1/indexes/photos/thumbnail?id=7&field=photo&number=true'
    """
    query = {"id": id, "field": field} | ({"number": "true"} if isinstance(id, int) else {})
    return f"/v1/indexes/{index}/thumbnail?{urlencode(query, errors='surrogatepass')}"


def name_of(id: DocumentId) -> str:
    """An id as text; 1 and "1" give different texts.

    >>> name_of("1"), name_of(1)
    ('s1', 'i1')
    """
    return f"s{id}" if isinstance(id, str) else f"i{id}"


class FileThumbnails:
    """Thumbnails in a SQLite file, which is created with the first one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def put(self, copies: Iterable[Kept]) -> None:
        """See `Thumbnails`."""
        rows = [
            (
                name_of(copy.id),
                copy.field,
                copy.digest,
                MEDIA_TYPES.index(copy.thumbnail.media_type),
                copy.thumbnail.data,
            )
            for copy in copies
        ]
        if rows:
            self._run("INSERT OR REPLACE INTO thumbnail VALUES (?, ?, ?, ?, ?)", rows)

    def find(self, id: DocumentId, field: str) -> tuple[bytes, Thumbnail] | None:
        """See `Thumbnails`."""
        with self._lock:
            try:
                connection = self._opened(make=False)
                if connection is None:
                    return None
                select = "SELECT digest, media_type, data FROM thumbnail WHERE id = ? AND field = ?"
                row = connection.execute(select, (name_of(id), field)).fetchone()
            except (sqlite3.Error, UnicodeEncodeError) as error:
                LOG.warning("a thumbnail cannot be read: %s", error)
                return None
        return None if row is None else (row[0], Thumbnail(MEDIA_TYPES[row[1]], row[2]))

    def remove(self, ids: Iterable[DocumentId]) -> None:
        """See `Thumbnails`."""
        if self.path.exists():
            self._run("DELETE FROM thumbnail WHERE id = ?", [(name_of(id),) for id in ids])

    def close(self) -> None:
        """See `Thumbnails`."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        with self._lock:
            try:
                connection = self._opened(make=True)
                if connection is not None:
                    with connection:
                        connection.executemany(statement, rows)
            except sqlite3.Error as error:  # a thumbnail error must not lose the document
                LOG.warning("%d thumbnails cannot be changed: %s", len(rows), error)

    def _opened(self, make: bool) -> sqlite3.Connection | None:
        if self._connection is None and (make or self.path.exists()):
            connection = sqlite3.connect(self.path, timeout=1.0, check_same_thread=False)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS thumbnail (id TEXT, field TEXT, digest BLOB, media_type INTEGER, "
                "data BLOB, PRIMARY KEY (id, field))"
            )
            self._connection = connection
        return self._connection


class RedisThumbnails:
    """Thumbnails in the Redis server of the index, one key each; they expire with the documents."""

    def __init__(self, location: str) -> None:
        from benzer.storage.redis.address import read_address

        self._address = read_address(location)
        self._client = self._address.client()

    def put(self, copies: Iterable[Kept]) -> None:
        """See `Thumbnails`."""
        by_document: dict[DocumentId, dict[str, bytes]] = {}
        for copy in copies:
            kind = bytes([MEDIA_TYPES.index(copy.thumbnail.media_type)])
            by_document.setdefault(copy.id, {})[copy.field] = copy.digest + kind + copy.thumbnail.data
        self._each(
            by_document,
            lambda pipe, id: (
                pipe.hset(self._key(id), mapping=by_document[id]),
                pipe.expire(self._key(id), self._address.ttl) if self._address.ttl else None,
            ),
        )

    def find(self, id: DocumentId, field: str) -> tuple[bytes, Thumbnail] | None:
        """See `Thumbnails`."""
        try:
            value = self._client.hget(self._key(id), field)
        except self._errors() as error:
            LOG.warning("a thumbnail cannot be read: %s", error)
            return None
        return None if value is None else (value[:16], Thumbnail(MEDIA_TYPES[value[16]], value[17:]))

    def remove(self, ids: Iterable[DocumentId]) -> None:
        """See `Thumbnails`."""
        self._each(list(ids), lambda pipe, id: pipe.unlink(self._key(id)))

    def close(self) -> None:
        """See `Thumbnails`."""
        self._client.close()

    def _each(self, ids: Iterable[DocumentId] | Mapping[DocumentId, Any], ask: Any) -> None:
        listed = list(ids)
        try:
            for start in range(0, len(listed), _AT_ONCE):
                pipe = self._client.pipeline(transaction=False)
                for id in listed[start : start + _AT_ONCE]:
                    ask(pipe, id)
                pipe.execute()
        except self._errors() as error:  # a thumbnail error must not lose the document
            LOG.warning("%d thumbnails cannot be changed: %s", len(listed), error)

    def _key(self, id: DocumentId) -> bytes:
        name = hashlib.blake2b(name_of(id).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return b"{%s}:thumbnail:" % self._address.prefix.encode() + name

    def _errors(self) -> Any:
        import redis

        return redis.RedisError
