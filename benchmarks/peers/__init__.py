"""Which engines are compared? A new one is a new file, a line here, and its pins in scenarios.toml."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from benchmarks.peers.base import Answer, Task

MODULES = {
    "benzer": "benchmarks.peers.benzer",
    "datasketch": "benchmarks.peers.datasketch",
    "orjson": "benchmarks.peers.orjson",
    "rensa": "benchmarks.peers.rensa",
}
ONE_THREAD_ONLY = frozenset({"datasketch", "orjson"})


def engine(name: str) -> Callable[[Task], Answer]:
    """The function that runs `name`. Importing it imports the engine: call it before the clock starts."""
    run: Callable[[Task], Answer] = import_module(MODULES[name]).run
    return run
