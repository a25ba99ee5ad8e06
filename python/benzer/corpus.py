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
    """An empty corpus for documents of these fields, the native one itself where it can read them all.

    >>> type(corpus_of(Schema())).__name__
    'Corpus'
    """
    if schema.foreign:
        return DescribedCorpus(schema, threads)
    return Corpus(schema.readers())


class _Described(NamedTuple):
    """What came of one field of some documents: descriptions, their sets, and which cannot be read."""

    kept: list[bytes | None]
    sets: list[NDArray[np.uint64] | None]
    faults: dict[int, str]


class DescribedCorpus:
    """A corpus with fields that the native core does not read, such as pictures.

    Each content is described once, when it comes; the native corpus gets the sets of the descriptions. Where a
    field compares by more than sets, its descriptions stay in memory (see the field for their size).
    Sources add to it as to the native corpus, and are told which rows could not be read.
    """

    def __init__(self, schema: Schema, threads: int = 0) -> None:
        self._schema = schema
        self._threads = threads
        self._native = Corpus(schema.readers())
        self._kept: dict[int, list[bytes | None]] = {number: [] for number in own_fields(schema)}

    def __len__(self) -> int:
        return len(self._native)

    def name_source(self, source: int, name: str) -> None:
        """Say what made ids begin with."""
        self._native.name_source(source, name)

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Iterable[str | int | None],
        fields: Sequence[Iterable[FieldValue]],
        extras: Sequence[bytes | None] | None = None,
    ) -> Refused:
        """Add documents, but for those of which a field cannot be read: their rows are given back, with why."""
        columns = [list(column) for column in fields]
        found: dict[int, _Described] = {}
        for number, (name, field) in enumerate(self._schema.fields.items()):
            if name in self._schema.foreign:
                found[number] = _describe(field, columns[number], self._threads)
                columns[number] = found[number].sets  # type: ignore[assignment]
        faults = {at: why for one in reversed(found.values()) for at, why in one.faults.items()}
        stay = [at for at in range(len(rows)) if at not in faults]
        for number, kept in self._kept.items():
            kept.extend(found[number].kept[at] for at in stay)
        listed = list(ids)
        self._native.add(
            source,
            [rows[at] for at in stay],
            [listed[at] for at in stay],
            [[column[at] for at in stay] for column in columns],
            None if extras is None else [extras[at] for at in stay],
        )
        return [(rows[at], faults[at]) for at in sorted(faults)]

    def add_jsonl(self, **options: Any) -> tuple[int, list[tuple[int, str]]]:
        """Refused as the native corpus refuses it: only texts are read by the native scanner."""
        return self._native.add_jsonl(**options)

    def ids(self, positions: Positions | Sequence[int] | None = None) -> list[str | int]:
        """The ids at some positions, or all."""
        return self._native.ids(positions)

    def duplicate_id(self, threads: int = 0) -> tuple[int, int] | None:
        """Two positions with the same id, if there are any."""
        return self._native.duplicate_id(threads)

    def sources(self) -> NDArray[np.uint32]:
        """The source of each document."""
        return self._native.sources()

    def rows(self) -> NDArray[np.uint64]:
        """The row of each document in its source, from 1."""
        return self._native.rows()

    def text(self, position: int, field: int) -> str | None:
        """The text of a text field of a document."""
        return self._native.text(position, field)

    def extras(self) -> list[bytes | None]:
        """The extra value of each document, as JSON."""
        return self._native.extras()

    def check_files(self) -> None:
        """Raise where a mapped file was truncated since it was read."""
        self._native.check_files()

    def lengths(self) -> NDArray[np.uint64]:
        """The bytes of each document's texts in memory and the elements of its other fields together."""
        return self._native.lengths()

    def text_sizes(self, positions: Positions, threads: int) -> NDArray[np.uint64]:
        """The same of some documents without the escapes of their source, on which it does not depend."""
        return self._native.text_sizes(positions, threads)

    def text_lengths(self, positions: Positions, threads: int) -> NDArray[np.uint64]:
        """The characters (Unicode code points) of some documents' texts and the elements of their other fields."""
        return self._native.text_lengths(positions, threads)

    def missing(self, field: int) -> NDArray[np.bool_]:
        """Which documents lack a field (bool, n)."""
        return self._native.missing(field)

    def descriptions(self, positions: Positions) -> dict[int, Encoded]:
        """The descriptions of some documents, by the number of each field that compares by more than its sets."""
        places = positions.tolist()
        return {number: [kept[place] for place in places] for number, kept in self._kept.items()}

    def digest(self, threads: int = 0) -> bytes:
        """A hash of all documents in their order, the descriptions that are kept among them."""
        import hashlib

        found = hashlib.sha256(self._native.digest(threads))
        for kept in self._kept.values():
            for one in kept:
                found.update(b"-" if one is None else b"%d:" % len(one) + one)
        return found.digest()[:16]

    def sketch(self, *arguments: Any) -> Any:
        """Band keys, content hashes, shingles and units of all documents; see `sketcher.Sketches`."""
        return self._native.sketch(*arguments)

    def identical(
        self,
        content: NDArray[np.uint64],
        empty: NDArray[np.bool_],
        rank: Positions,
        threads: int = 0,
    ) -> Positions:
        """For each document the one of least rank that is identical to it; see `candidates.identical`."""
        return self._native.identical(content, empty, rank, threads)

    def identities(self, positions: Positions, threads: int = 0) -> NDArray[np.uint64]:
        """A digest of the elements of each of some documents (uint64, n x 2), equal for identical documents."""
        return self._native.identities(positions, threads)

    def sample(self, count: int, seed: int, threads: int = 0) -> Positions:
        """The documents of least content hash, one for each content, in the order of the hashes."""
        return self._native.sample(count, seed, threads)

    def sets(
        self, field: int, positions: Positions, threads: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """The sets of one field of some documents: offsets and hashes."""
        return self._native.sets(field, positions, threads)

    def exact_neighbours(
        self, queries: Positions, thresholds: Sequence[float], threads: int
    ) -> tuple[Positions, Positions]:
        """Each query with every other document of which the sets of a field reach its threshold."""
        return self._native.exact_neighbours(queries, thresholds, threads)

    def exact_pairs(
        self,
        thresholds: Sequence[float],
        taking_part: NDArray[np.bool_],
        threads: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[Positions, Positions, NDArray[np.float64] | None]:
        """All pairs of which the sets of a field reach its threshold; how alike, where that is all there is."""
        left, right, similarity = self._native.exact_pairs(thresholds, taking_part, threads, progress)
        return left, right, None if self._kept else similarity

    def contained_pairs(
        self, field: int, threshold: float, taking_part: NDArray[np.bool_], threads: int
    ) -> tuple[Positions, Positions, NDArray[np.float64]]:
        """All ordered pairs of which the right set of a field holds that share of the left one."""
        return self._native.contained_pairs(field, threshold, taking_part, threads)

    def batches(self, left: Positions, right: Positions, most: int) -> tuple[Positions, list[int]]:
        """An order of pairs, and where it is cut: the documents of a part have `most` bytes at most."""
        return self._native.batches(left, right, most)

    def compare_families(self, *arguments: Any) -> Any:
        """See `benzer.families`; only where no field has a similarity of its own."""
        return self._native.compare_families(*arguments)

    def similarity(
        self, left: Positions, right: Positions, weights: Sequence[float], threads: int
    ) -> NDArray[np.float64]:
        """The exact similarity of each pair: the weighted mean over the fields that count."""
        if not self._kept:
            return self._native.similarity(left, right, weights, threads)
        overlaps = self._native.overlaps(left, right, threads)
        return similarities(self._schema, overlaps, left, right, self._kept, self._kept, threads)[:, 0]

    def contents(self, positions: Positions, threads: int) -> Contents:
        """The fields of some documents as sets, to compare them with documents from elsewhere."""
        return self._native.contents(positions, threads)


def descriptions(corpus: DocumentCorpus, positions: Positions) -> dict[int, Encoded]:
    """The descriptions that a corpus stores of some documents; see `DescribedCorpus`."""
    return corpus.descriptions(positions) if isinstance(corpus, DescribedCorpus) else {}


def describe_documents(schema: Schema, documents: Sequence[Document], threads: int = 0) -> Sequence[Document]:
    """The documents with each picture (or other content that the core does not read) as its description.

    Each is read once, here; a content that cannot be read is an `InputError` that names the document.
    """
    for name, field in schema.foreign.items():
        contents = [content_of(document, name) for document in documents]
        held = [at for at, content in enumerate(contents) if content is not None]
        answers = described(field, [contents[at] for at in held], threads)
        for at, answer in zip(held, answers, strict=True):
            if isinstance(answer, InputError):
                document_id = documents[at].id
                where = f"document {document_id!r}, " if document_id != "" else ""  # a question has no id
                raise InputError(f"{where}field {name}: {answer}") from answer
            contents[at] = field.decode(answer)
        documents = [
            document if content is None else Document(document.id, {**document.fields, name: content})
            for document, content in zip(documents, contents, strict=True)
        ]
    return documents


def content_of(document: Document, name: str) -> FieldValue:
    """The content of a field, None where the document does not hold it."""
    return document.fields.get(name)


def _describe(field: Any, contents: Sequence[FieldValue], threads: int) -> _Described:
    """Descriptions and sets of contents; a missing content has neither."""
    held = [at for at, content in enumerate(contents) if content is not None]
    answers = dict(zip(held, described(field, [contents[at] for at in held], threads), strict=True))
    faults = {at: str(answer) for at, answer in answers.items() if isinstance(answer, InputError)}
    kept = [
        None if isinstance(answer := answers.get(at), InputError) else answer for at in range(len(contents))
    ]
    offsets, hashes = field.encoded_sets(kept)
    bounds = zip(kept, pairwise(offsets.tolist()), strict=True)
    sets = [None if one is None else hashes[start:end] for one, (start, end) in bounds]
    return _Described(kept, sets, faults)
