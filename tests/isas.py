"""Which instruction set does the native core use while a test runs?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benzer import _native


@contextmanager
def using_isa(name: str) -> Iterator[None]:
    """Hold the native core to one instruction set; afterwards it is as before."""
    before = _native.isa()
    _native.set_isa(name)
    try:
        yield
    finally:
        _native.set_isa(before)


def each_isa() -> Iterator[str]:
    """Every instruction set of this machine in turn, set while the loop's body runs."""
    for name in _native.available_isas():
        with using_isa(name):
            yield name
