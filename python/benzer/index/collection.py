"""How is a living collection kept and asked? Add documents, find those like a given one, remove."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice, pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benzer.checks import is_number
from benzer.corpus import describe_documents
from benzer.document import Document
from benzer.errors import InputError, SettingsError
from benzer.index.answers import Candidate, Filed, Match, check_limit
from benzer.index.given import Query, as_document, as_query, check_id
from benzer.index.nearest import NearestMatches, Scan
from benzer.index.quoting import Quoting
from benzer.index.sampling import check_draw, draw, fitting, last_number
from benzer.index.settings import IndexSettings, mismatch
from benzer.index.upkeep import Upkeep, When, second_of
from benzer.sketcher import check_fields
from benzer.storage import DocumentId, Storage, open_storage

if TYPE_CHECKING:
    from benzer.results import Duplicates

_ASKED_AT_ONCE = 256  # bounds the documents in memory while many are asked for


class Index(Quoting, Upkeep):
    """A collection of documents that is asked which of them are like a given one.

    Changes are seen by the index itself at once; `commit` makes them durable and visible to other processes,
    and so does the end of a `with` block. An error in the block undoes what was not committed.

    `on_candidates`, where it is set, is called by `find_similar` for each question with the number of documents that
    share a bucket with it, and that are compared.

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
        """Open the index at `location`: the path of a file, or "memory:" for a new one in memory.

        Mode "write" makes the index where there is none, by `settings` or the defaults; mode "read" makes and
        changes nothing. An existing index keeps the settings it was made with: leave `settings` out, or give
        the same. `timeout`: seconds to wait for another writer.

        Raises:
            SettingsMismatchError: the index was created with other settings; the message shows both.
            StoreFormatError: not an index, or a damaged one, or one of a later version.
            StorageError: there is no index to read, or it cannot be opened.
            StoreLockedError, from the first change on: another process is writing.
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
        """Add documents: `Document`s, (id, text or fields) pairs, mappings with an "id", or one id → text.

        A document whose id is held already replaces the old one. Gives how many were read. Nothing is
        committed; after an error the batches before it are still there, until `rollback`. `seen_at`: when they
        were seen (see `evict`), by default now.
        """
        if batch_size < 1:
            raise SettingsError(f"batch_size must be 1 or more, got {batch_size}")
        given = iter(documents.items() if isinstance(documents, Mapping) else documents)
        count = 0
        while batch := [
            check_id(as_document(one, self.settings.schema)) for one in islice(given, batch_size)
        ]:
            seen = describe_documents(self.settings.schema, batch, threads)
            self._file(seen, threads, second_of(seen_at))
            count += len(batch)
        return count

    def _file(self, documents: Sequence[Document], threads: int, seen: int) -> None:
        payloads, keys = self._sketcher.filed(documents, threads)
        if self._fingerprints is None:
            self._storage.add([document.id for document in documents], payloads, keys, seen)
        else:
            self._fingerprints.add(self._storage, documents, payloads, keys, threads, seen)

    def remove(self, ids: Iterable[DocumentId]) -> int:
        """Remove documents; ids that are not held are passed over. Gives how many were removed."""
        if isinstance(ids, str):
            raise InputError(f"ids must be a list of ids, got the text {ids!r}: put it into a list")
        return self._storage.remove(list(ids))

    def find_similar(
        self, document: Any, limit: int | None = 10, threshold: float | None = None
    ) -> list[Match]:
        """The documents most like one, best first; of equal similarity the one added earlier comes first.

        `document`: a text, a mapping of fields, or a `Document`, which is not offered as like itself. Each
        similarity is exact and at least `threshold`, by default that of the index. A lower threshold is
        allowed, but pairs below that of the index are found with less than the promised recall: see
        `probability`. `limit=None` gives all. Empty documents are like no other.
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
        """`find_similar` for many documents, in the order asked; faster than one by one."""
        if isinstance(documents, str | bytes):
            raise InputError(f"documents must be a list, got the text {documents!r:.80}: put it into a list")
        least = self._least(limit, threshold)
        asked = iter(documents)
        found: list[list[Match]] = []
        while batch := self._queries(islice(asked, _ASKED_AT_ONCE), threads):
            found.extend(self._find(batch, limit, least, threads))
        return found

    def _least(self, limit: int | None, threshold: float | None) -> float:
        """How similar a match is at least; refuses what is no limit, or no threshold."""
        check_limit(limit)
        least = self.settings.threshold if threshold is None else threshold
        if not is_number(least) or not 0 <= least <= 1:
            raise SettingsError(f"threshold must be in [0, 1], got {least}")
        return least

    def find_nearest(
        self,
        document: Any,
        limit: int | None = 10,
        recall: float = 0.999,
        threshold: float | None = None,
        threads: int = 0,
    ) -> NearestMatches:
        """The documents nearest to one, also below the threshold of the index, best first.

        Each of the true nearest of at least `threshold` is among them with probability `recall` or more, and
        every similarity is exact. All sketches are scanned, and the promising documents compared: the more, the
        lower `threshold` and the higher `recall`; `recall=1` compares all. Without a threshold that is promised
        from 0.1 on, and an answer of fewer than `limit` is filled with the best of the 1,000 that look nearest
        beyond; with one, nothing below it is given. The first call reads the whole
        collection, and keeps 137 bytes a document of one field in memory. See docs/decisions/0019-nearest.md.

        >>> with Index.open("memory:") as index:
        ...     added = index.add({"a": "one two three four five six", "b": "one two three nine ten eleven"})
        ...     found = index.find_nearest("one two three four five seven")
        ...     [(match.id, round(match.similarity, 3)) for match in found], found.recall
        ([('a', 0.6), ('b', 0.143)], 1.0)
        """
        self._scan = self._scan or Scan(self._sketcher)
        (query,) = self._queries([document], threads=1)
        return self._scan.find(self._storage, query, limit, threshold, recall, threads)

    def find_candidates(self, document: Any, limit: int | None = 10) -> list[Candidate]:
        """The documents that share a bucket with one, those of most shared buckets first: not verified.

        This is what a collection of signatures alone can say (nearest neighbours by locality-sensitive
        hashing). `find_similar` compares these documents exactly; use it unless you want to see what it is
        given, or a comparison of your own follows. `document` and `limit` as in `find_similar`.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add([("a", "one two three four five six"), ("b", "seven eight nine ten")])
        ...     [candidate.id for candidate in index.find_candidates("one two three four five seven")]
        ['a']
        """
        return self.find_candidates_batch([document], limit, threads=1)[0]

    def find_candidates_batch(
        self, documents: Iterable[Any], limit: int | None = 10, threads: int = 0
    ) -> list[list[Candidate]]:
        """`find_candidates` for many documents, in the order asked; much faster than one by one."""
        check_limit(limit)
        asked = iter(documents)
        found: list[list[Candidate]] = []
        while batch := self._queries(islice(asked, _ASKED_AT_ONCE), threads):
            found.extend(self._candidates(batch, limit, threads))
        return found

    def _candidates(self, asked: list[Query], limit: int | None, threads: int) -> Iterator[list[Candidate]]:
        keys = self._sketcher.keys([query.document for query in asked], threads)
        with self._storage.snapshot():
            cells, numbers = self._storage.candidates(keys.reshape(-1, 1))  # a row for each band of each
            found, shared = np.unique((cells // keys.shape[1] << 32) | numbers, return_counts=True)
            wanted, place = np.unique(found & (2**32 - 1), return_inverse=True)
            ids = self._storage.ids(wanted)
        bounds = np.searchsorted(found >> 32, np.arange(len(asked) + 1)).tolist()
        for query, (start, end) in zip(asked, pairwise(bounds), strict=True):
            best = start + np.argsort(-shared[start:end], kind="stable")
            ranked = (Candidate(ids[place[at]], int(shared[at])) for at in best.tolist())
            yield list(islice((one for one in ranked if not query.is_itself(one.id)), limit))

    def filed_under(self, keys: NDArray[np.uint64]) -> Filed:
        """The documents that share a bucket with band keys that were made elsewhere (uint64, n x width).

        For those who compare many documents with an index, as `benzer.find_duplicates` does; the keys must be made
        by the settings of the index.
        """
        with self._storage.snapshot():
            rows, numbers = self._storage.candidates(keys)
            wanted, places = np.unique(numbers, return_inverse=True)
            return Filed(rows, places, self._storage.ids(wanted), self._storage.payloads(wanted))

    def _queries(self, given: Iterable[Any], threads: int) -> list[Query]:
        """What is asked for, with fields that the schema has, and pictures read."""
        asked = [as_query(one, self.settings.schema) for one in given]
        for query in asked:
            check_fields(query.document, self.settings.schema)
        documents = [query.document for query in asked]
        seen = describe_documents(self.settings.schema, documents, threads)
        return [query._replace(document=document) for query, document in zip(asked, seen, strict=True)]

    def _find(
        self, asked: list[Query], limit: int | None, least: float, threads: int
    ) -> Iterator[list[Match]]:
        questions = self._sketcher.ask([query.document for query in asked], threads)
        keys = np.concatenate([question.keys for question in questions])
        with self._storage.snapshot():
            rows, numbers = self._storage.candidates(keys)
            wanted, place = _each_once(numbers) if len(asked) > 1 else (numbers, range(len(numbers)))
            ids, payloads = self._storage.documents(wanted)
        bounds = np.searchsorted(rows, np.arange(len(asked) + 1)).tolist()
        if self.on_candidates is not None:
            for start, end in pairwise(bounds):
                self.on_candidates(end - start)
        for query, question, (start, end) in zip(asked, questions, pairwise(bounds), strict=True):
            held = place[start:end]
            if query.identified:
                held = [at for at in held if not query.is_itself(ids[at])]
            most = None if limit is None else min(limit, len(held))
            best = question.best([payloads[at] for at in held], least, most) if held else []
            yield [Match(ids[held[at]], similarity, self._by_field(each)) for at, similarity, each in best]

    def _by_field(self, similarities: list[float]) -> dict[str, float]:
        pairs = zip(self.settings.schema.fields, similarities, strict=True)
        return {name: similarity for name, similarity in pairs if similarity == similarity}  # not NaN

    @overload
    def probability(self, similarity: float) -> float: ...
    @overload
    def probability(self, similarity: ArrayLike) -> float | NDArray[np.float64]: ...
    def probability(self, similarity: ArrayLike) -> float | NDArray[np.float64]:
        """With which probability a document of this similarity is found; of several fields, at least that.

        >>> Index.open("memory:").probability(0.8) >= 0.95
        True
        """
        settings = self.settings
        lowest = np.vectorize(settings.schema.band_threshold, otypes=[np.float64])(similarity)
        return settings.bands.probability(lowest)

    def find_duplicates(self, keep: str = "first", threads: int = 0, **options: Any) -> Duplicates:
        """The duplicates among all documents held, as `benzer.find_duplicates` finds them.

        By the settings of the index; `keep` and `options` are those of `benzer.find_duplicates`. Documents
        come in the order in which they were added.
        """
        from benzer.pipeline import find_duplicates

        settings = self.settings
        with self._storage.snapshot():  # else a document that is replaced meanwhile could be missed
            documents = list(self.documents())
        return find_duplicates(
            documents,
            threshold=settings.threshold,
            recall=settings.recall,
            schema=settings.schema,
            minhash=settings.minhash,
            bands=settings.bands,
            keep=keep,
            threads=threads,
            **options,
        )

    def get(self, document_id: DocumentId) -> Document | None:
        """The document with this id; None when it is not held."""
        with self._storage.snapshot():
            numbers = self._storage.numbers([document_id])
            if numbers[0] < 0:
                return None
            return self._sketcher.decode(document_id, self._storage.payloads(numbers)[0])

    def snapshot(self) -> AbstractContextManager[None]:
        """Within this block all questions see one and the same state, whatever other processes commit.

        So that what is found can be looked up. Other threads that use the same object wait: keep it short.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add({"a": "one two three four five six"})
        ...     with index.snapshot():
        ...         [index.get(match.id).fields["text"] for match in index.find_similar("two three four five six")]
        ['one two three four five six']
        """
        return self._storage.snapshot()

    def signature(self, document_id: DocumentId) -> dict[str, NDArray[np.uint32]] | None:
        """The signature (uint32, `num_hashes`) of each field of a document; None when it is not held.

        It is made again from the document that is kept, and equals the one that was filed.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add({"a": "one two three four five six"})
        ...     index.signature("a")["text"].shape == (index.settings.minhash.num_hashes,)
        True
        """
        document = self.get(document_id)
        if document is None:
            return None
        found = self._sketcher.signatures([document], threads=1)
        return {name: signatures[0] for name, signatures in found.items()}

    def documents(self) -> Iterator[Document]:
        """All documents, in the order in which they were added."""
        for batch in self._storage.iterate():
            yield from map(self._sketcher.decode, batch.ids, batch.payloads)

    def page(self, after: int = -1, limit: int = 100, most: int = 2**63) -> tuple[list[Document], int | None]:
        """Some documents in order of arrival, and what to pass as `after` for those behind; None behind the last.

        `most`: bytes of the documents together, as they are kept; a page that reaches it ends there.

        >>> with Index.open("memory:") as index:
        ...     added = index.add({"a": "one two", "b": "three four", "c": "five six"})
        ...     (first, _), after = index.page(limit=2)
        ...     first.id, [document.id for document in index.page(after)[0]], index.page(after)[1]
        ('a', ['c'], None)
        """
        found: list[Document] = []
        last = after
        for batch in self._storage.iterate(batch_size=min(limit + 1, 64), after=after):
            for number, document_id, payload in zip(
                batch.numbers.tolist(), batch.ids, batch.payloads, strict=True
            ):
                if len(found) == limit or (found and most <= 0):
                    return found, last
                found.append(self._sketcher.decode(document_id, payload))
                most -= len(payload)
                last = number
        return found, None

    def sample(self, count: int, most_bytes: int | None = None, seed: int = 0) -> list[Document]:
        """Some of the documents, drawn by a seed, in the order in which they were added; all, if they are few.

        The same collection gives the same ones. As few are read as are given: at most `count`, and so many that
        they have `most_bytes` together as they are kept.

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
        """Two numbers that are equal at two times only if the collection held the same documents.

        For who keeps what was computed of all documents. A cheap question: nothing is read but the counts.

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
        """How many buckets there are of each size: {documents that share a key: keys with so many}.

        Large buckets make questions slow, for all documents of a bucket are compared. Of an index that files
        passages the keys of passages count, too. Reads all postings: a second for some ten million.

        >>> with Index.open("memory:", IndexSettings(threshold=0.5)) as index:
        ...     added = index.add({"a": "one two three four", "b": "one two three four", "c": "five six seven"})
        ...     sizes = index.bucket_sizes()
        ...     sorted(sizes), sizes[1] == sizes[2] == index.settings.bands.bands
        ([1, 2], True)
        """
        return self._storage.bucket_sizes()

    def commit(self) -> None:
        """Make the changes since the last commit durable, together, and visible to others."""
        self._storage.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit."""
        self._storage.rollback()

    def compact(self) -> None:
        """Commit, then rewrite the index in its smallest and fastest shape: worth it after many removals."""
        self._storage.compact()

    def check(self) -> None:
        """Read the whole index and raise StoreFormatError at the first thing that does not fit."""
        self._storage.check()

    def close(self) -> None:
        """Close the index; changes that were not committed are undone. A second call does nothing."""
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
        """Facts and figures of the storage, the settings, and their fingerprint."""
        settings = {"settings": self.settings.to_dict(), "fingerprint": self.settings.fingerprint()}
        return {**self._storage.info(), **settings}


def _each_once(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Sequence[int]]:
    """Document numbers without repeats, and the place of each among them."""
    wanted, place = np.unique(numbers, return_inverse=True)
    return wanted, place.tolist()
