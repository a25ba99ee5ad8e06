"""Finds the passages of a text that appear in an index.

Fingerprints name the documents that may have a passage; each of these is read, and compared with the text word by
word. Passages that the fingerprints suggest but the words do not confirm are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from benzer.corpus import content_of
from benzer.document import Document, FieldValue
from benzer.errors import InputError
from benzer.evidence import Passage
from benzer.evidence.passages import Shared, Sought
from benzer.fields import Text
from benzer.fields.text import text_content
from benzer.index.documents import Query
from benzer.index.fingerprints import MATCHED_SIZE, Fingerprints, Hits, keys_of
from benzer.sketcher import Sketcher
from benzer.storage import DocumentId, Storage

_READ_AT_ONCE = 64  # documents that are fetched together; few, since the first ones may suffice


class PassageMatch(NamedTuple):
    """A document that contains passages of the query.

    Attributes:
        id: Id of the document.
        passages: The passages, the longest first, with their positions in both texts (characters, from 0): `a` is the
            query, `b` the document; see `benzer.evidence.Passage`. At most 1,000 per document.
        words: Number of words of the query that are in these passages.
    """

    id: DocumentId
    field: str
    words: int
    passages: Sequence[Passage]


class Covered(NamedTuple):
    """The parts of a text that appear in any document: ascending `spans` of characters, and their `share` of words."""

    spans: Sequence[tuple[int, int]]
    share: float


@dataclass(frozen=True)
class PassageMatches(Sequence[PassageMatch]):
    """Matches, those with most words first; of equal numbers the document added earlier.

    Attributes:
        matches: The matches.
        covered: For each field, the parts of the query that appear in any document that was read, even if `limit`
            omits it.
        candidates: Number of documents that share a fingerprint with the query.
        unread: Number of those that were not read because of `most`. Others were not read because all fingerprints
            that they share are in passages found before.
    """

    matches: Sequence[PassageMatch]
    covered: Mapping[str, Covered]
    candidates: int
    unread: int

    @overload
    def __getitem__(self, index: int) -> PassageMatch: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[PassageMatch]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.matches[index]

    def __len__(self) -> int:
        return len(self.matches)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "matches": [
                {**match._asdict(), "passages": [asdict(passage) for passage in match.passages]}
                for match in self.matches
            ],
            "covered": {
                name: {"spans": [list(span) for span in item.spans], "share": item.share}
                for name, item in self.covered.items()
            },
            "candidates": self.candidates,
            "unread": self.unread,
        }


class _Document(NamedTuple):
    number: int
    field: str
    words: int
    passages: Sequence[Passage]


class _QueryText:
    """One text of a query: its runs of words, their positions, and the words that were found."""

    def __init__(self, readers: Sequence[Text], number: int, content: FieldValue) -> None:
        """Store the runs of each of `readers`; those of another than the first are whole documents of few words."""
        text = text_content(content)  # refuses what is no text
        runs = [reader.shingle_hashes(text) for reader in readers]
        self.keys, self._key_of_run = np.unique(keys_of(np.concatenate(runs), number), return_inverse=True)
        self.text = str(readers[0].decode(readers[0].encode(content)))  # as an index keeps it
        self._spans = readers[0].token_spans(self.text)[1]
        self._words = np.zeros(len(self._spans), dtype=bool)
        self._starts = np.concatenate([np.arange(len(run)) for run in runs])
        sizes = np.repeat([reader.shingle_size or 1 for reader in readers], [len(run) for run in runs])
        self._ends = np.minimum(self._starts + sizes, len(self._words))

    def note(self, words: NDArray[np.bool_]) -> int:
        """Record the words that one document shares in passages; returns their number."""
        self._words |= words
        return int(words.sum())

    def explained(self) -> NDArray[np.bool_]:
        """Return the keys (bool, one each) whose runs are all within found words."""
        cumulated = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self._words)))
        open_runs = self._key_of_run[
            cumulated[self._ends] - cumulated[self._starts] < self._ends - self._starts
        ]
        explained = np.ones(len(self.keys), dtype=bool)
        explained[open_runs] = False
        return explained

    def covered(self) -> Covered:
        """Return the found parts."""
        edges = np.flatnonzero(np.diff(np.concatenate(([0], self._words.view(np.int8), [0]))))
        spans = [
            (int(self._spans[first, 0]), int(self._spans[end - 1, 1]))
            for first, end in zip(edges[::2], edges[1::2], strict=True)
        ]
        return Covered(spans, float(self._words.mean()) if len(self._words) else 0.0)


@dataclass(frozen=True)
class PassageFinder:
    """Finds the passages of texts in the documents of a storage."""

    sketcher: Sketcher
    fingerprints: Fingerprints

    def find(
        self, storage: Storage, query: Query, least_words: int, limit: int | None, most: int | None
    ) -> PassageMatches:
        """Return the documents with passages of at least `least_words` words, reading at most `most`."""
        fields = dict(self._texts(query.document, least_words))
        results: list[_Document] = []
        covered, candidates, unread = {}, set[int](), 0
        with storage.snapshot():
            itself = storage.numbers([query.document.id] if query.identified else [])
            for number, (name, request) in fields.items():
                hits = self.fingerprints.hits(storage, request.keys)
                hits = hits._replace(documents=hits.documents[~np.isin(hits.documents, itself)])
                candidates.update(hits.documents.tolist())
                search = _Search(self, storage, number, name, request, least_words)
                results.extend(search.run(hits, limit, most))
                covered[name] = request.covered()
                unread += search.unread
            results.sort(key=lambda item: (-item.words, item.number))
            best = results[:limit]
            ids = storage.ids([item.number for item in best])
        matches = [
            PassageMatch(document_id, item.field, item.words, item.passages)
            for item, document_id in zip(best, ids, strict=True)
        ]
        return PassageMatches(matches, covered, len(candidates), unread)

    def _texts(self, document: Document, least_words: int) -> Iterator[tuple[int, tuple[str, _QueryText]]]:
        size, given = self.fingerprints.passages.size, False
        readers = [self.fingerprints.readers(words) for words in (size, *range(least_words, size))]
        for number, name in enumerate(self.fingerprints.schema.fields):
            content = content_of(document, name)
            if number in readers[0] and content is not None:
                given = True
                yield number, (name, _QueryText([reader[number] for reader in readers], number, content))
        if not given:
            raise InputError("passages require a text, got none: use a text field of the index")


class _Search:
    """Reads the documents that may have passages of one text, until all shared fingerprints are explained."""

    def __init__(
        self,
        finder: PassageFinder,
        storage: Storage,
        number: int,
        name: str,
        query: _QueryText,
        least_words: int,
    ) -> None:
        self._sketcher, self._storage = finder.sketcher, storage
        self._sought = Sought(finder.fingerprints.readers(MATCHED_SIZE)[number], query.text)
        self._number, self._name, self._query, self._least = number, name, query, least_words
        self.unread = 0

    def run(self, hits: Hits, limit: int | None, most: int | None) -> Iterator[_Document]:
        """Yield every document with passages, of those that are read.

        The first ones are read until `limit` have passages, then only those whose fingerprints are not explained.
        """
        query, read, result = self._query, 0, 0
        for start in range(0, len(hits.documents), _READ_AT_ONCE):
            some = hits.documents[start : start + _READ_AT_ONCE]
            if limit is not None and result >= limit:
                some = some[np.isin(some, hits.numbers[~query.explained()[hits.rows]])]
            allowed = some if most is None else some[: max(0, most - read)]
            self.unread += len(some) - len(allowed)
            read += len(allowed)
            for number, payload in zip(allowed.tolist(), self._storage.payloads(allowed), strict=True):
                shared = self._shared(payload)
                words = query.note(shared.tokens)
                if words:
                    result += 1
                    yield _Document(number, self._name, words, shared.passages)

    def _shared(self, payload: bytes) -> Shared:
        content = list(self._sketcher.parts(payload))[self._number] or b""
        return self._sought.find_in(content.decode(), least_tokens=self._least)
