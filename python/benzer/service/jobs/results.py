"""The result of a job, which is also available at higher thresholds without another run."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from benzer.checks import is_number
from benzer.recall import RecallEstimate
from benzer.results import Duplicates
from benzer.service.errors import Refusal
from benzer.service.jobs.tables import Table, table_of

VIEWS = 4
"""Number of thresholds at which a result is cached."""
DOCUMENT_BYTES = 100
"""Bytes of a document in addition to its contents: its id, its position, the order of ids."""


class View:
    """A result at one threshold, with the requested tables."""

    def __init__(self, result: Duplicates) -> None:
        self.result = result
        self._tables: dict[tuple[str, str], Table] = {}

    def table(self, name: str, order: str = "largest") -> Table:
        """One table; `order` is the order of clusters."""
        key = (name, order if name == "clusters" else "")
        if key not in self._tables:
            self._tables[key] = table_of(self.result, *key)
        return self._tables[key]


class Result:
    """The result and the measured recall of a job."""

    def __init__(self, result: Duplicates, recall: RecallEstimate | None = None) -> None:
        self.result, self.recall = result, recall
        self.bytes = bytes_of(result)
        self._lock = threading.Lock()
        self._views: OrderedDict[float, View] = OrderedDict()

    def details(self) -> dict[str, Any]:
        """The summary of the result in the job."""
        measured = None if self.recall is None else self.recall.to_dict()
        return {"counts": self.result.counts, "recall": measured, "settings": self.result.settings.to_dict()}

    def view_at(self, threshold: float | None = None) -> View:
        """The result at a threshold, by default the job's: see `Duplicates.rethreshold`."""
        result = self.result
        least = result.threshold if threshold is None else threshold
        if not is_number(least) or not result.threshold <= least <= 1:
            raise Refusal(
                422, f"threshold must be from {result.threshold} (that of the job) to 1, got {least}: start a new job",
                field="query.threshold",
            )  # fmt: skip
        with self._lock:
            view = self._views.get(least)
        if view is None:
            view = View(result if least == result.threshold else result.rethreshold(least))
        with self._lock:
            self._views[least] = view = self._views.get(least, view)
            self._views.move_to_end(least)
            while len(self._views) > VIEWS:
                self._views.popitem(last=False)
        return view


def bytes_of(result: Duplicates) -> int:
    """The approximate memory of a result: the contents of its documents and its arrays."""
    arrays = (
        result.empty, result.short, result.rank, result.stands_for, result.verified, result.leader,
        result.leader_similarity,
        result.proposed.left, result.proposed.right,
    )  # fmt: skip
    contents = int(result.corpus.lengths().sum(dtype=np.uint64))
    return contents + DOCUMENT_BYTES * len(result.corpus) + sum(array.nbytes for array in arrays)
