"""What was found, and how is it handed on?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer._native import Corpus, components
from benzer.bands import Bands
from benzer.candidates import Candidates
from benzer.clusters import Compare, Decision, Keep, decide
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.minhash import MinHash
from benzer.sources import MalformedRow, ReadOptions, ReadReport, Source
from benzer.tables import to_arrow

Positions = NDArray[np.uint32]


class Pair(NamedTuple):
    """Two documents and their exact similarity."""

    left_id: str | int
    right_id: str | int
    similarity: float


class Removal(NamedTuple):
    """The kept document for which another goes, and their exact similarity."""

    kept_id: str | int
    similarity: float


class Cluster(NamedTuple):
    """A document that stays, and all that go for it with their exact similarity to it."""

    representative: str | int
    removed: dict[str | int, float]


@dataclass(frozen=True)
class Settings:
    """Everything that the result depends on, beside the input."""

    threshold: float
    recall: float
    schema: Schema
    minhash: MinHash
    bands: Bands
    keep: Keep
    bucket_limit: int
    on_error: str

    def to_dict(self) -> dict[str, Any]:
        """The settings, JSON-able."""
        return {
            "threshold": self.threshold,
            "recall": self.recall,
            "schema": self.schema.to_dict(),
            "minhash": self.minhash.algorithm,
            "num_hashes": self.minhash.num_hashes,
            "seed": self.minhash.seed,
            **({} if self.minhash.family == "mixed" else {"family": self.minhash.family}),
            "bands": self.bands.bands,
            "rows": self.bands.rows,
            "keep": str(self.keep),
            "bucket_limit": self.bucket_limit,
            "on_error": self.on_error,
        }


@dataclass(frozen=True)
class Reading:
    """What was read: the sources, a report on each, and how."""

    sources: Sequence[Source]
    reports: Sequence[ReadReport]
    options: ReadOptions


class Pairs(Sequence[Pair]):
    """Pairs by position (`left`, `right`: uint32; `similarity`: float64) that read as pairs of ids."""

    def __init__(
        self, corpus: Corpus, left: Positions, right: Positions, similarity: NDArray[np.float64]
    ) -> None:
        order = np.lexsort((right, left))
        self.left, self.right, self.similarity = left[order], right[order], similarity[order]
        self._corpus = corpus

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self._read(index))
        at = range(len(self))[index]
        return next(self._read(slice(at, at + 1)))

    def __iter__(self) -> Iterator[Pair]:
        return self._read(slice(None))

    def _read(self, part: slice) -> Iterator[Pair]:
        columns = (self._corpus.ids(self.left[part].copy()), self._corpus.ids(self.right[part].copy()))
        return map(Pair, *columns, self.similarity[part].tolist())

    def columns(self) -> dict[str, Any]:
        """The columns of the table of pairs."""
        ids = self._corpus.ids
        return {"left_id": ids(self.left), "right_id": ids(self.right), "similarity": self.similarity}


@dataclass(frozen=True)
class Duplicates:
    """The result of `find_duplicates`; it answers questions and writes itself to files.

    `timings` holds seconds by stage. Positions count documents in the order of the input.

    >>> from benzer import find_duplicates
    >>> found = find_duplicates({"a": "one two three four", "b": "One two three four.", "c": "five"})
    >>> found.pairs[0], found.kept
    (Pair(left_id='a', right_id='b', similarity=1.0), ['a', 'c'])
    >>> found.counts["removed"], found.clusters
    (1, [Cluster(representative='a', removed={'b': 1.0})])
    """

    settings: Settings
    reading: Reading
    corpus: Corpus = field(repr=False)
    empty: NDArray[np.bool_] = field(repr=False)
    short: NDArray[np.bool_] = field(repr=False)
    rank: Positions = field(repr=False)
    stands_for: Positions = field(repr=False)
    proposed: Candidates = field(repr=False)
    verified: NDArray[np.float64] = field(repr=False)
    decision: Decision = field(repr=False)
    compare: Compare = field(repr=False)
    timings: dict[str, float] = field(repr=False)

    @property
    def threshold(self) -> float:
        """The similarity from which two documents are duplicates."""
        return self.settings.threshold

    @property
    def recall(self) -> float:
        """The promised share of pairs at the threshold that is found."""
        return self.settings.recall

    @property
    def bands(self) -> Bands:
        """The bands that candidates were found with."""
        return self.settings.bands

    def probability(self, similarity: float) -> float:
        """The probability that a pair of a given similarity is found; of several fields, at least that."""
        return float(self.bands.probability(self.settings.schema.band_threshold(similarity)))

    @cached_property
    def ids(self) -> list[str | int]:
        """The id of each document, by position."""
        return self.corpus.ids()

    @property
    def leader(self) -> Positions:
        """The position of the document that stays for each (uint32, n); its own if it stays."""
        return self.decision.leader

    @property
    def leader_similarity(self) -> NDArray[np.float64]:
        """The exact similarity of each document to the one that stays for it (float64, n)."""
        return self.decision.similarity

    @cached_property
    def stays(self) -> NDArray[np.bool_]:
        """Which documents stay (bool, n)."""
        stays: NDArray[np.bool_] = self.leader == np.arange(len(self.leader), dtype=np.uint32)
        return stays

    @cached_property
    def pairs(self) -> Pairs:
        """Verified pairs, with one document standing for all that are identical to it.

        Of documents of identical content the one that comes first in the keep order takes part in other pairs,
        and makes a pair of similarity 1.0 with each of the rest. `expanded_pairs` spells all out.
        """
        alike = self.verified >= self.threshold
        copies = np.flatnonzero(self.stands_for != np.arange(len(self.stands_for))).astype(np.uint32)
        left = (self.proposed.left[alike], self.decision.left, self.stands_for[copies])
        right = (self.proposed.right[alike], self.decision.right, copies)
        scores = (self.verified[alike], self.decision.score, np.ones(len(copies)))
        a, b = np.concatenate(left), np.concatenate(right)
        return Pairs(self.corpus, np.minimum(a, b), np.maximum(a, b), np.concatenate(scores))

    def expanded_pairs(self) -> Pairs:
        """All verified pairs, those among and with identical documents spelt out: quadratic in their number."""
        order = np.argsort(self.stands_for, kind="stable").astype(np.uint32)
        starts = np.searchsorted(self.stands_for[order], np.arange(len(order) + 1))
        copies = np.diff(starts)
        alike = self.verified >= self.threshold
        left = np.concatenate((self.proposed.left[alike], self.decision.left))
        right = np.concatenate((self.proposed.right[alike], self.decision.right))
        scores = np.concatenate((self.verified[alike], self.decision.score))
        plain = (copies[left] == 1) & (copies[right] == 1)
        parts = [(left[plain], right[plain], scores[plain])]
        for a, b, score in zip(left[~plain], right[~plain], scores[~plain], strict=True):
            ones, others = order[starts[a] : starts[a + 1]], order[starts[b] : starts[b + 1]]
            pairs = np.repeat(ones, len(others)), np.tile(others, len(ones))
            parts.append((*pairs, np.full(len(pairs[0]), score)))
        for original in np.flatnonzero(copies > 1):
            group = order[starts[original] : starts[original + 1]]
            first, second = np.triu_indices(len(group), 1)
            parts.append((group[first], group[second], np.ones(len(first))))
        a, b, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Pairs(self.corpus, np.minimum(a, b), np.maximum(a, b), scores)

    @cached_property
    def kept(self) -> list[str | int]:
        """The ids of the documents that stay, in the order of the input."""
        return self.corpus.ids(np.flatnonzero(self.stays).astype(np.uint32))

    @cached_property
    def removed(self) -> dict[str | int, Removal]:
        """For each document that goes, in the order of the input: the one that stays for it."""
        goes = np.flatnonzero(~self.stays).astype(np.uint32)
        kept = self.corpus.ids(self.leader[goes])
        scores = self.leader_similarity[goes].tolist()
        return dict(zip(self.corpus.ids(goes), map(Removal, kept, scores), strict=True))

    @cached_property
    def clusters(self) -> list[Cluster]:
        """Documents that stay for others, each with those, in the order of the input."""
        found: dict[str | int, dict[str | int, float]] = {}
        for id, (kept_id, similarity) in self.removed.items():
            found.setdefault(kept_id, {})[id] = similarity
        return [Cluster(id, found[id]) for id in self.kept if id in found]

    @property
    def malformed(self) -> list[MalformedRow]:
        """The rows that were set aside, with their places and reasons."""
        return [row for report in self.reading.reports for row in report.malformed]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many: rows read, documents, kept, removed (identical, near), short, empty, malformed, …"""
        documents, kept = len(self.stays), int(self.stays.sum())
        copied = self.stands_for != np.arange(documents)
        identical = int((copied & (self.leader == self.stands_for)).sum())
        return {
            "read": sum(report.rows_read for report in self.reading.reports),
            "malformed": len(self.malformed),
            "documents": documents,
            "kept": kept,
            "removed": documents - kept,
            "identical": identical,
            "near": documents - kept - identical,
            "short": int(self.short.sum()),
            "empty": int(self.empty.sum()),
            "candidates": len(self.proposed),
            "pairs": len(self.pairs),
            "clusters": len(np.unique(self.leader[~self.stays])),
            "oversized_buckets": self.proposed.oversized_buckets,
            "oversized_documents": self.proposed.oversized_documents,
        }

    def rethreshold(self, threshold: float) -> Duplicates:
        """The result at a higher threshold, from the pairs at hand; nothing is read or sketched again.

        The bands stay, so a pair at the new threshold has been found with a higher probability than promised;
        a run of its own, with bands for that threshold, may find slightly other pairs.
        """
        if not self.threshold <= threshold <= 1:
            raise SettingsError(
                f"rethreshold goes up from {self.threshold} to at most 1, got {threshold}: run again for less"
            )
        left = np.concatenate((self.proposed.left, self.decision.left))
        right = np.concatenate((self.proposed.right, self.decision.right))
        verified = np.concatenate((self.verified, self.decision.score))
        decision = decide(self.rank, self.stands_for, (left, right, verified), threshold, self.compare)
        proposed = replace(self.proposed, left=left, right=right)
        settings = replace(self.settings, threshold=threshold)
        return replace(self, settings=settings, proposed=proposed, verified=verified, decision=decision)

    def summary(self) -> dict[str, Any]:
        """Counts, settings, sources and timings, JSON-able."""
        return {
            "counts": self.counts,
            "settings": self.settings.to_dict(),
            "probability_at_threshold": self.probability(self.threshold),
            "sources": [
                {"name": source.name, "rows": report.rows_read, "documents": report.documents}
                for source, report in zip(self.reading.sources, self.reading.reports, strict=True)
            ],
            "seconds_by_stage": {name: round(seconds, 6) for name, seconds in self.timings.items()},
        }

    def table(self, name: str) -> dict[str, Any]:
        """The columns of one table: "pairs", "removed", "clusters" or "malformed"."""
        makers: dict[str, Callable[[], dict[str, Any]]] = {
            "pairs": self.pairs.columns,
            "removed": self._removed_table,
            "clusters": self._cluster_table,
            "malformed": self._malformed_table,
        }
        if name not in makers:
            raise SettingsError(f"there is no table {name!r}: choose one of {', '.join(makers)}")
        return makers[name]()

    def to_arrow(self, name: str) -> Any:
        """One table (see `table`) as a `pyarrow.Table`."""
        return to_arrow(self.table(name))

    def _places(self, positions: Positions, prefix: str = "") -> dict[str, Any]:
        names = np.array([source.name for source in self.reading.sources], dtype=object)
        return {
            f"{prefix}file": names[self.corpus.sources()[positions]].tolist(),
            f"{prefix}row": self.corpus.rows()[positions],
        }

    def _removed_table(self) -> dict[str, Any]:
        goes = np.flatnonzero(~self.stays).astype(np.uint32)
        kept = self.leader[goes]
        return {
            "id": self.corpus.ids(goes),
            "kept_id": self.corpus.ids(kept),
            "similarity": self.leader_similarity[goes],
            **self._places(goes),
            **self._places(kept, "kept_"),
        }

    def _cluster_table(self) -> dict[str, Any]:
        goes = np.unique(self.leader[~self.stays])
        members = np.flatnonzero(np.isin(self.leader, goes)).astype(np.uint32)
        leaders = self.leader[members]
        order = np.lexsort((members, members != leaders, leaders))
        members, leaders = members[order], leaders[order]
        tied = components(len(self.stays), self.pairs.left, self.pairs.right)
        return {
            "cluster_id": self.corpus.ids(leaders),
            "id": self.corpus.ids(members),
            "similarity": self.leader_similarity[members],
            "representative": members == leaders,
            "component_id": self.corpus.ids(tied[members]),
            **self._places(members),
        }

    def _malformed_table(self) -> dict[str, Any]:
        return {
            "file": [row.source for row in self.malformed],
            "row": [row.row for row in self.malformed],
            "reason": [row.reason for row in self.malformed],
        }

    def write(
        self, output: str | Path, tables: Literal["jsonl", "parquet"] = "jsonl", replace: bool = False
    ) -> dict[str, Path]:
        """Write everything into a new folder, whole or not at all; gives each part's path by its name.

        "kept" and "removed_documents": the documents in the format and order of their source, all columns
        untouched (a folder of them where there are several sources); "removed": for each removed document the
        kept one, their similarity, and both places; "pairs", "clusters", "malformed" (where there are any);
        "summary": JSON. With `replace` a folder that exists is replaced at the end.
        """
        from benzer.results.writing import write_folder

        return write_folder(self, Path(output), tables, replace)
