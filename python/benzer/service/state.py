"""What do all routes and guards of a service share? One object, made when the application is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial

from benzer.service.indexes.catalog import Catalog
from benzer.service.jobs import Jobs
from benzer.service.keys import Keyring, Sessions
from benzer.service.questions.tuning import Tunings
from benzer.service.running.logs import Log
from benzer.service.running.metrics import Metrics
from benzer.service.settings import Limits, Options


@dataclass
class Life:
    """How a service fares: the requests that it works on, and whether it is being stopped."""

    working: int = 0
    closing: bool = False


@dataclass(frozen=True)
class State:
    """The indexes that are served, and by which rules."""

    catalog: Catalog
    options: Options = field(default_factory=Options)
    keys: Keyring | None = None  # None: everybody may ask everything
    sessions: Sessions = field(default_factory=Sessions)
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
