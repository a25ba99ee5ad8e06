"""Prometheus metrics of an application: requests, indexes, candidates and jobs."""

from __future__ import annotations

from collections import Counter as Counted
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
CANDIDATES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)


class Metrics:
    """The metrics of one application. Routes are labelled by their template, so that there are few labels."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        labels = ["route", "method"]
        self.requests = Counter(
            "benzer_requests", "Completed requests.", [*labels, "status"], registry=registry
        )
        self.seconds = Histogram(
            "benzer_request_seconds", "Time from the header of a request to the end of its response.", labels,
            buckets=SECONDS, registry=registry,
        )  # fmt: skip
        self.refused = Counter(
            "benzer_refused", "Requests with an error response, by error type.", ["reason"],
            registry=registry,
        )  # fmt: skip
        self.working = Gauge("benzer_requests_in_flight", "Running requests.", registry=registry)
        self.candidates = Histogram(
            "benzer_candidates", "Documents that share a bucket with a query document.", ["index"],
            buckets=CANDIDATES, registry=registry,
        )  # fmt: skip
        self.writes = Counter(
            "benzer_writes", "Changes that were applied, refused or failed.", ["index", "outcome"],
            registry=registry,
        )  # fmt: skip
        self.indexes = {
            name: Gauge(f"benzer_index_{name}", about, ["index"], registry=registry)
            for name, about in INDEXES.items()
        }
        self.sized = Gauge(
            "benzer_index_buckets_of_size", "Buckets by maximum number of documents, when last counted.",
            ["index", "most"], registry=registry,
        )  # fmt: skip
        self.jobs = Gauge("benzer_jobs", "Jobs by state.", ["state"], registry=registry)
        self._ended: dict[tuple[str, str, int], Callable[[float], object]] = {}

    def request(self, route: str, method: str, status: int, seconds: float, error: str | None) -> None:
        """Count a completed request."""
        known = self._ended.get((route, method, status))
        if known is None:  # looking up a child by its labels is slower than its update
            count, spread = (
                self.requests.labels(route, method, str(status)),
                self.seconds.labels(route, method),
            )

            def known(seconds: float) -> None:
                count.inc()
                spread.observe(seconds)

            self._ended[route, method, status] = known
        known(seconds)
        if error is not None:
            self.refused.labels(error).inc()

    def observers(self, name: str) -> tuple[Callable[[float], object], Callable[[str], None]]:
        """Return functions that count the candidates of each query of an index, and the outcome of each write."""

        def wrote(outcome: str) -> None:
            self.writes.labels(name, outcome).inc()

        return self.candidates.labels(name).observe, wrote

    def forget(self, name: str) -> None:
        """Remove the metrics of a deleted index; otherwise they would accumulate."""
        with suppress(KeyError):
            self.candidates.remove(name)
        for outcome in ("done", "refused", "failed"):
            with suppress(KeyError):
                self.writes.remove(name, outcome)

    def show_index(self, name: str, info: Mapping[str, Any] | None) -> None:
        """Set the gauges of an index from `Index.info`; None if it cannot be read."""
        self.indexes["up"].labels(name).set(info is not None)
        for fact in ("documents", "bytes", "removed"):
            if info is not None and fact in info:
                self.indexes[fact].labels(name).set(info[fact])

    def show_buckets(self, name: str, buckets: Mapping[str, Any]) -> None:
        """Set the gauges of the buckets of an index from the last count."""
        self.indexes["buckets"].labels(name).set(buckets["buckets"])
        self.indexes["largest_bucket"].labels(name).set(buckets["largest"])
        counts = Counted[str]()
        for documents, count in buckets["histogram"]:  # many sizes are grouped into few
            counts[next((str(most) for most in CANDIDATES if documents <= most), "more")] += count
        for most, count in counts.items():
            self.sized.labels(name, most).set(count)

    def show_jobs(self, states: Iterable[str]) -> None:
        """Set the gauge of jobs by state."""
        known = Counted(states)
        for state in JOB_STATES:
            self.jobs.labels(state).set(known[state])

    def forget_indexes(self) -> None:
        """Clear the gauges of indexes before they are set again, because an index may have been deleted."""
        for gauge in (*self.indexes.values(), self.sized):
            gauge.clear()

    def text(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)


JOB_STATES = ("waiting", "running", "done", "failed", "cancelled")
INDEXES = {
    "up": "Whether the index can be read.",
    "documents": "Documents in an index.",
    "bytes": "Size of an index in its storage.",
    "removed": "Removed documents whose space is not yet reused.",
    "buckets": "Buckets, when they were last counted.",
    "largest_bucket": "Documents in the largest bucket, when they were last counted.",
}
