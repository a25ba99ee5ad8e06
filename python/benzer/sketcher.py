"""Converts documents to sketches: fields, signature and bands."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import Rules, band_keys, jaccard
from benzer.bands import Bands
from benzer.corpus import content_of, corpus_of, weighted_means
from benzer.document import Document, FieldValue
from benzer.errors import InputError, SettingsError
from benzer.fields import Schema
from benzer.fields.base import Field, has_own_similarity
from benzer.fields.text import Text, text_content
from benzer.minhash import MinHash

LENGTH = struct.Struct("<I")
FEW = 32
MISSING = 0xFFFFFFFF


@dataclass(frozen=True)
class Sketches:
    """What is known of each document of a corpus, by position.

    keys: band keys, uint64, n x (fields * bands).
    content: a 128-bit hash of the content as it is compared, uint64, n x 2.
    sizes: shingles with repeats, uint32, n x fields.
    units: tokens (characters, values), uint32, n x fields.
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

    keys: its band keys, uint64, 1 x (fields * bands).
    """

    @property
    def keys(self) -> NDArray[np.uint64]: ...

    def best(
        self, kept: Sequence[bytes], least: float, limit: int | None
    ) -> list[tuple[int, float, list[float]]]:
        """The most similar of encoded documents, and of equal similarity the first: at most `limit`.

        Of each its place, its exact similarity, at least `least`, and that of each field, not-a-number where
        one of the two lacks it.
        """
        ...


@dataclass(frozen=True)
class Sketcher:
    """Reads documents by a schema, sketches them by a MinHash, files them under bands.

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

    def corpus(self, threads: int = 0) -> Any:
        """An empty corpus of these fields (see `benzer.corpus`)."""
        return corpus_of(self.schema, threads)

    def sketch(
        self,
        corpus: Any,
        threads: int = 0,
        progress: Callable[[int, int], object] | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> Sketches:
        """Sketch the documents of a corpus from `start` to `end`, by default all.

        About a millisecond a megabyte of text and thread.
        """
        return Sketches(*corpus.sketch(*self._plan, threads, progress, start, end))

    def announce(self, corpus: Any) -> None:
        """Say that this will sketch all documents which come from now on.

        The native corpus then does it while it reads them, from JSONL, and hands it out when it is asked for: that
        saves a second look at each text, and takes 8 bytes a band key and 24 a document until then.
        """
        if hasattr(corpus, "sketch_ahead"):
            corpus.sketch_ahead(*self._plan)

    @property
    def _plan(self) -> tuple[str, str, int, int, int, int]:
        minhash, bands = self.minhash, self.bands
        return (minhash.algorithm, minhash.family, minhash.num_hashes, minhash.seed, bands.bands, bands.rows)

    def short(self, sketches: Sketches) -> NDArray[np.bool_]:
        """Documents that are not empty and shorter than one shingle in every text field (bool, n)."""
        sizes = [getattr(field, "shingle_size", 1) for field in self.schema.fields.values()]
        nowhere_whole = (sketches.units < np.array(sizes, dtype=np.uint32)).all(axis=1)
        short: NDArray[np.bool_] = nowhere_whole & ~sketches.empty
        return short

    def signatures(self, documents: Sequence[Document], threads: int = 0) -> dict[str, NDArray[np.uint32]]:
        """The signatures (uint32, n x num_hashes) of each field; that of an empty or missing content is empty."""
        found = {}
        if threads == 0 and len(documents) < FEW:
            threads = 1  # starting threads takes longer than a few documents
        for name, field in self.schema.fields.items():
            offsets, hashes = field.sets([content_of(document, name) for document in documents], threads)
            found[name] = self.minhash.signatures(offsets, hashes, threads, hashed=True)
        return found

    def keys(self, documents: Sequence[Document], threads: int = 0) -> NDArray[np.uint64]:
        """Band keys (uint64, n x (fields * bands)); no document is kept."""
        signatures = self.signatures(documents, threads).values()
        bands, rows = self.bands.bands, self.bands.rows
        return np.concatenate(
            [band_keys(one, bands, rows, number) for number, one in enumerate(signatures)], axis=1
        )

    @cached_property
    def rules(self) -> Rules | None:
        """The same natively, where all fields are texts; None where the core does not read one as it is kept."""
        fields = list(self.schema.fields.values())
        readers = [field.reader for field in fields if type(field) is Text]
        if len(readers) < len(fields):
            return None
        minhash, bands = self.minhash, self.bands
        how = (minhash.algorithm, minhash.family, minhash.num_hashes, minhash.seed)
        return Rules(readers, self.schema.weights, *how, bands.bands, bands.rows)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "rules"}

    def filed(
        self, documents: Sequence[Document], threads: int = 0
    ) -> tuple[list[bytes], NDArray[np.uint64]]:
        """What is kept of documents and under which keys: `encode` and `keys` in one pass."""
        if self.rules is None:
            return self.encode(documents), self.keys(documents, threads)
        return self.rules.file(self._texts(documents), threads)

    def ask(self, documents: Sequence[Document], threads: int = 0) -> Sequence[SketchedQuery]:
        """Documents to compare others with, read once."""
        if self.rules is None:
            keys = self.keys(documents, threads)
            return [_Plainly(self, document, keys[at : at + 1]) for at, document in enumerate(documents)]
        return self.rules.ask(self._texts(documents), threads)

    def _texts(self, documents: Sequence[Document]) -> list[list[str | bytes | None]]:
        names, found = list(self.schema.fields), []
        for document in documents:
            check_fields(document, self.schema)
            contents = map(document.fields.get, names)
            found.append([one if one is None or type(one) is str else text_content(one) for one in contents])
        return found

    def encode(self, documents: Sequence[Document]) -> list[bytes]:
        """Each document's fields as bytes: for each its length (uint32) and content."""
        return [b"".join(self._encoded(document)) for document in documents]

    def _encoded(self, document: Document) -> Iterator[bytes]:
        check_fields(document, self.schema)
        for name, field in self.schema.fields.items():
            content = content_of(document, name)
            data = b"" if content is None else field.encode(content)
            yield LENGTH.pack(MISSING if content is None else len(data)) + data

    def decode(self, document_id: str | int, payload: bytes) -> Document:
        """The document that `encode` was given."""
        fields = zip(self.schema.fields.items(), self.parts(payload), strict=True)
        return Document(
            document_id,
            {name: None if data is None else field.decode(data) for (name, field), data in fields},
        )

    def parts(self, payload: bytes) -> Iterator[bytes | None]:
        """The encoded content of each field, in order; None where the document lacks it."""
        at = 0
        for _ in self.schema.fields:
            (length,) = LENGTH.unpack_from(payload, at)
            at += LENGTH.size
            missing = length == MISSING
            yield None if missing else payload[at : at + length]
            at += 0 if missing else length

    def similarities(
        self, document: Document, payloads: Sequence[bytes], threads: int = 1
    ) -> NDArray[np.float64]:
        """The exact similarity of a document to each encoded one (float64, m x (1 + fields)).

        Column 0 is the weighted mean over the fields that both hold and that are not empty in both; the others
        are the fields' own, not-a-number where one of the two lacks the field.
        """
        check_fields(document, self.schema)
        parts = [tuple(self.parts(payload)) for payload in payloads]
        count = len(payloads)
        table = np.full((count, 1 + len(self.schema.fields)), np.nan)
        counted, nothing = np.full((count, len(self.schema.fields)), np.nan), np.ones(count, dtype=bool)
        for number, (name, field) in enumerate(self.schema.fields.items()):
            content = content_of(document, name)
            others = [part[number] for part in parts]
            similarity, both_empty = one_against(field, content, others)
            nothing &= both_empty
            held = np.array([content is not None and other is not None for other in others], dtype=bool)
            table[held, 1 + number] = similarity[held]
            counts = held & ~both_empty
            counted[counts, number] = similarity[counts]
        table[:, 0] = weighted_means(counted, self.schema.weights, nothing)
        return table


@dataclass(frozen=True)
class _Plainly:
    """A `SketchedQuery` of any fields."""

    sketcher: Sketcher
    document: Document
    keys: NDArray[np.uint64]

    def best(
        self, kept: Sequence[bytes], least: float, limit: int | None
    ) -> list[tuple[int, float, list[float]]]:
        contents = {payload: row for row, payload in enumerate(dict.fromkeys(kept))}  # compared once each
        table = self.sketcher.similarities(self.document, list(contents))
        rows = np.array([contents[payload] for payload in kept], dtype=np.int64)
        similarity = table[rows, 0]
        best = [at for at in np.argsort(-similarity, kind="stable").tolist() if similarity[at] >= least]
        return [(at, float(similarity[at]), table[rows[at], 1:].tolist()) for at in best[:limit]]


def one_against(
    field: Field, content: FieldValue, others: Sequence[bytes | None]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The exact similarity of one content to encoded others, and where both are empty."""
    _, own = field.sets([content])
    offsets, hashes = field.encoded_sets(others)
    offsets = np.concatenate((np.array([0, len(own)], dtype=np.int64), offsets[1:] + len(own)))
    both_empty = np.full(len(others), not len(own)) & (np.diff(offsets)[1:] == 0)
    if has_own_similarity(field) and content is not None:
        return field.compare(field.encode(content), [other or b"" for other in others]), both_empty
    left = np.zeros(len(others), dtype=np.uint32)
    right = np.arange(1, len(others) + 1, dtype=np.uint32)
    return jaccard(offsets, np.concatenate((own, hashes)), left, right, 1), both_empty


def check_fields(document: Document, schema: Schema) -> None:
    """Refuse a document with a field that the schema does not know: it would be lost in silence."""
    given = document.fields.keys()
    if given and given <= schema.fields.keys():
        return
    unknown = [name for name in document.fields if name not in schema.fields]
    if unknown:
        known = ", ".join(schema.fields)
        raise InputError(f"{named(document)} has a field {unknown[0]!r}; the schema has {known}")
    if not any(name in document.fields for name in schema.fields):
        raise InputError(f"{named(document)} has none of the schema's fields: {', '.join(schema.fields)}")


def named(document: Document) -> str:
    """A document in a message; what only asks has no id."""
    return "the document" if document.id == "" else f"document {document.id!r}"
