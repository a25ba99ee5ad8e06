"""The state that all routes and guards of a service share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial

from benzer.service.indexes.catalog import Catalog
from benzer.service.jobs import Jobs
from benzer.service.keys import Keyring, Rates, Sessions
from benzer.service.questions.tuning import Tunings
from benzer.service.settings import Limits, ServiceOptions
from benzer.service.telemetry.logs import Log
from benzer.service.telemetry.metrics import Metrics


@dataclass
class Life:
    """The current load of a service.

    working: running requests, except uploads.
    uploads: running uploads.
    arriving: bytes of incomplete bodies.
    waiting: connections that wait for a request header, by client address.
    closing: whether the service is shutting down.
    """

    working: int = 0
    uploads: int = 0
    arriving: int = 0
    waiting: Counter[str] = field(default_factory=Counter)
    closing: bool = False


@dataclass(frozen=True)
class State:
    """The served indexes and the options of the service."""

    catalog: Catalog
    options: ServiceOptions = field(default_factory=ServiceOptions)
    keys: Keyring | None = None  # None: no key is required
    sessions: Sessions = field(default_factory=Sessions)
    rates: Rates = field(default_factory=Rates)
    life: Life = field(default_factory=Life)
    metrics: Metrics = field(default_factory=Metrics)
    log: Log = field(default_factory=partial(Log, "off"))
    tunings: Tunings = field(default_factory=Tunings)

    @property
    def limits(self) -> Limits:
        """The limits of the service."""
        return self.options.limits

    @cached_property
    def jobs(self) -> Jobs:
        """The queued, running and finished jobs."""
        return Jobs(self.limits, self.catalog.without_places)
