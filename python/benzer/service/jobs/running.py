"""What does a job do? It opens what it reads, finds the duplicates as the library does, and measures what it missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from benzer.clusters import Keep
from benzer.errors import SettingsError, SettingsMismatchError
from benzer.fields import Schema
from benzer.index import Index, IndexSettings
from benzer.pipeline import against as older
from benzer.pipeline import find_duplicates
from benzer.pipeline.promise import Promise, method_of
from benzer.service.errors import Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.jobs.job import Told
from benzer.service.jobs.reading import IndexSource, Spool, listed
from benzer.service.jobs.results import Result
from benzer.service.settings import Limits
from benzer.sources import Source


@dataclass(frozen=True)
class Asked:
    """What a job is asked for; None stands for what the index, or the library, has."""

    threshold: float | None = None
    recall: float | None = None
    keep: str = "first"
    method: str | None = None
    schema: Schema | None = None
    on_error: Literal["stop", "skip"] = "stop"
    measure: bool = False


class Older:
    """An index that the documents of a job are held against, by the name that it is served under; only read.

    It is what `benzer.find_duplicates` takes as `against`, and ends the work where that is no longer wanted.
    """

    def __init__(self, name: str, index: Index, told: Told) -> None:
        self._name, self._index, self._told = name, index, told
        self._asked = 0
        self.settings = index.settings

    def filed_under(self, keys: Any) -> Any:
        """The documents that share a bucket with some keys (see `Index.filed_under`)."""
        self._told("against", self._asked, None)
        self._asked += len(keys)
        return self._index.filed_under(keys)

    def probability(self, similarity: float) -> Any:
        """With which probability a document of this similarity is found."""
        return self._index.probability(similarity)

    def info(self) -> dict[str, Any]:
        """What it is called; where it lies is the server's own business."""
        return {"path": self._name}

    def __len__(self) -> int:
        return len(self._index)


@dataclass(frozen=True)
class Search:
    """The task of a job: documents, of an index or uploaded, and the indexes that they are held against."""

    asked: Asked
    index: ServedIndex | None
    uploaded: Spool | Sequence[Any] | None
    against: Mapping[str, ServedIndex]
    limits: Limits = field(default_factory=Limits)

    def run(self, told: Told) -> Result:
        """Find the duplicates; equal to what the library finds in the same documents."""
        with ExitStack() as stack:
            olds = [Older(name, stack.enter_context(opened(one)), told) for name, one in self.against.items()]
            index = None if self.index is None else stack.enter_context(opened(self.index))
            settings = arguments(
                self.asked, None if index is None else index.settings, [one.settings for one in olds]
            )
            source = self._source(index, settings["schema"], told)
            found = find_duplicates(
                [source], keep=self.asked.keep, method=self.asked.method, on_error=self.asked.on_error,
                against=olds, progress=told, **settings,
            )  # fmt: skip
        told("measure", 0, None)
        measured = found.measure_recall() if self.asked.measure and len(found.corpus) else None
        told("measure", 1, 1)
        return Result(found, measured)

    def _source(self, index: Index | None, schema: Schema, told: Told) -> Source:
        if index is not None:
            return IndexSource(index, told)
        if isinstance(self.uploaded, Spool):
            return self.uploaded.source(schema, self.limits, told)
        return listed(self.uploaded or (), schema, self.limits, told)

    def close(self) -> None:
        """Remove what was uploaded."""
        if isinstance(self.uploaded, Spool):
            self.uploaded.close()


@contextmanager
def opened(served: ServedIndex) -> Iterator[Index]:
    """The index opened for a job alone: to read from the one that requests share would make them wait."""
    with served.again() as index:
        yield index


def arguments(asked: Asked, own: IndexSettings | None, olds: Sequence[IndexSettings]) -> dict[str, Any]:
    """The settings of a run: those asked for, else those of the index, or of the first older one, or the library's.

    Where nothing else is asked for, an index is searched by its own signatures and bands, as
    `Index.find_duplicates` does.

    >>> arguments(Asked(threshold=0.7), None, [])["threshold"]
    0.7
    >>> sorted(arguments(Asked(), IndexSettings(), []))
    ['bands', 'minhash', 'recall', 'schema', 'threshold']
    """
    model = own or (olds[0] if olds else None)
    threshold = asked.threshold if asked.threshold is not None else model.threshold if model else 0.8
    recall = asked.recall
    if recall is None:
        recall = own.recall if own else min([0.95, *(one.recall for one in olds)])
    schema = asked.schema or (model.schema if model else Schema())
    wanted: dict[str, Any] = {"threshold": threshold, "recall": recall, "schema": schema}
    by_bands = asked.method in (None, "lsh")
    if own is not None and by_bands and (threshold, recall) == (own.threshold, own.recall):
        wanted |= {"minhash": own.minhash, "bands": own.bands}
    return wanted


def check(asked: Asked, own: IndexSettings | None, against: Mapping[str, Index]) -> dict[str, Any]:
    """Refuse what cannot be run before it is put into the queue; gives the settings that it will have."""
    settings = arguments(asked, own, [one.settings for one in against.values()])
    keep, schema = Keep.parse(asked.keep), settings["schema"]
    promise = Promise(
        schema, settings["threshold"], settings["recall"], settings.get("minhash", "fast"), None, 0,
        settings.get("bands"),
    )  # fmt: skip
    method = method_of(asked.method, settings["recall"], settings.get("bands"), schema)
    promise.by(method)
    if own is not None and keep.column is not None and keep.column not in schema.fields:
        raise SettingsError(
            f"keep {keep} asks for the column {keep.column!r}, which the index does not hold: "
            f"choose first, last, longest, or a field ({', '.join(schema.fields)})"
        )
    try:
        olds = [Older(name, index, unheard) for name, index in against.items()]
        older.check(olds, schema, settings["threshold"], settings["recall"])
    except SettingsMismatchError as error:
        raise Refusal(422, str(error), field="against", type="SettingsMismatchError") from error
    return {
        "threshold": settings["threshold"],
        "recall": settings["recall"],
        "schema": schema.to_dict(),
        "method": method,
        "keep": str(keep),
        **({"against": list(against)} if against else {}),
        "on_error": asked.on_error,
    }


def unheard(stage: str, done: int, total: int | None) -> None:
    """What hears how far a check is, which takes no time."""
