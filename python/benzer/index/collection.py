"""`Index`: add documents, search them, remove and maintain them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benzer.checks import check_documents, check_threshold, listed_ids
from benzer.corpus import describe_documents
from benzer.document import Document
from benzer.errors import InputError, SettingsError, SettingsMismatchError, StorageError
from benzer.index.containment import Containment, ContainmentMatches
from benzer.index.documents import (
    Candidate,
    Filed,
    Match,
    Query,
    SeenDocuments,
    as_document,
    as_query,
    check_draw,
    check_id,
    check_limit,
    draw,
    fitting,
    last_number,
)
from benzer.index.fingerprints import Fingerprints, is_whole
from benzer.index.nearest import NearestMatches, Scan
from benzer.index.settings import IndexSettings, differences, mismatch
from benzer.index.upkeep import (
    CONFLICTS,
    Taken,
    When,
    backup,
    given_second,
    same_file,
    second_of,
    the_index_itself,
    without_repeats,
)
from benzer.sketcher import check_fields
from benzer.sources.documents import NumberedTexts, documents_in
from benzer.storage import DocumentId, Storage, open_storage

if TYPE_CHECKING:
    from benzer.index.passages import PassageMatches
    from benzer.pipeline.options import Options
    from benzer.results import Duplicates

_ASKED_AT_ONCE = 256  # limits the queries in memory


class Index:
    """A searchable collection of documents.

    Changes are visible in the object at once. `commit`, and the end of a `with` block, make them durable and visible
    to other processes. An error in the block undoes uncommitted changes.

    `find_similar` calls `on_candidates`, if set, for each query with the number of documents to compare.

    >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
    ...     added = index.add([("a", "one two three four five six"), ("b", "seven eight nine ten")])
    ...     index.find_similar("one two three four five seven")
    [Match(id='a', similarity=0.6, fields={'text': 0.6})]
    """

    def __init__(self, storage: Storage, settings: IndexSettings) -> None:
        self._storage = storage
        self._sketcher = settings.sketcher()
        self._fingerprints = settings.fingerprints()
        self._scan: Scan | None = None
        self.settings = settings
        self.on_candidates: Callable[[int], object] | None = None

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        settings: IndexSettings | None = None,
        mode: str = "write",
        timeout: float = 1.0,
    ) -> Index:
        """Open or create an index.

        Args:
            location: Path of a file, a redis:// URL, or "memory:" for a new index in memory.
            settings: Settings of a new index. For an existing index omit them, or pass the same ones.
            mode: "write" creates the index if it does not exist; "read" changes nothing.
            timeout: Seconds to wait for another writer.

        Returns:
            The open index.

        Raises:
            SettingsMismatchError: The index was created with other settings.
            StoreFormatError: Not an index, a damaged one, or one of a later version.
            StorageError: There is no index to read, or it cannot be opened.
            StoreLockedError: Another process is writing; raised by the first change.
        """
        storage = open_storage(location, (settings or IndexSettings()).to_json(), mode, timeout)
        try:
            stored = IndexSettings.from_json(storage.settings())
            if settings is not None and settings != stored:
                raise mismatch(os.fspath(location), stored, settings)
        except BaseException:
            storage.close()
            raise
        return cls(storage, stored)

    def add(
        self,
        documents: Iterable[Any],
        batch_size: int = 2000,
        threads: int = 0,
        seen_at: When | None = None,
    ) -> int:
        """Add documents; a document replaces an existing one with the same id. Does not commit.

        After an error, earlier batches remain in the index until `rollback`.

        Args:
            documents: `Document`s, (id, text or fields) pairs, mappings with an "id", one mapping of ids to texts, or
                tables with a column "id" and the columns of the fields (of pandas, Polars, PyArrow, DuckDB, Hugging
                Face). Texts without ids, in a list or a column, are numbered from 0, and must not
                replace documents.
            batch_size: Documents to process at a time.
            threads: Number of threads; 0 uses all cores.
            seen_at: When the documents were seen (see `evict`). Defaults to now.

        Returns:
            The number of documents read.
        """
        if batch_size < 1:
            raise SettingsError(f"batch_size must be 1 or more, got {batch_size}")
        accepted = documents_in(documents, list(self.settings.schema.fields))
        given = iter(accepted)
        count = 0
        while batch := [
            check_id(as_document(item, self.settings.schema)) for item in islice(given, batch_size)
        ]:
            if isinstance(accepted, NumberedTexts):
                self._refuse_stored(batch)
            seen = describe_documents(self.settings.schema, batch, threads)
            self._file(seen, threads, second_of(seen_at))
            count += len(batch)
        return count

    def _refuse_stored(self, numbered: Sequence[Document]) -> None:
        """Raise an error if texts that were numbered would replace documents."""
        stored = next((document.id for document in numbered if document.id in self), None)
        if stored is not None:
            raise InputError(
                f"texts without ids are numbered from 0, but the index has the id {stored}: pass (id, text) pairs, "
                "e.g. enumerate(texts, start=1000)"
            )

    def _file(self, documents: Sequence[Document], threads: int, seen: int) -> None:
        payloads, keys = self._sketcher.filed(documents, threads)
        if self._fingerprints is None:
            self._storage.add([document.id for document in documents], payloads, keys, seen)
        else:
            self._fingerprints.add(self._storage, documents, payloads, keys, threads, seen)

    def remove(self, ids: Iterable[DocumentId]) -> int:
        """Remove documents by id and return how many were removed; unknown ids are ignored."""
        return self._storage.remove(listed_ids(ids))

    def find_similar(
        self, document: Any, limit: int | None = 10, threshold: float | None = None
    ) -> list[Match]:
        """Find the documents most similar to a document.

        Args:
            document: A text, a mapping of fields, or a `Document`, which does not match itself. Empty documents match
                nothing.
            limit: Maximum number of matches; None returns all.
            threshold: Minimum similarity. Defaults to that of the index; matches below that are found with a lower
                recall (see `probability`).

        Returns:
            The matches with exact similarities, best first; equal ones in the order in which they were added.
        """
        least = self._least(limit, threshold)
        return next(self._find(self._queries([document], 1), limit, least, 1))

    def find_similar_batch(
        self,
        documents: Iterable[Any],
        limit: int | None = 10,
        threshold: float | None = None,
        threads: int = 0,
    ) -> list[list[Match]]:
        """Run `find_similar` for many documents and return the results in the same order; faster than single calls.

        Args:
            documents: Queries, as in `find_similar`.
            limit: Maximum number of matches of each query; None returns all.
            threshold: Minimum similarity. Defaults to that of the index.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The matches of each query.
        """
        check_documents(documents)
        least = self._least(limit, threshold)
        queries = iter(documents)
        matches: list[list[Match]] = []
        while batch := self._queries(islice(queries, _ASKED_AT_ONCE), threads):
            matches.extend(self._find(batch, limit, least, threads))
        return matches

    def _least(self, limit: int | None, threshold: float | None) -> float:
        """Check `limit` and return the minimum similarity of a match."""
        check_limit(limit)
        least = self.settings.threshold if threshold is None else threshold
        check_threshold(least, zero=True)
        return least

    def find_nearest(
        self,
        document: Any,
        limit: int | None = 10,
        recall: float = 0.999,
        threshold: float | None = None,
        threads: int = 0,
    ) -> NearestMatches:
        """Find the nearest documents, even below the threshold of the index, best first.

        Each true neighbour with a similarity of at least `threshold` is found with probability `recall` or more, and
        all similarities are exact. All sketches are scanned and promising documents are compared; more of them for
        a lower `threshold` or a higher `recall` (1 compares all). Without a threshold, the recall holds from 0.1 on,
        and a result with fewer than `limit` matches is filled with the best of the next 1,000. The first call reads
        the whole index and keeps 137 bytes per document of one field in memory (docs/decisions/0019-nearest.md).

        Args:
            document: A text, a mapping of fields or a `Document`.
            limit: Maximum number of matches; None returns all.
            recall: Minimum probability of finding a true neighbour, in (0, 1].
            threshold: Minimum similarity. Defaults to none.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The matches, with the number of compared documents.

        Raises:
            SettingsError: An argument is out of range.

        >>> with Index.open("memory:") as index:
        ...     added = index.add({"a": "one two three four five six", "b": "one two three nine ten eleven"})
        ...     found = index.find_nearest("one two three four five seven")
        ...     [(match.id, round(match.similarity, 3)) for match in found], found.recall
        ([('a', 0.6), ('b', 0.143)], 1.0)
        """
        self._scan = self._scan or Scan(self._sketcher)
        (query,) = self._queries([document], threads=1)
        return self._scan.find(self._storage, query, limit, threshold, recall, threads)

    def find_containing(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """Find the documents that contain a document: a page with boilerplate around it, a book that quotes it.

        Requires an index with `passages`. A document is found if it shares a run of `passages.certain` words with
        the query (value sets: any value), and often if it shares a shorter run. `short` of the result lists the
        fields of the query that are shorter than that.

        Args:
            document: A text, a mapping of fields or a `Document`.
            threshold: Minimum containment of the query in the match, in (0, 1].
            limit: Maximum number of matches; None returns all.
            most: Maximum number of candidates to compare, those that share most first; None compares all.
                The result has the number of candidates and of compared documents.

        Returns:
            The matches with their exact containment, best first.

        Raises:
            SettingsError: The index has no passages, or an argument is out of range.

        >>> from benzer.index import Index, IndexSettings
        >>> with Index.open("memory:", IndexSettings(passages=True)) as index:
        ...     added = index.add({"page": "home about news the cat sat on the mat and looked at me and me login"})
        ...     match, = index.find_containing("The cat sat on the mat and looked at me.")
        ...     match.id, match.containment, round(match.similarity, 2)
        ('page', 1.0, 0.57)
        """
        return self._contained(document, threshold, limit, most, inward=False)

    def find_contained(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """Find the documents that are contained in a document.

        A document that appears in it word for word is always found, whatever its length.

        Args:
            document: A text, a mapping of fields or a `Document`.
            threshold: Minimum containment of the match in the query, in (0, 1].
            limit: Maximum number of matches; None returns all.
            most: Maximum number of candidates to compare, as in `find_containing`.

        Returns:
            The matches with their exact containment, best first.

        Raises:
            SettingsError: The index has no passages, or an argument is out of range.

        >>> from benzer.index import Index, IndexSettings
        >>> with Index.open("memory:", IndexSettings(passages=True)) as index:
        ...     added = index.add({"quote": "the cat sat on the mat and looked at me"})
        ...     index.find_contained("home about news the cat sat on the mat and looked at me and me login")[0].id
        'quote'
        """
        return self._contained(document, threshold, limit, most, inward=True)

    def find_passages(
        self, document: Any, least_words: int = 8, limit: int | None = 10, most: int | None = 1000
    ) -> PassageMatches:
        """Find the passages of a text that appear in the documents of the index, and their positions.

        Args:
            document: A text, a mapping of fields or a `Document`; only text fields are searched.
            least_words: Minimum length of a passage in words. A passage of fewer than `passages.certain` words may
                be missed, unless it is a complete document.
            limit: Maximum number of documents in the result; None returns all.
            most: Maximum number of documents to read for each text field, those that share most first; None reads
                all. `unread` of the result counts the others.

        Returns:
            The documents with their passages, and the share of the text that appears in any document.

        Raises:
            SettingsError: The index has no passages, or an argument is out of range.
            InputError: The query has no text.

        >>> from benzer.index import Index, IndexSettings
        >>> with Index.open("memory:", IndexSettings(passages=True)) as index:
        ...     added = index.add({"page": "home about news the cat sat on the mat and looked at me and me login"})
        ...     match, = index.find_passages("He wrote: the cat sat on the mat and looked at me!")
        ...     match.id, match.words, match.passages[0].a, match.passages[0].b
        ('page', 10, (10, 49), (16, 55))
        """
        from benzer.index.passages import PassageFinder

        check_reach(limit, most)
        if not is_whole(least_words, 1):
            raise SettingsError(f"least_words must be 1 or more, got {least_words}")
        finder = PassageFinder(self._sketcher, self._filed_passages())
        (query,) = self._queries([document], threads=1)
        return finder.find(self._storage, query, least_words, limit, most)

    def _contained(
        self, document: Any, threshold: float, limit: int | None, most: int | None, inward: bool
    ) -> ContainmentMatches:
        check_reach(limit, most)
        check_threshold(threshold)
        comparison = Containment(self._sketcher, self._filed_passages(), inward)
        (query,) = self._queries([document], threads=1)
        return comparison.find(self._storage, query, threshold, limit, most)

    def _filed_passages(self) -> Fingerprints:
        if self._fingerprints is None:
            raise SettingsError(
                "this index has no passages: create it again with IndexSettings(passages=True) or benzer index "
                "--passages"
            )
        return self._fingerprints

    def find_candidates(self, document: Any, limit: int | None = 10) -> list[Candidate]:
        """Find the documents that share buckets with a document, without comparing them.

        These are the neighbours by locality-sensitive hashing, most shared buckets first. `find_similar` compares
        them exactly; use it unless you want to inspect candidates or compare them yourself.

        Args:
            document: A text, a mapping of fields or a `Document`.
            limit: Maximum number of candidates; None returns all.

        Returns:
            The candidates with the number of shared bands.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add([("a", "one two three four five six"), ("b", "seven eight nine ten")])
        ...     [candidate.id for candidate in index.find_candidates("one two three four five seven")]
        ['a']
        """
        return self.find_candidates_batch([document], limit, threads=1)[0]

    def find_candidates_batch(
        self, documents: Iterable[Any], limit: int | None = 10, threads: int = 0
    ) -> list[list[Candidate]]:
        """Run `find_candidates` for many documents and return the results in order; faster than single calls.

        Args:
            documents: Queries, as in `find_candidates`.
            limit: Maximum number of candidates of each query; None returns all.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The candidates of each query.
        """
        check_limit(limit)
        queries = iter(documents)
        candidates: list[list[Candidate]] = []
        while batch := self._queries(islice(queries, _ASKED_AT_ONCE), threads):
            candidates.extend(self._candidates(batch, limit, threads))
        return candidates

    def _candidates(self, queries: list[Query], limit: int | None, threads: int) -> Iterator[list[Candidate]]:
        keys = self._sketcher.keys([query.document for query in queries], threads)
        with self._storage.snapshot():
            cells, numbers = self._storage.candidates(keys.reshape(-1, 1))  # a row for each band of each
            cells_found, shared = np.unique((cells // keys.shape[1] << 32) | numbers, return_counts=True)
            wanted, place = np.unique(cells_found & (2**32 - 1), return_inverse=True)
            ids = self._storage.ids(wanted)
        bounds = np.searchsorted(cells_found >> 32, np.arange(len(queries) + 1)).tolist()
        for query, (start, end) in zip(queries, pairwise(bounds), strict=True):
            best = start + np.argsort(-shared[start:end], kind="stable")
            ranked = (Candidate(ids[place[position]], int(shared[position])) for position in best.tolist())
            yield list(islice((item for item in ranked if not query.is_itself(item.id)), limit))

    def filed_under(self, keys: NDArray[np.uint64]) -> Filed:
        """Return the documents that share a bucket with given band keys (uint64, n x width).

        Used to compare many documents with an index, as in `benzer.find_duplicates`; the keys must be made with the
        settings of the index.
        """
        with self._storage.snapshot():
            rows, numbers = self._storage.candidates(keys)
            wanted, places = np.unique(numbers, return_inverse=True)
            return Filed(rows, places, self._storage.ids(wanted), self._storage.payloads(wanted))

    def _queries(self, given: Iterable[Any], threads: int) -> list[Query]:
        """Convert queries to documents of the schema, with images described."""
        queries = [as_query(item, self.settings.schema) for item in given]
        for query in queries:
            check_fields(query.document, self.settings.schema)
        if not self.settings.schema.foreign:
            return queries
        documents = [query.document for query in queries]
        seen = describe_documents(self.settings.schema, documents, threads)
        return [query._replace(document=document) for query, document in zip(queries, seen, strict=True)]

    def _find(
        self, queries: list[Query], limit: int | None, least: float, threads: int
    ) -> Iterator[list[Match]]:
        questions = self._sketcher.ask([query.document for query in queries], threads)
        alone = len(queries) == 1
        keys = questions[0].keys if alone else np.concatenate([question.keys for question in questions])
        with self._storage.snapshot():
            rows, numbers = self._storage.candidates(keys)
            wanted, place = (numbers, range(len(numbers))) if alone else _each_once(numbers)
            ids, payloads = self._storage.documents(wanted)
        bounds = [0, len(numbers)] if alone else np.searchsorted(rows, np.arange(len(queries) + 1)).tolist()
        name, *_ = names = list(self.settings.schema.fields)
        if self.on_candidates is not None:
            for start, end in pairwise(bounds):
                self.on_candidates(end - start)
        for query, question, (start, end) in zip(queries, questions, pairwise(bounds), strict=True):
            places = place[start:end]
            if query.identified:
                places = [position for position in places if not query.is_itself(ids[position])]
            kept = (
                payloads
                if len(places) == len(payloads) and alone
                else [payloads[position] for position in places]
            )
            most = None if limit is None else min(limit, len(places))
            best = question.best(kept, least, most) if places else []
            yield [
                new_match((ids[places[position]], s, {name: s} if each is None else by_field(names, each)))
                for position, s, each in best
            ]

    @overload
    def probability(self, similarity: float) -> float: ...
    @overload
    def probability(self, similarity: ArrayLike) -> float | NDArray[np.float64]: ...
    def probability(self, similarity: ArrayLike) -> float | NDArray[np.float64]:
        """Return the probability of finding a document of this similarity; a lower bound for several fields.

        >>> Index.open("memory:").probability(0.8) >= 0.95
        True
        """
        settings = self.settings
        lowest = np.vectorize(settings.schema.band_threshold, otypes=[np.float64])(similarity)
        return settings.bands.probability(lowest)

    def find_duplicates(
        self, keep: str = "first", threads: int = 0, options: Options | None = None, **arguments: Any
    ) -> Duplicates:
        """Find the duplicates among all documents of the index, with its settings.

        The documents are in the order in which they were added.

        Args:
            keep: Which document of a cluster to keep, see `benzer.clusters.Keep`.
            threads: Number of threads; 0 uses all cores.
            options: Rarely changed settings, except those of signatures and bands, which the index has.
            arguments: Other arguments of `benzer.find_duplicates`.
        """
        from benzer.pipeline import find_duplicates
        from benzer.pipeline.options import chosen

        options = chosen(options)
        options.refuse(("minhash", "num_hashes", "bands", "seed"), "for an index, which has its own")

        settings = self.settings
        with self._storage.snapshot():  # otherwise a document that is replaced meanwhile could be missed
            documents = list(self.documents())
        return find_duplicates(
            documents,
            threshold=settings.threshold,
            recall=settings.recall,
            schema=settings.schema,
            keep=keep,
            threads=threads,
            options=replace(options, minhash=settings.minhash, bands=settings.bands),
            **arguments,
        )

    def get(self, document_id: DocumentId) -> Document | None:
        """Return the document with an id, or None.

        Args:
            document_id: The id; 1 and "1" are different ids.
        """
        with self._storage.snapshot():
            numbers = self._storage.numbers([document_id])
            if numbers[0] < 0:
                return None
            return self._sketcher.decode(document_id, self._storage.payloads(numbers)[0])

    def snapshot(self) -> AbstractContextManager[None]:
        """Make all searches in a `with` block see the same state, whatever other processes commit.

        Use it to look up matches. Other threads that use the same object wait, so keep the block short.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add({"a": "one two three four five six"})
        ...     with index.snapshot():
        ...         [index.get(match.id).fields["text"] for match in index.find_similar("two three four five six")]
        ['one two three four five six']
        """
        return self._storage.snapshot()

    def signature(self, document_id: DocumentId) -> dict[str, NDArray[np.uint32]] | None:
        """Return the signature (uint32, `num_hashes`) of each field of a document, or None if the id is unknown.

        It is computed again from the stored document.

        Args:
            document_id: The id of the document.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add({"a": "one two three four five six"})
        ...     index.signature("a")["text"].shape == (index.settings.minhash.num_hashes,)
        True
        """
        document = self.get(document_id)
        if document is None:
            return None
        by_field = self._sketcher.signatures([document], threads=1)
        return {name: signatures[0] for name, signatures in by_field.items()}

    def documents(self) -> Iterator[Document]:
        """Yield all documents in the order in which they were added."""
        for batch in self._storage.iterate():
            yield from map(self._sketcher.decode, batch.ids, batch.payloads)

    def page(self, after: int = -1, limit: int = 100, most: int = 2**63) -> tuple[list[Document], int | None]:
        """Return some documents in the order in which they were added, and `after` for the next page, or None.

        Args:
            after: The value returned with the previous page; -1 for the first page.
            limit: Maximum number of documents.
            most: Maximum total size of the stored documents in bytes; a page that reaches it ends there.

        >>> with Index.open("memory:") as index:
        ...     added = index.add({"a": "one two", "b": "three four", "c": "five six"})
        ...     (first, _), after = index.page(limit=2)
        ...     first.id, [document.id for document in index.page(after)[0]], index.page(after)[1]
        ('a', ['c'], None)
        """
        documents: list[Document] = []
        last = after
        for batch in self._storage.iterate(batch_size=min(limit + 1, 64), after=after):
            for number, document_id, payload in zip(
                batch.numbers.tolist(), batch.ids, batch.payloads, strict=True
            ):
                if len(documents) == limit or (documents and most <= 0):
                    return documents, last
                documents.append(self._sketcher.decode(document_id, payload))
                most -= len(payload)
                last = number
        return documents, None

    def sample(self, count: int, most_bytes: int | None = None, seed: int = 0) -> list[Document]:
        """Return a seeded sample of the documents, in the order in which they were added.

        Reads only the returned documents. The same collection and seed give the same sample.

        Args:
            count: Maximum number of documents.
            most_bytes: Maximum total stored size.
            seed: Seed of the sample.

        >>> with Index.open("memory:") as index:
        ...     added = index.add({name: f"a text about {name}" for name in "abcdefgh"})
        ...     len(index.sample(3)), index.sample(3) == index.sample(3), len(index.sample(100))
        (3, True, 8)
        """
        check_draw(count, most_bytes, seed)
        with self._storage.snapshot():
            ids, payloads = fitting(self._storage, draw(self._storage, count, seed), most_bytes)
        return list(map(self._sketcher.decode, ids, payloads))

    def state(self) -> tuple[int, int]:
        """Return two numbers that are equal at two times only if the index had the same documents.

        Use it to cache results computed from all documents. Reads only counts.

        >>> with Index.open("memory:") as index:
        ...     before, added = index.state(), index.add({"a": "one two three"})
        ...     before == index.state()
        False
        """
        with self._storage.snapshot():
            return len(self._storage), last_number(self._storage)

    def __iter__(self) -> Iterator[DocumentId]:
        """The ids of all documents, in the order in which they were added."""
        for batch in self._storage.iterate():
            yield from batch.ids

    def __contains__(self, document_id: object) -> bool:
        if isinstance(document_id, bool) or not isinstance(document_id, str | int):
            return False
        return bool(self._storage.contains([document_id])[0])

    def __len__(self) -> int:
        return len(self._storage)

    def bucket_sizes(self) -> dict[int, int]:
        """Return the number of buckets of each size: {documents that share a key: number of such keys}.

        Large buckets slow down searches, because all documents of a bucket are compared. Includes keys of stored
        passages. Reads all postings: about ten million per second.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add({"a": "one two three four", "b": "one two three four", "c": "five six seven"})
        ...     sizes = index.bucket_sizes()
        ...     sorted(sizes), sizes[1] == sizes[2] == index.settings.bands.bands
        ([1, 2], True)
        """
        return self._storage.bucket_sizes()

    def touch(self, ids: Iterable[DocumentId], seen_at: When | None = None) -> int:
        """Record that unchanged documents were seen; much cheaper than adding them again.

        Takes effect with the next commit.

        Args:
            ids: Ids of documents; unknown ids are ignored.
            seen_at: When they were seen. Defaults to now. A time before the stored one changes nothing.

        Returns:
            The number of documents that are in the index.

        >>> from benzer.index import Index
        >>> with Index.open("memory:") as index:
        ...     added = index.add({"a": "one two three", "b": "four five six"}, seen_at=1000)
        ...     index.touch(["a", "nowhere"], seen_at=2000), index.unseen(since=1500)
        (1, ['b'])
        """
        listed = listed_ids(ids)
        return self._storage.touch(listed, [second_of(seen_at)] * len(listed))

    def last_seen(self, document_id: DocumentId) -> datetime | None:
        """Return when a document was added or last touched, in UTC, to the second.

        Args:
            document_id: The id of the document.

        Returns:
            The time; None if the id is unknown, or if an earlier version of Benzer added the document and nothing
            was added since.
        """
        with self._storage.snapshot():
            (number,) = self._storage.numbers([document_id]).tolist()
            second = int(self._storage.last_seen([number])[0]) if number >= 0 else 0
        return datetime.fromtimestamp(second, timezone.utc) if second else None

    def unseen(self, since: When) -> list[DocumentId]:
        """Return the ids of documents last seen before a time, in the order in which they were added.

        Args:
            since: A datetime with a time zone, or seconds since 1970.
        """
        return self._storage.unseen(given_second(since))

    def evict(self, unseen_since: When) -> int:
        """Remove the documents last seen before a time and return how many; `unseen` lists them.

        >>> from benzer.index import Index
        >>> with Index.open("memory:") as index:
        ...     added = index.add({"old": "one two three"}, seen_at=1000)
        ...     added = index.add({"new": "four five six"}, seen_at=2000)
        ...     index.evict(unseen_since=1500), list(index)
        (1, ['new'])
        """
        second = given_second(unseen_since)
        self._storage.remove([])  # begins the transaction, so that no other process can write in between
        return self._storage.remove(self._storage.unseen(second))

    def merge(
        self, other: Index, on_conflict: str = "replace", batch_size: int = 2000, threads: int = 0
    ) -> Taken:
        """Add the documents of another index with equal settings, in their order.

        Takes effect with the next commit. After an error, call `rollback` or leave the `with` block.

        Args:
            other: An open index in any storage. It is read in one snapshot and not changed; other threads that use
                the same object wait.
            on_conflict: "replace" or "keep" existing documents with the same id. In both cases the later last-seen
                time is stored.
            batch_size: Documents to process at a time.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The number of added, replaced and kept documents.

        Raises:
            SettingsMismatchError: The settings differ.
        """
        if not isinstance(other, Index):
            raise InputError(
                f"the source must be an open index, e.g. Index.open(path, mode='read'), got {other!r:.80}"
            )
        if other is self:
            raise SettingsError("an index cannot be merged into itself: use another one")
        if other.settings != self.settings:
            faults = differences(other.settings, self.settings)
            raise SettingsMismatchError(
                f"the two indexes were created with different settings: {faults}. Index the documents of one again "
                f"with the settings of the other"
            )
        # Without a snapshot a document that is replaced meanwhile could be missed in both of its states.
        with other._storage.snapshot():
            return self._take(other._departing(batch_size), on_conflict, threads)

    def _departing(self, batch_size: int = 2000) -> Iterator[SeenDocuments]:
        """Yield all documents with their times, in order."""
        for batch in self._storage.iterate(batch_size):
            documents = list(map(self._sketcher.decode, batch.ids, batch.payloads))
            yield SeenDocuments(documents, self._storage.last_seen(batch.numbers).tolist())

    def _take(self, batches: Iterable[SeenDocuments], on_conflict: str, threads: int) -> Taken:
        if on_conflict not in CONFLICTS:
            raise SettingsError(f'on_conflict must be "replace" or "keep", got {on_conflict!r}')
        added = replaced = kept = 0
        for documents, seen in without_repeats(batches):
            ids = [document.id for document in documents]
            existing = self._storage.contains(ids)
            stays = existing & (on_conflict == "keep")
            later = np.maximum(seen, self._times(ids))
            coming = np.flatnonzero(~stays).tolist()
            if coming:
                self._file([documents[position] for position in coming], threads, int(later[coming].min()))
            again = np.flatnonzero(stays | (later > (later[coming].min() if coming else 0))).tolist()
            self._storage.touch([ids[position] for position in again], later[again])
            added += len(ids) - int(existing.sum())
            replaced += int((existing & ~stays).sum())
            kept += int(stays.sum())
        return Taken(added, replaced, kept)

    def _times(self, ids: list[DocumentId]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return when documents were last seen; 0 for unknown ids."""
        with self._storage.snapshot():
            numbers = self._storage.numbers(ids)
            times = np.zeros(len(ids), np.int64)
            times[numbers >= 0] = self._storage.last_seen(numbers[numbers >= 0])
        return times

    def export(self, path: str | Path, replace: bool = False) -> int:
        """Write all documents with ids and last-seen times to a JSONL file that later versions can import.

        The file is written atomically. docs/reference/formats.md describes the format.

        Args:
            path: Output file; `.gz`, `.zst`, `.bz2` or `.xz` at the end of the name compresses it.
            replace: Whether to replace an existing file.

        Returns:
            The number of documents.
        """
        from benzer.index.exchange import write_export

        if replace and Path(path).exists() and same_file(self._storage.info().get("path"), path):
            raise the_index_itself(path)
        with self._storage.snapshot():
            return write_export(Path(path), self.settings, self._departing(), replace)

    def backup(self, path: str | Path, replace: bool = False) -> int:
        """Copy the last committed state of an index file to another file, and check the copy.

        Other processes can read and write meanwhile. The copy is written atomically and is a complete index. Copying
        the file by other means is safe only while no process has the index open. Reads the index twice.

        Args:
            path: Path of the copy.
            replace: Whether to replace an existing file.

        Returns:
            The number of documents in the copy.

        Raises:
            StoreFormatError: The index is damaged; nothing is written.
            StorageError: The index is not in a file; export it instead.

        >>> import tempfile
        >>> from benzer.index import Index, restore
        >>> folder = Path(tempfile.mkdtemp())
        >>> with Index.open(folder / "docs.benzer") as index:
        ...     added = index.add({"a": "one two three"})
        ...     index.commit()
        ...     index.backup(folder / "copy.benzer")
        1
        >>> restore(folder / "docs.benzer", folder / "copy.benzer")
        1
        """
        place = self._storage.info().get("path")
        if place is None:
            raise StorageError("only an index in a file can be backed up: export this one instead")
        return backup(Path(place), Path(path), replace)

    def import_(self, path: str | Path, on_conflict: str = "replace", threads: int = 0) -> Taken:
        """Add the documents of a file written by `export`, as `merge` does from another index.

        Create a new index for it with `benzer.index.exported_settings(path)`.

        Args:
            path: A file written by `export`.
            on_conflict: "replace" or "keep" existing documents with the same id.
            threads: Number of threads; 0 uses all cores.

        Returns:
            The number of added, replaced and kept documents.

        Raises:
            InputError: The file is truncated or invalid: call `rollback`, or leave the `with` block.
            SettingsMismatchError: The settings differ from those of the index.
        """
        from benzer.index.exchange import exported_settings, read_export

        stored = exported_settings(path)
        if stored != self.settings:
            faults = differences(stored, self.settings)
            raise SettingsMismatchError(
                f"{path} was exported from an index with other settings: {faults}. Import it into an index created "
                f"with exported_settings, or index the documents again"
            )
        return self._take(read_export(Path(path), self.settings.schema), on_conflict, threads)

    def commit(self) -> None:
        """Make the changes since the last commit durable and visible to other processes, in one transaction."""
        self._storage.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit."""
        self._storage.rollback()

    def compact(self) -> None:
        """Commit, then rewrite the index without removed documents; useful after many removals."""
        self._storage.compact()

    def check(self) -> None:
        """Read the whole index and raise StoreFormatError at the first sign of damage."""
        self._storage.check()

    def close(self) -> None:
        """Close the index and undo uncommitted changes. A second call does nothing."""
        self._storage.close()

    def __enter__(self) -> Index:  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def info(self) -> dict[str, Any]:
        """Return information on the storage, the settings, and their fingerprint."""
        settings = {"settings": self.settings.to_dict(), "fingerprint": self.settings.fingerprint()}
        return {**self._storage.info(), **settings}


new_match = partial(tuple.__new__, Match)
"""Makes a match of its fields in half the time of `Match(...)`."""


def by_field(names: list[str], similarities: list[float]) -> dict[str, float]:
    """Return the similarity of each field that both documents have; the others are not-a-number."""
    pairs = zip(names, similarities, strict=True)
    return {name: similarity for name, similarity in pairs if similarity == similarity}


def _each_once(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Sequence[int]]:
    """Return distinct document numbers, and the position of each number among them."""
    wanted, place = np.unique(numbers, return_inverse=True)
    return wanted, place.tolist()


def check_reach(limit: Any, most: Any) -> None:
    """Raise an error for an invalid number of matches or of documents to read."""
    for name, value in {"limit": limit, "most": most}.items():
        if value is not None and not is_whole(value, 1):
            raise SettingsError(f"{name} must be 1 or more, or None for all, got {value}")
