"""Finds the new documents that match a document of an older collection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer.contents import Encoded, contents_of, similarities
from benzer.corpus import descriptions
from benzer.errors import SettingsError, SettingsMismatchError
from benzer.fields import Schema
from benzer.fields.schema import DEFAULT_RECALL
from benzer.pipeline.checkpoint import Arrays
from benzer.pipeline.work import BatchWork, runs
from benzer.results.known import Known
from benzer.sketcher import Sketcher, columns

COMPARED_TOGETHER = 512
REMEMBERED = ("home", "path", "url", "removed", "postings", "fingerprint")

Positions = NDArray[np.uint32]


class OlderCollection(Protocol):
    """The interface of an older collection, such as `benzer.Index`; it is only read."""

    @property
    def settings(self) -> Any: ...
    def filed_under(self, keys: NDArray[np.uint64]) -> Any: ...
    def probability(self, similarity: float) -> Any: ...
    def info(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...


class Matches(NamedTuple):
    """Similar pairs of a new document (`rows`) and an old one (`old_ids`), in the order of both."""

    rows: Positions
    old_ids: list[str | int]
    similarity: NDArray[np.float64]


def as_collections(against: Any) -> tuple[OlderCollection, ...]:
    """Return one or several collections in the order of their priority."""
    several = isinstance(against, Iterable) and not isinstance(against, (str, bytes))
    given = tuple(against) if several and not hasattr(against, "filed_under") else (against,)
    for item in given if against is not None else ():
        if not hasattr(item, "filed_under"):
            raise SettingsError(
                f"against must be open indexes, got {item!r}: use Index.open(path, mode='read')"
            )
    return given if against is not None else ()


def names_of(collections: Sequence[OlderCollection]) -> tuple[str, ...]:
    """Return a name for each: its location; its number for those in memory and for equal locations.

    >>> names_of([])
    ()
    """
    facts = [collection.info() for collection in collections]
    names = [str(fact.get("path") or fact.get("url") or f"{fact.get('home', 'index')}:") for fact in facts]
    return tuple(
        name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)
    )


def default_threshold(schema: Schema, collections: Sequence[Any]) -> float:
    """Return the threshold of a run that names none: that of the first collection, or of the schema.

    >>> default_threshold(Schema(), [])
    0.8
    """
    return float(collections[0].settings.threshold) if collections else schema.default_threshold


def default_recall(collections: Sequence[Any]) -> float:
    """Return the recall of a run that names none; the bands of the collections must reach it.

    >>> default_recall([])
    0.95
    """
    return min([DEFAULT_RECALL, *(float(collection.settings.recall) for collection in collections)])


def check(collections: Sequence[OlderCollection], schema: Schema, threshold: float, recall: float) -> None:
    """Raise an error for a collection with other settings of comparison, or whose bands have a lower recall."""
    for name, collection in zip(names_of(collections), collections, strict=True):
        theirs: Schema = collection.settings.schema
        if theirs != schema:
            raise SettingsMismatchError(
                f"{name} compares {described(theirs)}, the run {described(schema)}: "
                f"use the schema of the index, or create an index with the schema of the run"
            )
        probability = float(collection.probability(threshold))
        if probability < recall:
            raise SettingsError(
                f"the bands of {name} find a pair at {threshold} with probability {probability:.4f}, less than "
                f"recall={recall}: use a recall of at most {np.floor(probability * 1e4) / 1e4}, or pass its "
                f"documents as the first source"
            )


def described(schema: Schema) -> str:
    """Describe the fields of a schema and how they are read, in one line.

    >>> from benzer.fields import ValueSet
    >>> described(Schema(tags=ValueSet()))
    'tags {"type": "values", "weight": 1.0}'
    """
    return ", ".join(f"{name} {json.dumps(settings)}" for name, settings in schema.to_dict().items())


def look_up(
    work: BatchWork, collections: Sequence[OlderCollection], threshold: float, stands_for: Positions
) -> Known | None:
    """Return all verified matches of a run's documents with older collections; None if there are none of these."""
    return LookUp(work, threshold, stands_for).known(collections) if collections else None


@dataclass(frozen=True)
class LookUp:
    """Searches the documents of a run in older collections.

    Attributes:
        stands_for: For each document, the one with the same content that is searched for it (uint32, n).
    """

    work: BatchWork
    threshold: float
    stands_for: Positions

    def known(self, collections: Sequence[OlderCollection]) -> Known:
        """Return all verified matches. An old document with the same id is the same document, and no match."""
        parts = [
            (
                number,
                self.work.saved.part(
                    f"known-{number}-{start}-{end}", partial(self._part, collection, start, end)
                ),
            )
            for number, collection in enumerate(collections)
            for start, end in self._runs(collection)
        ]
        position = joined([part["rows"] for _, part in parts], np.uint32)
        similarity = joined([part["similarity"] for _, part in parts], np.float64)
        old_ids = [old_id for _, part in parts for old_id in json.loads(part["ids"].tobytes())]
        numbers = joined([np.full(len(part["rows"]), number) for number, part in parts], np.uint32)
        order = np.lexsort((-similarity, numbers, position))
        return Known(
            names_of(collections),
            position[order],
            numbers[order],
            [old_ids[position] for position in order.tolist()],
            similarity[order],
        )

    def _runs(self, collection: OlderCollection) -> Iterator[tuple[int, int]]:
        keys = len(self.work.schema.fields) * collection.settings.bands.bands
        return runs(len(self.stands_for), self.work.memory.sketched_together(keys))

    def _part(self, collection: OlderCollection, start: int, end: int) -> Arrays:
        """Return the matches of all documents represented by those from `start` to `end`."""
        sketcher: Sketcher = collection.settings.sketcher()
        sketches = sketcher.sketch(self.work.corpus, self.work.threads, None, start, end)
        alone = np.flatnonzero((self.stands_for[start:end] == np.arange(start, end)) & ~sketches.empty)
        parts = []
        for position, to in runs(len(alone), COMPARED_TOGETHER):
            queries = (start + alone[position:to]).astype(np.uint32)
            parts.append(self._ask(sketcher, collection, queries, sketches.keys[alone[position:to]]))
        return self._with_copies(
            joined([part.rows for part in parts], np.uint32),
            [old_id for part in parts for old_id in part.old_ids],
            joined([part.similarity for part in parts], np.float64),
        )

    def _ask(
        self, sketcher: Sketcher, collection: OlderCollection, queries: Positions, keys: NDArray[np.uint64]
    ) -> Matches:
        """Return the matches of the documents at some positions, which have these band keys."""
        filed = collection.filed_under(np.ascontiguousarray(keys))
        old = columns(self.work.schema, [tuple(sketcher.parts(payload)) for payload in filed.payloads])
        similarity = self._compare(queries, old, filed.rows.astype(np.uint32), filed.places.astype(np.uint32))
        alike = np.flatnonzero(similarity >= self.threshold)
        old_ids = [filed.ids[place] for place in filed.places[alike].tolist()]
        return Matches(queries[filed.rows[alike]], old_ids, similarity[alike])

    def _compare(
        self, queries: Positions, old: Sequence[Encoded], rows: Positions, places: Positions
    ) -> NDArray[np.float64]:
        """Return the exact similarity (float64) of pairs: `rows` count in `asked`, `places` in the old documents."""
        schema, threads = self.work.schema, self.work.threads
        corpus = self.work.corpus
        overlaps = corpus.contents(queries, threads).overlaps(
            contents_of(schema, old, threads), rows, places, threads
        )
        own = descriptions(corpus, queries)
        return similarities(schema, overlaps, rows, places, own, dict(enumerate(old)), threads)[:, 0]

    def _with_copies(
        self, queries: Positions, old_ids: list[str | int], similarity: NDArray[np.float64]
    ) -> Arrays:
        """Return the matches of all represented documents, except matches with the same id."""
        order, content = self._groups
        starts, ends = (np.searchsorted(content, queries, side=side) for side in ("left", "right"))
        counts = ends - starts
        match = np.repeat(np.arange(len(queries)), counts)
        rows = order[starts[match] + np.arange(len(match)) - np.repeat(np.cumsum(counts) - counts, counts)]
        old = [old_ids[position] for position in match.tolist()]
        ids = zip(self.work.corpus.ids(rows), old, strict=True)
        others = np.array(
            [position for position, pair in enumerate(ids) if not same_id(*pair)], dtype=np.intp
        )
        kept = json.dumps([old[position] for position in others.tolist()]).encode()
        return {
            "rows": rows[others],
            "similarity": similarity[match[others]],
            "ids": np.frombuffer(kept, dtype=np.uint8),
        }

    @cached_property
    def _groups(self) -> tuple[Positions, Positions]:
        """Return the documents in an order in which equal contents are adjacent, and the representative of each."""
        order = np.argsort(self.stands_for, kind="stable").astype(np.uint32)
        return order, self.stands_for[order]


def joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Concatenate arrays; returns an empty one of that type if there are none.

    >>> joined([], np.uint32).dtype
    dtype('uint32')
    """
    return np.concatenate(parts).astype(kind, copy=False) if parts else np.empty(0, dtype=kind)


def same_id(a: str | int, b: str | int) -> bool:
    """Whether two ids are equal, including their type: 1 and "1" differ.

    >>> same_id("a", "a"), same_id(1, "1")
    (True, False)
    """
    return type(a) is type(b) and a == b


def facts(collections: Sequence[OlderCollection]) -> Iterator[dict[str, Any]]:
    """Yield the facts about each collection by which a checkpoint detects changes.

    For a collection in a file this includes the time of its last change: other documents of the same number and size
    may have replaced those that were there.
    """
    for collection in collections:
        about = collection.info()
        remembered = {name: about[name] for name in REMEMBERED if name in about}
        written = {} if "path" not in about else {"written": written_at(Path(about["path"]))}
        yield {"documents": len(collection), **remembered, **written}


def written_at(path: Path) -> list[int]:
    """Return the size and last change (in nanoseconds) of a file, and of its non-empty log."""
    files = [path, path.with_name(path.name + "-wal")]
    stats = [file.stat() for file in files if file.exists()]
    return [fact for item in stats if item.st_size for fact in (item.st_size, item.st_mtime_ns)]
