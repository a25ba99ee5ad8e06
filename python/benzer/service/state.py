"""What do all routes and guards of a service share? One object, made when the application is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial

from benzer.service.indexes.catalog import Catalog
from benzer.service.jobs import Jobs
from benzer.service.keys import Keyring, Rates, Sessions
from benzer.service.questions.tuning import Tunings
from benzer.service.settings import Limits, Options
from benzer.service.telemetry.logs import Log
from benzer.service.telemetry.metrics import Metrics


@dataclass
class Life:
    """How a service fares.

    working: requests that have a place, uploads aside.
    uploads: uploads that have a place.
    arriving: bytes of bodies that have not come to their end.
    waiting: connections that wait for the head of a request, by the address of the client.
    closing: whether the service is being stopped.
    """

    working: int = 0
    uploads: int = 0
    arriving: int = 0
    waiting: Counter[str] = field(default_factory=Counter)
    closing: bool = False


@dataclass(frozen=True)
class State:
    """The indexes that are served, and by which rules."""

    catalog: Catalog
    options: Options = field(default_factory=Options)
    keys: Keyring | None = None  # None: everybody may ask everything
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
        """The searches for duplicates that wait, run or have ended."""
        return Jobs(self.limits, self.catalog.without_places)
