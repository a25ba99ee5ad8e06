"""Converts documents to sketches: fields, signature and bands."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import Overlaps, Rules
from benzer.bands import Bands
from benzer.contents import given_sets, own_fields, similarities
from benzer.corpora import DocumentCorpus
from benzer.corpus import content_of, corpus_of
from benzer.document import Document
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.fields.base import Sets
from benzer.fields.text import Text, text_content
from benzer.fields.values import values
from benzer.minhash import MinHash

LENGTH = struct.Struct("<I")
FEW = 32
MISSING = 0xFFFFFFFF


@dataclass(frozen=True)
class Sketches:
    """The sketches of the documents of a corpus, by position.

    Attributes:
        keys: Band keys (uint64, n x (fields * bands)).
        content: A 128-bit hash of the compared content (uint64, n x 2).
        sizes: Number of shingles with repetitions (uint32, n x fields).
        units: Number of tokens, characters or values (uint32, n x fields).
    """

    keys: NDArray[np.uint64]
    content: NDArray[np.uint64]
    sizes: NDArray[np.uint32]
    units: NDArray[np.uint32]

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Documents without a shingle in any field (bool, n)."""
        nothing: NDArray[np.bool_] = (self.sizes == 0).all(axis=1)
        return nothing


class SketchedQuery(Protocol):
    """A document that others are compared with.

    Attributes:
        keys: Its band keys (uint64, 1 x (fields * bands)).
    """

    @property
    def keys(self) -> NDArray[np.uint64]: ...

    def best(
        self, kept: Sequence[bytes], least: float, limit: int | None
    ) -> list[tuple[int, float, list[float] | None]]:
        """Return the most similar of encoded documents, at most `limit`; of equal similarity the first.

        Returns:
            For each match its position, its exact similarity, at least `least`, and the similarity of each field,
            not-a-number if one of the two lacks it. The last may be None if the only field has the similarity of the
            documents.
        """
        ...

    def similarities(self, kept: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the exact similarity of each encoded document, then of each field (float64, n x (1 + fields))."""
        ...

    def overlaps(self, kept: Sequence[bytes]) -> Overlaps:
        """Return the elements that encoded documents (left) share with this one (right)."""
        ...


@dataclass(frozen=True)
class Sketcher:
    """Converts documents to signatures and band keys, with one schema, MinHash and bands.

    >>> sketcher = Sketcher(Schema(), MinHash(num_hashes=40), Bands(8, 5))
    >>> sketcher.keys([Document("a", "to be or not to be"), Document("b", "")]).shape
    (2, 8)
    """

    schema: Schema
    minhash: MinHash
    bands: Bands

    def __post_init__(self) -> None:
        if self.minhash.algorithm == "bottomk":
            raise SettingsError("bottomk signatures have no bands: use minhash 'fast' or 'kmins'")
        if self.bands.num_values > self.minhash.num_hashes:
            raise SettingsError(
                f"{self.bands.bands} bands of {self.bands.rows} rows need {self.bands.num_values} values, but "
                f"num_hashes is {self.minhash.num_hashes}: raise num_hashes"
            )

    def corpus(self, threads: int = 0) -> DocumentCorpus:
        """Return an empty corpus for these fields (see `benzer.corpus`)."""
        return corpus_of(self.schema, threads)

    def sketch(
        self,
        corpus: DocumentCorpus,
        threads: int = 0,
        progress: Callable[[int, int], object] | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> Sketches:
        """Sketch the documents of a corpus from `start` to `end`, by default all.

        Takes about a millisecond per megabyte of text and thread.
        """
        return Sketches(*corpus.sketch(*self._plan, threads, progress, start, end))

    def announce(self, corpus: DocumentCorpus) -> None:
        """Declare that this sketcher will sketch all documents which are added from now on.

        The native corpus then sketches documents while it reads them from JSONL, and returns the sketches later. This
        avoids reading each text twice, and takes 8 bytes per band key and 24 per document until then.
        """
        if hasattr(corpus, "sketch_ahead"):
            corpus.sketch_ahead(*self._plan)

    @property
    def _plan(self) -> tuple[str, str, int, int, int, int]:
        minhash, bands = self.minhash, self.bands
        return (minhash.algorithm, minhash.family, minhash.num_hashes, minhash.seed, bands.bands, bands.rows)

    def short(self, sketches: Sketches) -> NDArray[np.bool_]:
        """Return the documents that are not empty and shorter than one shingle in every text field (bool, n)."""
        sizes = [getattr(field, "shingle_size", 1) for field in self.schema.fields.values()]
        nowhere_whole = (sketches.units < np.array(sizes, dtype=np.uint32)).all(axis=1)
        short: NDArray[np.bool_] = nowhere_whole & ~sketches.empty
        return short

    def signatures(self, documents: Sequence[Document], threads: int = 0) -> dict[str, NDArray[np.uint32]]:
        """Return the signatures of each field (uint32, n x num_hashes); empty for an empty or missing content."""
        signatures = {}
        if threads == 0 and len(documents) < FEW:
            threads = 1  # starting threads takes longer than a few documents
        for name, field in self.schema.fields.items():
            offsets, hashes = field.sets([content_of(document, name) for document in documents], threads)
            signatures[name] = self.minhash.signatures(offsets, hashes, threads, hashed=True)
        return signatures

    def keys(self, documents: Sequence[Document], threads: int = 0) -> NDArray[np.uint64]:
        """Return band keys (uint64, n x (fields * bands)) without storing a document."""
        return self.filed(documents, threads)[1]

    @cached_property
    def rules(self) -> Rules:
        """The rules by which the native core reads, files and compares encoded documents."""
        minhash, bands = self.minhash, self.bands
        how = (minhash.algorithm, minhash.family, minhash.num_hashes, minhash.seed)
        return Rules(self.schema.stored_readers(), self.schema.weights, *how, bands.bands, bands.rows)

    @cached_property
    def _calls_back(self) -> bool:
        """Whether the core cannot compare all fields alone."""
        return "hashes" in self.schema.stored_readers() or bool(own_fields(self.schema))

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def filed(
        self, documents: Sequence[Document], threads: int = 0
    ) -> tuple[list[bytes], NDArray[np.uint64]]:
        """Return the encoded documents (see `encode`) and their keys (uint64, n x (fields * bands))."""
        contents = [self._contents(document, self._encoders) for document in documents]
        return self.rules.file(contents, threads, self._given(contents))

    def ask(self, documents: Sequence[Document], threads: int = 0) -> Sequence[SketchedQuery]:
        """Return documents to compare others with, which are read once."""
        contents = [self._contents(document, self._readers) for document in documents]
        questions = self.rules.ask(contents, threads, self._given(contents))
        if not self._calls_back:
            return questions
        return [_WithCallbacks(self, *pair) for pair in zip(questions, contents, strict=True)]

    @cached_property
    def _encoders(self) -> list[tuple[str, Callable[[Any], Any]]]:
        """A function per field that encodes a content for storage; texts are not changed."""
        fields = self.schema.fields.items()
        return [(name, text_content if type(field) is Text else field.encode) for name, field in fields]

    @cached_property
    def _readers(self) -> list[tuple[str, Callable[[Any], Any]]]:
        """The same for contents that are not stored: values are not changed either."""
        fields = zip(self._encoders, self.schema.stored_readers(), strict=True)
        return [(name, values if reader == "values" else encode) for (name, encode), reader in fields]

    def _contents(self, document: Document, read: Sequence[tuple[str, Callable[[Any], Any]]]) -> list[Any]:
        """Return the content of each field of a document, None for a missing one."""
        check_fields(document, self.schema)
        contents = document.fields
        return [None if (item := contents.get(name)) is None else convert(item) for name, convert in read]

    def _given(self, contents: Sequence[Sequence[Any]]) -> dict[int, Sets] | None:
        """Return the sets of the fields that the core cannot read."""
        return given_sets(self.schema, columns(self.schema, contents)) if self._calls_back else None

    def encode(self, documents: Sequence[Document]) -> list[bytes]:
        """Return each document's fields as bytes: the length (uint32) and the content of each."""
        return [b"".join(self._encoded(document)) for document in documents]

    def _encoded(self, document: Document) -> Iterator[bytes]:
        check_fields(document, self.schema)
        for name, field in self.schema.fields.items():
            content = content_of(document, name)
            data = b"" if content is None else field.encode(content)
            yield LENGTH.pack(MISSING if content is None else len(data)) + data

    def decode(self, document_id: str | int, payload: bytes) -> Document:
        """Return the document that was encoded."""
        fields = zip(self.schema.fields.items(), self.parts(payload), strict=True)
        return Document(
            document_id,
            {name: None if data is None else field.decode(data) for (name, field), data in fields},
        )

    def parts(self, payload: bytes) -> Iterator[bytes | None]:
        """Yield the encoded content of each field, in order; None for a missing one."""
        position = 0
        for _ in self.schema.fields:
            (length,) = LENGTH.unpack_from(payload, position)
            position += LENGTH.size
            missing = length == MISSING
            yield None if missing else payload[position : position + length]
            position += 0 if missing else length


@dataclass(frozen=True)
class _WithCallbacks:
    """A `SketchedQuery` with fields that are read or compared by their own methods."""

    sketcher: Sketcher
    question: Any
    contents: Sequence[bytes | None]

    @property
    def keys(self) -> NDArray[np.uint64]:
        keys: NDArray[np.uint64] = self.question.keys
        return keys

    def best(
        self, kept: Sequence[bytes], least: float, limit: int | None
    ) -> list[tuple[int, float, list[float] | None]]:
        contents = {payload: row for row, payload in enumerate(dict.fromkeys(kept))}  # compared once each
        table = self.similarities(list(contents))
        rows = np.array([contents[payload] for payload in kept], dtype=np.int64)
        similarity = table[rows, 0]
        best = [
            position
            for position in np.argsort(-similarity, kind="stable").tolist()
            if similarity[position] >= least
        ]
        return [
            (position, float(similarity[position]), table[rows[position], 1:].tolist())
            for position in best[:limit]
        ]

    def overlaps(self, kept: Sequence[bytes]) -> Overlaps:
        return self._overlaps(kept, self._columns(kept))

    def similarities(self, kept: Sequence[bytes]) -> NDArray[np.float64]:
        schema, others = self.sketcher.schema, self._columns(kept)
        # The document in question comes first here, so that a field compares it once with all others.
        item, places = np.zeros(len(kept), dtype=np.uint32), np.arange(len(kept), dtype=np.uint32)
        own = {number: [content] for number, content in enumerate(self.contents)}
        overlaps = self._overlaps(kept, others)
        return similarities(schema, overlaps, item, places, own, dict(enumerate(others)))

    def _columns(self, kept: Sequence[bytes]) -> list[list[bytes | None]]:
        return columns(self.sketcher.schema, [tuple(self.sketcher.parts(payload)) for payload in kept])

    def _overlaps(self, kept: Sequence[bytes], columns: Sequence[Sequence[bytes | None]]) -> Overlaps:
        overlaps: Overlaps = self.question.overlaps(kept, given_sets(self.sketcher.schema, columns))
        return overlaps


def columns(schema: Schema, rows: Sequence[Sequence[bytes | None]]) -> list[list[bytes | None]]:
    """Transpose contents by document to contents by field."""
    return [[row[number] for row in rows] for number in range(len(schema.fields))]


def check_fields(document: Document, schema: Schema) -> None:
    """Raise an error for a field that the schema does not contain: its content would be lost silently."""
    given = document.fields.keys()
    if given and given <= schema.fields.keys():
        return
    unknown = [name for name in document.fields if name not in schema.fields]
    if unknown:
        known = ", ".join(schema.fields)
        raise InputError(f"{named(document)} has an unknown field {unknown[0]!r}: use {known}")
    if not any(name in document.fields for name in schema.fields):
        raise InputError(f"{named(document)} has no field of the schema: use {', '.join(schema.fields)}")


def named(document: Document) -> str:
    """Return the name of a document in a message; a query has no id."""
    return "the document" if document.id == "" else f"document {document.id!r}"
