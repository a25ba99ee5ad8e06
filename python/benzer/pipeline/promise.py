"""The promised recall of a run, and the method that achieves it."""

from __future__ import annotations

from typing import Any, NamedTuple

from benzer.bands import Bands
from benzer.checks import check_recall, check_threshold
from benzer.corpora import DocumentCorpus
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.fields.base import has_own_similarity
from benzer.minhash import MinHash
from benzer.pipeline.options import Options
from benzer.sketcher import Sketcher

METHODS = ("lsh", "exact", "auto")


class Way(NamedTuple):
    """How a run finds candidates: the method, its bands (None for "exact"), the sketcher, and the reason."""

    method: str
    bands: Bands | None
    sketcher: Sketcher
    reason: str | None = None


class Promise(NamedTuple):
    """The settings of a run from which its plan is made."""

    schema: Schema
    threshold: float
    recall: float
    options: Options = Options()

    def by(self, method: str) -> Way | None:
        """Return the way of a method, with bands that achieve the recall (or the given ones); None for "auto"."""
        check_threshold(self.threshold)
        check_recall(self.recall)
        if method == "auto":
            return None
        if method == "exact":
            return self._exact(None)
        lowest = self.schema.band_threshold(self.threshold)
        return self._by_bands(
            self.options.bands or Bands.for_recall(lowest, self.recall, self.options.most_values), None
        )

    def cheapest(self, corpus: DocumentCorpus, threads: int) -> Way:
        """Return the cheapest way for these documents."""
        from benzer.planner import choose

        chosen = choose(
            corpus,
            self.schema,
            self.threshold,
            self.recall,
            num_hashes=self.options.most_values,
            threads=threads,
        )
        if chosen.method == "exact" or chosen.bands is None:
            return self._exact(chosen.reason)
        return self._by_bands(chosen.bands, chosen.reason)

    def kept_by(self, way: Way, against: bool) -> float:
        """Return the promised recall: 1.0 with the exact method, unless bands of an index are used as well."""
        return 1.0 if way.bands is None and not against else self.recall

    def _exact(self, reason: str | None) -> Way:
        # No signature is used; the sketcher counts shingles and tells equal contents.
        return Way(
            "exact", None, Sketcher(self.schema, MinHash("fast", 1, self.options.seed), Bands(1, 1)), reason
        )

    def _by_bands(self, bands: Bands, reason: str | None) -> Way:
        minhash = self.options.signature(bands.num_values)
        return Way("lsh", bands, Sketcher(self.schema, minhash, bands), reason)


def method_of(method: str | None, recall: Any, bands: Bands | None, schema: Schema) -> str:
    """Return the requested method; a recall of 1 requests the exact one.

    >>> method_of(None, 0.95, None, Schema()), method_of(None, 1.0, None, Schema())
    ('lsh', 'exact')
    """
    if method not in (None, *METHODS):
        raise SettingsError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == "lsh" and recall == 1:
        raise SettingsError(
            "bands cannot find every pair, got recall=1: use method 'exact' or a recall of 0.9999"
        )
    if bands is not None and (method in ("exact", "auto") or recall == 1):
        raise SettingsError(f"bands cannot be combined with method {method or 'exact'!r}: omit one of them")
    if recall == 1 or method == "exact":
        own = [name for name, field in schema.fields.items() if has_own_similarity(field)]
        if own:
            raise SettingsError(
                f"the exact method supports only sets, but field {own[0]!r} is not compared as a set: use method 'lsh'"
            )
        return "exact"
    return method or "lsh"
