"""The task of a job: opens its input, finds the duplicates as the library does, and measures the recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from benzer.clusters import Keep
from benzer.errors import SettingsError, SettingsMismatchError
from benzer.fields import Schema
from benzer.fields.schema import DEFAULT_RECALL
from benzer.index import Index, IndexSettings
from benzer.pipeline import Options, find_duplicates
from benzer.pipeline import against as older
from benzer.pipeline.promise import Promise, method_of
from benzer.service.errors import Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.jobs.job import Report
from benzer.service.jobs.reading import IndexSource, Spool, listed
from benzer.service.jobs.results import Result
from benzer.service.settings import Limits
from benzer.sources import Source


@dataclass(frozen=True)
class JobRequest:
    """The options of a job; None stands for the setting of the index or of the library."""

    threshold: float | None = None
    recall: float | None = None
    keep: str = "first"
    method: str | None = None
    schema: Schema | None = None
    on_error: Literal["stop", "skip"] = "stop"
    measure: bool = False
    on_duplicate_id: Literal["number", "skip", "stop"] = "number"


class Older:
    """An index that the documents of a job are compared with, under its served name; read-only.

    It is passed to `benzer.find_duplicates` as `against`, and ends the work if the job is cancelled.
    """

    def __init__(self, name: str, index: Index, report: Report) -> None:
        self._name, self._index, self._report = name, index, report
        self._searched = 0
        self.settings = index.settings

    def filed_under(self, keys: Any) -> Any:
        """The documents that share a bucket with some keys (see `Index.filed_under`)."""
        self._report("against", self._searched, None)
        self._searched += len(keys)
        return self._index.filed_under(keys)

    def probability(self, similarity: float) -> Any:
        """The probability that a document with this similarity is found."""
        return self._index.probability(similarity)

    def info(self) -> dict[str, Any]:
        """Its name; the storage location is not disclosed."""
        return {"path": self._name}

    def __len__(self) -> int:
        return len(self._index)


@dataclass(frozen=True)
class Search:
    """The task of a job: documents of an index or an upload, and the indexes that they are compared with."""

    request: JobRequest
    index: ServedIndex | None
    uploaded: Spool | Sequence[Any] | None
    against: Mapping[str, ServedIndex]
    limits: Limits = field(default_factory=Limits)

    def run(self, report: Report) -> Result:
        """Find the duplicates; the result equals that of the library for the same documents."""
        with ExitStack() as stack:
            olds = [
                Older(name, stack.enter_context(opened(item)), report) for name, item in self.against.items()
            ]
            index = None if self.index is None else stack.enter_context(opened(self.index))
            settings = arguments(
                self.request, None if index is None else index.settings, [old.settings for old in olds]
            )
            source = self._source(index, settings["schema"], report)
            result = find_duplicates(
                [source], keep=self.request.keep, method=self.request.method, against=olds, progress=report, **settings,
            )  # fmt: skip
        report("measure", 0, None)
        measured = result.measure_recall() if self.request.measure and len(result.corpus) else None
        report("measure", 1, 1)
        return Result(result, measured)

    def _source(self, index: Index | None, schema: Schema, report: Report) -> Source:
        if index is not None:
            return IndexSource(index, report)
        if isinstance(self.uploaded, Spool):
            return self.uploaded.source(schema, self.limits, report)
        return listed(self.uploaded or (), schema, self.limits, report)

    def close(self) -> None:
        """Delete the upload."""
        if isinstance(self.uploaded, Spool):
            self.uploaded.close()


@contextmanager
def opened(served: ServedIndex) -> Iterator[Index]:
    """A separate handle of the index for a job, because reading from the shared one would make requests wait."""
    with served.again() as index:
        yield index


def arguments(
    request: JobRequest, own: IndexSettings | None, olds: Sequence[IndexSettings]
) -> dict[str, Any]:
    """The settings of a run: the requested ones, or those of the index, of the first older index, or of the library.

    By default an index is searched with its own signatures and bands, as in `Index.find_duplicates`.

    >>> arguments(JobRequest(threshold=0.7), None, [])["threshold"]
    0.7
    >>> sorted(arguments(JobRequest(), IndexSettings(), []))
    ['options', 'recall', 'schema', 'threshold']
    """
    model = own or (olds[0] if olds else None)
    recall = request.recall
    if recall is None:
        recall = own.recall if own else min([DEFAULT_RECALL, *(old.recall for old in olds)])
    schema = request.schema or (model.schema if model else Schema())
    default = model.threshold if model else schema.default_threshold
    threshold = default if request.threshold is None else request.threshold
    options = Options(on_error=request.on_error, on_duplicate_id=request.on_duplicate_id)
    by_bands = request.method in (None, "lsh")
    if own is not None and by_bands and (threshold, recall) == (own.threshold, own.recall):
        options = replace(options, minhash=own.minhash, bands=own.bands)
    return {"threshold": threshold, "recall": recall, "schema": schema, "options": options}


def check(request: JobRequest, own: IndexSettings | None, against: Mapping[str, Index]) -> dict[str, Any]:
    """Reject invalid jobs before they are queued; returns the settings of the run."""
    settings = arguments(request, own, [item.settings for item in against.values()])
    keep, schema = Keep.parse(request.keep), settings["schema"]
    promise = Promise(schema, settings["threshold"], settings["recall"], settings["options"])
    method = method_of(request.method, settings["recall"], settings["options"].bands, schema)
    promise.by(method)
    if own is not None and keep.column is not None and keep.column not in schema.fields:
        raise SettingsError(
            f"keep {keep} needs the column {keep.column!r}, which the index does not store: "
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
        "on_error": request.on_error,
    }


def unheard(stage: str, done: int, total: int | None) -> None:
    """A progress callback that does nothing."""
