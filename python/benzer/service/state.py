"""What do all routes and guards of a service share? One object, made when the application is."""

from __future__ import annotations

from dataclasses import dataclass, field

from benzer.service.catalog import Catalog
from benzer.service.settings import Limits, Options
from benzer.service.tuning import Tunings


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
    tunings: Tunings = field(default_factory=Tunings)
    life: Life = field(default_factory=Life)

    @property
    def limits(self) -> Limits:
        """The limits of the service."""
        return self.options.limits
