"""Indexes of a service, with the same methods and results as local indexes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from benzer.checks import check_on_error, check_time, listed_ids
from benzer.client import adding, wire
from benzer.client.adding import Added, Progress
from benzer.client.connection import ClientConnection
from benzer.client.given import Rows, check_batch_size, new_documents, source_of
from benzer.client.jobs import AsyncDuplicatesJob, DuplicatesJob
from benzer.client.methods import Awaiting, Blocking, call, finish, paged
from benzer.client.questions import QueryFields, answered
from benzer.client.requests import as_json, given, segment
from benzer.comparison import Comparison
from benzer.document import Document
from benzer.index import Candidate, ContainmentMatches, IndexSettings, Match, NearestMatches
from benzer.index.documents import check_id
from benzer.index.passages import PassageMatches
from benzer.index.upkeep import When, second_of
from benzer.storage import DocumentId
from benzer.storage.base import checked_id

IDS_AT_ONCE = 5000
QUESTIONS_AT_ONCE, QUESTION_BYTES = 200, 4_000_000
DOCUMENTS_A_PAGE = 500
MOST_COMPARED = 1_000_000  # the limit of the service
Job = TypeVar("Job", bound=DuplicatesJob | AsyncDuplicatesJob)


class IndexCalls(Generic[Job]):
    """The methods of a remote index, which are those of `benzer.Index`.

    The service sets the number of threads. Every change is durable when its method returns, so there is no `commit`.
    """

    _job: type[Job]

    def __init__(self, connection: ClientConnection, name: str) -> None:
        self._connection, self.name = connection, name
        self._path = f"/v1/indexes/{segment(name)}"
        self._known: IndexSettings | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._connection.address.url})"

    async def _settings(self) -> IndexSettings:
        if self._known is None:
            self._known = wire.settings_of((await self._connection.ask("GET", self._path)).json())
        return self._known

    async def _as_query(self, document: Any) -> QueryFields:
        return QueryFields.of(document, (await self._settings()).schema)

    # Description

    @call
    async def info(self) -> dict[str, Any]:
        """Return the size of the index, its settings and their fingerprint."""
        values: dict[str, Any] = (await self._connection.ask("GET", self._path)).json()
        return values

    @call
    async def probability(self, similarity: float) -> float:
        """Return the probability that a document with this similarity is found; with several fields, a lower bound."""
        settings = await self._settings()
        return float(settings.bands.probability(settings.schema.band_threshold(similarity)))

    @call
    async def count(self) -> int:
        """Return the number of documents in the index."""
        values = (await self._connection.ask("GET", self._path)).json()
        return int(values["documents"])

    # Documents

    @call
    async def add(
        self,
        documents: Any,
        batch_size: int = 2000,
        *,
        on_error: Literal["stop", "skip"] = "stop",
        progress: Progress | None = None,
    ) -> Added:
        """Add documents in batches.

        A document with an existing id replaces the stored one, so that a batch whose response was lost can be sent
        again. After an error the previous batches are durable, and the message states the number of documents.

        Args:
            documents: An iterable of `Document`s, pairs or mappings; only one batch is in memory at a time. An image
                may be a path, which is read locally, bytes, or an array.
            batch_size: Maximum number of documents per request.
            on_error: Whether malformed documents stop the call or are skipped and listed.
            progress: Called with the number of documents added so far.

        Returns:
            The number of documents read, with details; see `Added`.
        """
        check_batch_size(batch_size)
        check_on_error(on_error)
        schema = (await self._settings()).schema
        rows = Rows(new_documents(documents, list(schema.fields)), schema, skips=on_error == "skip")
        return await adding.add(self._connection, f"{self._path}/documents", rows, batch_size, progress)

    @call
    async def remove(self, ids: Iterable[DocumentId]) -> int:
        """Remove documents by id; unknown ids are ignored. Returns the number of removed documents."""
        removed = 0
        for some in parts_of(ids):
            answer = await self._connection.ask("POST", f"{self._path}/remove", {"ids": some})
            removed += answer.json()["removed"]
        return removed

    @call
    async def get(self, document_id: DocumentId) -> Document | None:
        """Return the document with this id, or None if it does not exist."""
        document = await self._lookup(document_id, contents=True)
        return None if document is None else wire.document_of(document)

    @call
    async def contains(self, document_id: DocumentId) -> bool:
        """Return whether the index has a document with this id."""
        if isinstance(document_id, bool) or not isinstance(document_id, str | int):
            return False
        return (await self._lookup(document_id, contents=False)) is not None

    async def _lookup(self, document_id: DocumentId, contents: bool) -> Any:
        check_id(Document(checked_id(document_id), {}))
        body = {"ids": [document_id], "contents": contents}
        (document,) = (await self._connection.ask("POST", f"{self._path}/lookup", body)).json()["documents"]
        return document

    @paged
    async def documents(self) -> AsyncIterator[Document]:
        """Iterate over all documents in insertion order."""
        after = None
        while True:
            page = await self._connection.ask(
                "GET", f"{self._path}/documents", limit=DOCUMENTS_A_PAGE, after=after
            )
            values = page.json()
            for document in values["documents"]:
                yield wire.document_of(document)
            after = values["next"]
            if after is None:
                return

    # Search

    @call
    async def find_similar(
        self,
        document: Any,
        limit: int | None = 10,
        threshold: float | None = None,
        *,
        evidence: bool = False,
        contents: bool = False,
    ) -> list[wire.FoundMatch]:
        """Return the documents most similar to a document, most similar first; see `benzer.Index.find_similar`.

        Args:
            document: A `Document`, a mapping of fields, or a text.
            limit: Maximum number of matches; None for all.
            threshold: Minimum similarity; default: that of the index.
            evidence: Whether each match has the evidence.
            contents: Whether each match has the contents of the document.
        """
        explained = {"evidence": evidence or None, "contents": contents or None}
        query = await self._as_query(document)
        path = f"{self._path}/similar"
        _, matches = await answered(
            self._connection, path, query, limit, "matches", wire.match_of, threshold=threshold, **explained
        )
        return matches

    @call
    async def find_similar_batch(
        self, documents: Any, limit: int | None = 10, threshold: float | None = None
    ) -> list[list[Match]]:
        """Run `find_similar` for many documents; much faster than single calls. Results are in input order."""
        source, matches = source_of(documents), list[list[Match]]()
        path, waiting = f"{self._path}/similar/batch", list[QueryFields]()
        size, ended = 0, False
        while not ended:
            some = await self._connection.draw(source, 1)
            ended = not some
            for item in some:
                waiting.append(await self._as_query(item))
                size += len(as_json(waiting[-1].fields))
            if waiting and (ended or size > QUESTION_BYTES or len(waiting) == QUESTIONS_AT_ONCE):
                body = {
                    "questions": [question.question() for question in waiting],
                    "limit": max(question.wanted(limit) for question in waiting),
                    **given({"threshold": threshold}),
                }
                answers = (await self._connection.ask("POST", path, body)).json()["answers"]
                for query, item in zip(waiting, answers, strict=True):
                    matches.append(query.kept([wire.match_of(match) for match in item["matches"]], limit))
                waiting, size = [], 0
        return matches

    @call
    async def find_nearest(
        self,
        document: Any,
        limit: int | None = 10,
        recall: float = 0.999,
        threshold: float | None = None,
        *,
        evidence: bool = False,
    ) -> NearestMatches:
        """Return the nearest documents, including those below the threshold; see `benzer.Index.find_nearest`.

        Without a limit the service searches for its maximum number of results, more than a local `Index`.

        Args:
            document: A `Document`, a mapping of fields, or a text.
            limit: Maximum number of matches.
            recall: The probability to find each nearest document.
            threshold: Minimum similarity.
            evidence: Whether each match has the evidence.
        """
        query = await self._as_query(document)
        options = {"recall": recall, "threshold": threshold, "evidence": evidence or None}
        answer, matches = await answered(
            self._connection, f"{self._path}/nearest", query, limit, "matches", wire.match_of, **options
        )
        return wire.nearest_of(answer, matches)

    @call
    async def find_candidates(self, document: Any, limit: int | None = 10) -> list[Candidate]:
        """Return the documents that share a bucket with a document, most shared buckets first, unverified."""
        return await self._candidates(document, limit)

    @call
    async def find_candidates_batch(self, documents: Any, limit: int | None = 10) -> list[list[Candidate]]:
        """Run `find_candidates` for many documents. Results are in input order."""
        source, candidates = source_of(documents), list[list[Candidate]]()
        while some := (await self._connection.draw(source, 1)):
            candidates.append(await self._candidates(some[0], limit))
        return candidates

    async def _candidates(self, document: Any, limit: int | None) -> list[Candidate]:
        query = await self._as_query(document)
        path = f"{self._path}/candidates"
        _, candidates = await answered(self._connection, path, query, limit, "candidates", wire.candidate_of)
        return candidates

    # Quotations

    @call
    async def find_containing(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """Return the documents that contain a document; see `benzer.Index.find_containing`."""
        return await self._contained("containing", document, threshold, limit, most)

    @call
    async def find_contained(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """Return the documents that a document contains; see `benzer.Index.find_contained`."""
        return await self._contained("contained", document, threshold, limit, most)

    async def _contained(
        self, route: str, document: Any, threshold: float, limit: int | None, most: int | None
    ) -> ContainmentMatches:
        query = await self._as_query(document)
        options = {"threshold": threshold, "most": MOST_COMPARED if most is None else most}
        answer, matches = await answered(
            self._connection, f"{self._path}/{route}", query, limit, "matches", wire.containment_of, **options
        )
        return wire.containments_of(answer, matches)

    @call
    async def find_passages(
        self, document: Any, least_words: int = 8, limit: int | None = 10, most: int | None = 1000
    ) -> PassageMatches:
        """Return the passages of a text that appear in the index; see `benzer.Index.find_passages`."""
        query = await self._as_query(document)
        options = {"least_words": least_words, "most": MOST_COMPARED if most is None else most}
        answer, matches = await answered(
            self._connection, f"{self._path}/passages", query, limit, "matches", wire.quotation_of, **options
        )
        return wire.quotations_of(answer, matches)

    @call
    async def compare(self, a: Any, b: Any, *, evidence: bool = False) -> Comparison:
        """Compare two documents, stored or not, with the settings of the index; see `benzer.compare`."""
        sides = {}
        for side, document in {"a": a, "b": b}.items():
            sides[side] = {"fields": (await self._as_query(document)).fields}
        answer = await self._connection.ask(
            "POST", "/v1/compare", {"index": self.name, **sides, "evidence": evidence}
        )
        return wire.comparison_of(answer.json())

    # Stale documents

    @call
    async def touch(self, ids: Iterable[DocumentId], seen_at: When | None = None) -> int:
        """Record that documents were seen, by default now. Returns the number of ids in the index."""
        known = 0
        seconds = None if seen_at is None else second_of(seen_at)
        for some in parts_of(ids):
            body = {"ids": some, **given({"seen_at": seconds})}
            known += (await self._connection.ask("POST", f"{self._path}/touch", body)).json()["held"]
        return known

    @call
    async def last_seen(self, document_id: DocumentId) -> datetime | None:
        """Return when a document was added or last touched, in UTC; None if it does not exist or is unknown."""
        document = await self._lookup(document_id, contents=False)
        moment = None if document is None else document["last_seen"]
        return None if moment is None else datetime.fromisoformat(moment.replace("Z", "+00:00"))

    @call
    async def evict(self, unseen_since: When) -> int:
        """Remove the documents last seen before a given time. Returns the number of removed documents."""
        check_time(unseen_since)
        body = {"unseen_since": second_of(unseen_since)}
        removed: int = (await self._connection.ask("POST", f"{self._path}/evict", body)).json()["removed"]
        return removed

    # Duplicates and tuning

    @call
    async def find_duplicates(
        self,
        keep: str = "first",
        *,
        threshold: float | None = None,
        recall: float | None = None,
        method: str | None = None,
        against: Iterable[str] = (),
        measure: bool = False,
    ) -> Job:
        """Start a job that searches all documents of the index for duplicates.

        Args:
            keep: The document of a cluster to keep.
            threshold: Minimum similarity of duplicates; default: that of the index.
            recall: Minimum share of pairs at the threshold that is found; default: that of the index.
            method: The method that finds candidates.
            against: Names of other indexes; documents that match one of theirs are removed as well.
            measure: Whether to measure the recall.

        Returns:
            A handle of the job.
        """
        options = {"threshold": threshold, "recall": recall, "method": method, "keep": str(keep)}
        body = {"index": self.name, **given(options), "against": list(against), "measure": measure}
        answer = await self._connection.ask("POST", "/v1/duplicates", body, again=False)
        return self._job(self._connection, answer.json()["id"])

    @call
    async def tune(
        self,
        threshold: float = 0.8,
        recall: float = 0.95,
        *,
        fields: Mapping[str, Mapping[str, Any]] | None = None,
        shingle_size: int | None = None,
        sample: int = 2000,
        examples: int = 5,
    ) -> dict[str, Any]:
        """Return the effect and the cost of a threshold and a recall in this index; see `POST …/tune`."""
        options = {"fields": fields, "shingle_size": shingle_size}
        body = {"threshold": threshold, "recall": recall, "sample": sample, "examples": examples}
        values: dict[str, Any] = (
            await self._connection.ask("POST", f"{self._path}/tune", {**body, **given(options)})
        ).json()
        return values


def parts_of(ids: Iterable[DocumentId]) -> Iterator[list[DocumentId]]:
    """Ids in parts of the size of one request."""
    listed = [checked_id(listed_id) for listed_id in listed_ids(ids)]
    for start in range(0, len(listed), IDS_AT_ONCE):
        yield listed[start : start + IDS_AT_ONCE]


class RemoteIndex(Blocking, IndexCalls[DuplicatesJob]):
    """An index of a service, with the methods of `benzer.Index`; created by `benzer.Client.index`."""

    _job = DuplicatesJob

    @property
    def settings(self) -> IndexSettings:
        """The settings of the index, which never change."""
        return finish(self._settings())

    def __len__(self) -> int:
        return self.count()

    def __contains__(self, document_id: object) -> bool:
        return self.contains(document_id)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[DocumentId]:
        """Iterate over the ids of all documents in insertion order."""
        for document in self.documents():
            yield document.id


class AsyncRemoteIndex(Awaiting, IndexCalls[AsyncDuplicatesJob]):
    """The asynchronous `RemoteIndex`: its methods are coroutines, and `index.settings` is awaited as well."""

    _job = AsyncDuplicatesJob

    @property
    def settings(self) -> Awaitable[IndexSettings]:
        """The settings of the index, which never change."""
        return self._settings()

    async def __aiter__(self) -> AsyncIterator[DocumentId]:
        """Iterate over the ids of all documents in insertion order."""
        async for document in self.documents():
            yield document.id
