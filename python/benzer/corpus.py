"""The documents of a run: the native corpus, and content that it cannot store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer._native import Contents, Corpus
from benzer.contents import Encoded, own_fields, similarities
from benzer.corpora import DocumentCorpus
from benzer.document import Document, FieldValue
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.fields.base import described

Positions = NDArray[np.uint32]
Refused = list[tuple[int, str]]


def corpus_of(schema: Schema, threads: int = 0) -> DocumentCorpus:
    """Return an empty corpus for documents of these fields: the native corpus if it supports them all.

    >>> type(corpus_of(Schema())).__name__
    'Corpus'
    """
    if schema.foreign:
        return DescribedCorpus(schema, threads)
    return Corpus(schema.readers())


class _Described(NamedTuple):
    """The descriptions of one field of some documents, their sets, and the contents that cannot be read."""

    kept: list[bytes | None]
    sets: list[NDArray[np.uint64] | None]
    faults: dict[int, str]


class DescribedCorpus:
    """A corpus with fields that the native core does not read, such as images.

    Each content is described once, when it is added; the native corpus stores the sets of the descriptions. If a
    field's similarity is more than that of its sets, its descriptions stay in memory (the field states their size).
    Sources add documents as to the native corpus, and receive the rows that could not be read.
    """

    def __init__(self, schema: Schema, threads: int = 0) -> None:
        self._schema = schema
        self._threads = threads
        self._native = Corpus(schema.readers())
        self._kept: dict[int, list[bytes | None]] = {number: [] for number in own_fields(schema)}

    def __len__(self) -> int:
        return len(self._native)

    def name_source(self, source: int, name: str) -> None:
        """Set the name that generated ids begin with."""
        self._native.name_source(source, name)

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Iterable[str | int | None],
        fields: Sequence[Iterable[FieldValue]],
        extras: Sequence[bytes | None] | None = None,
    ) -> Refused:
        """Add documents; return the rows that have a field that cannot be read, each with the reason."""
        columns = [list(column) for column in fields]
        described: dict[int, _Described] = {}
        for number, (name, field) in enumerate(self._schema.fields.items()):
            if name in self._schema.foreign:
                described[number] = _describe(field, columns[number], self._threads)
                columns[number] = described[number].sets  # type: ignore[assignment]
        faults = {
            position: why for item in reversed(described.values()) for position, why in item.faults.items()
        }
        stay = [number for number in range(len(rows)) if number not in faults]
        for number, kept in self._kept.items():
            kept.extend(described[number].kept[position] for position in stay)
        listed = list(ids)
        self._native.add(
            source,
            [rows[position] for position in stay],
            [listed[position] for position in stay],
            [[column[position] for position in stay] for column in columns],
            None if extras is None else [extras[position] for position in stay],
        )
        return [(rows[position], faults[position]) for position in sorted(faults)]

    def add_jsonl(self, **options: Any) -> tuple[int, list[tuple[int, str]]]:
        """Raise the error of the native corpus: its scanner reads only texts."""
        return self._native.add_jsonl(**options)

    def ids(self, positions: Positions | Sequence[int] | None = None) -> list[str | int]:
        """Return the ids at some positions, or all."""
        return self._native.ids(positions)

    def repeated_ids(self, threads: int = 0) -> tuple[Positions, Positions]:
        """Return the documents that repeat the id of an earlier one: the first with that id, and the own position."""
        return self._native.repeated_ids(threads)

    def make_ids(self, positions: Positions) -> None:
        """Replace the ids of some documents by generated ones."""
        self._native.make_ids(positions)

    def scope_ids(self) -> None:
        """Put the name of its source before each given id."""
        self._native.scope_ids()

    def remove(self, positions: Positions) -> None:
        """Remove some documents."""
        gone = set(positions.tolist())
        for number, kept in self._kept.items():
            self._kept[number] = [content for place, content in enumerate(kept) if place not in gone]
        self._native.remove(positions)

    def sources(self) -> NDArray[np.uint32]:
        """Return the source of each document."""
        return self._native.sources()

    def rows(self) -> NDArray[np.uint64]:
        """Return the row of each document in its source, from 1."""
        return self._native.rows()

    def text(self, position: int, field: int) -> str | None:
        """Return the text of a text field of a document."""
        return self._native.text(position, field)

    def extras(self) -> list[bytes | None]:
        """Return the extra value of each document, as JSON."""
        return self._native.extras()

    def check_files(self) -> None:
        """Raise an error if a mapped file was truncated since it was read."""
        self._native.check_files()

    def lengths(self) -> NDArray[np.uint64]:
        """Return for each document the bytes of its texts in memory plus the elements of its other fields."""
        return self._native.lengths()

    def text_sizes(self, positions: Positions, threads: int) -> NDArray[np.uint64]:
        """Return the same for some documents, without the escapes of their source's format."""
        return self._native.text_sizes(positions, threads)

    def text_lengths(self, positions: Positions, threads: int) -> NDArray[np.uint64]:
        """Return the code points of some documents' texts plus the elements of their other fields."""
        return self._native.text_lengths(positions, threads)

    def missing(self, field: int) -> NDArray[np.bool_]:
        """Return which documents lack a field (bool, n)."""
        return self._native.missing(field)

    def descriptions(self, positions: Positions) -> dict[int, Encoded]:
        """Return the descriptions of some documents, by the number of each field with a similarity of its own."""
        places = positions.tolist()
        return {number: [kept[place] for place in places] for number, kept in self._kept.items()}

    def digest(self, threads: int = 0) -> bytes:
        """Return a hash of all documents in their order, including the stored descriptions."""
        import hashlib

        digest = hashlib.sha256(self._native.digest(threads))
        for kept in self._kept.values():
            for item in kept:
                digest.update(b"-" if item is None else b"%d:" % len(item) + item)
        return digest.digest()[:16]

    def sketch(self, *arguments: Any) -> Any:
        """Return band keys, content hashes, shingles and units of all documents; see `sketcher.Sketches`."""
        return self._native.sketch(*arguments)

    def identical(
        self,
        content: NDArray[np.uint64],
        empty: NDArray[np.bool_],
        rank: Positions,
        threads: int = 0,
    ) -> Positions:
        """Return for each document the identical one of lowest rank; see `candidates.identical`."""
        return self._native.identical(content, empty, rank, threads)

    def identities(self, positions: Positions, threads: int = 0) -> NDArray[np.uint64]:
        """Return a digest of the elements of some documents (uint64, n x 2), equal for identical documents."""
        return self._native.identities(positions, threads)

    def sample(self, count: int, seed: int, threads: int = 0) -> Positions:
        """Return the documents with the lowest content hashes, one for each content, in the order of the hashes."""
        return self._native.sample(count, seed, threads)

    def sets(
        self, field: int, positions: Positions, threads: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return the sets of one field of some documents: offsets and hashes."""
        return self._native.sets(field, positions, threads)

    def exact_neighbours(
        self, queries: Positions, thresholds: Sequence[float], threads: int
    ) -> tuple[Positions, Positions]:
        """Return each query with every other document if the sets of one field reach its threshold."""
        return self._native.exact_neighbours(queries, thresholds, threads)

    def exact_pairs(
        self,
        thresholds: Sequence[float],
        taking_part: NDArray[np.bool_],
        threads: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[Positions, Positions, NDArray[np.float64] | None]:
        """Return all pairs for which the sets of one field reach its threshold; for one field, also the similarity."""
        left, right, similarity = self._native.exact_pairs(thresholds, taking_part, threads, progress)
        return left, right, None if self._kept else similarity

    def contained_pairs(
        self, field: int, threshold: float, taking_part: NDArray[np.bool_], threads: int
    ) -> tuple[Positions, Positions, NDArray[np.float64]]:
        """Return all ordered pairs whose right set of a field has at least that share of the left one."""
        return self._native.contained_pairs(field, threshold, taking_part, threads)

    def batches(self, left: Positions, right: Positions, most: int) -> tuple[Positions, list[int]]:
        """Return an order of the pairs and the ends of its parts; the documents of a part have `most` bytes."""
        return self._native.batches(left, right, most)

    def compare_families(self, *arguments: Any) -> Any:
        """Compare families, see `benzer.families`; only possible if no field has a similarity of its own."""
        return self._native.compare_families(*arguments)

    def similarity(
        self, left: Positions, right: Positions, weights: Sequence[float], threads: int
    ) -> NDArray[np.float64]:
        """Return the exact similarity of each pair: the weighted mean over the fields that count."""
        if not self._kept:
            return self._native.similarity(left, right, weights, threads)
        overlaps = self._native.overlaps(left, right, threads)
        return similarities(self._schema, overlaps, left, right, self._kept, self._kept, threads)[:, 0]

    def contents(self, positions: Positions, threads: int) -> Contents:
        """Return the fields of some documents as sets, to compare them with other documents."""
        return self._native.contents(positions, threads)


def descriptions(corpus: DocumentCorpus, positions: Positions) -> dict[int, Encoded]:
    """Return the descriptions that a corpus stores of some documents; see `DescribedCorpus`."""
    return corpus.descriptions(positions) if isinstance(corpus, DescribedCorpus) else {}


def describe_documents(schema: Schema, documents: Sequence[Document], threads: int = 0) -> Sequence[Document]:
    """Return documents whose images (and other content that the core does not read) are replaced by descriptions.

    Each content is read once. A content that cannot be read raises an `InputError` that names the document.
    """
    for name, field in schema.foreign.items():
        contents = [content_of(document, name) for document in documents]
        present = [number for number, content in enumerate(contents) if content is not None]
        answers = described(field, [contents[number] for number in present], threads)
        for position, answer in zip(present, answers, strict=True):
            if isinstance(answer, InputError):
                document_id = documents[position].id
                where = f"document {document_id!r}, " if document_id != "" else ""  # a question has no id
                raise InputError(f"{where}field {name}: {answer}") from answer
            contents[position] = field.decode(answer)
        documents = [
            document if content is None else Document(document.id, {**document.fields, name: content})
            for document, content in zip(documents, contents, strict=True)
        ]
    return documents


def content_of(document: Document, name: str) -> FieldValue:
    """Return the content of a field; None if the document lacks it."""
    return document.fields.get(name)


def _describe(field: Any, contents: Sequence[FieldValue], threads: int) -> _Described:
    """Return descriptions and sets of contents; a missing content has neither."""
    present = [position for position, content in enumerate(contents) if content is not None]
    answers = dict(
        zip(present, described(field, [contents[position] for position in present], threads), strict=True)
    )
    faults = {position: str(answer) for position, answer in answers.items() if isinstance(answer, InputError)}
    kept = [
        None if isinstance(answer := answers.get(number), InputError) else answer
        for number in range(len(contents))
    ]
    offsets, hashes = field.encoded_sets(kept)
    bounds = zip(kept, pairwise(offsets.tolist()), strict=True)
    sets = [None if bound is None else hashes[start:end] for bound, (start, end) in bounds]
    return _Described(kept, sets, faults)
