"""How the tests run: fixed examples, each instruction set, and the large sets only where they are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SUPPRESSED = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(
    "dev", derandomize=True, deadline=None, max_examples=60, database=None, suppress_health_check=SUPPRESSED
)
settings.register_profile("ci", settings.get_profile("dev"), max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

# What a shell starts in the background ignores Ctrl-C, and so would all commands that the tests start and stop by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED_DATA = Path(
    os.environ.get("BENZER_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `isa` runs once for each instruction set of this machine."""
    if "isa" in metafunc.fixturenames:
        from benzer import _native

        metafunc.parametrize("isa", _native.available_isas(), indirect=True)


@pytest.fixture
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """The native core is held to one instruction set during the test."""
    from tests.isas import using_isa

    with using_isa(request.param):
        yield request.param


@pytest.fixture
def shared_data() -> Path:
    """The folder of the large labelled sets (`BENZER_SHARED_DATA`)."""
    return SHARED_DATA


def in_ci() -> bool:
    """Is this the run that must not leave anything out?"""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the large sets are absent, their tests are deselected and the report says so; in CI they stay."""
    if SHARED_DATA.is_dir() or in_ci():
        return
    absent = [item for item in items if item.get_closest_marker("shared_data")]
    items[:] = [item for item in items if not item.get_closest_marker("shared_data")]
    config.hook.pytest_deselected(items=absent)
    config.stash[DESELECTED] = len(absent)


DESELECTED = pytest.StashKey[int]()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """In CI a test whose data are absent fails."""
    if item.get_closest_marker("shared_data") and not SHARED_DATA.is_dir():
        pytest.fail(
            f"no data at {SHARED_DATA}: set BENZER_SHARED_DATA, or run -m 'not shared_data'", pytrace=False
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out."""
    count = config.stash.get(DESELECTED, 0)
    if count:
        terminalreporter.write_line(
            f"{count} tests deselected: no data at {SHARED_DATA} (set BENZER_SHARED_DATA)"
        )
