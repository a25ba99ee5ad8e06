"""The compared engines. A new one is a new file, a line here, and its pins in scenarios.toml."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from benchmarks.peers.base import Answer, Task

MODULES = {
    "benzer": "benchmarks.peers.benzer",
    "benzer-exact": "benchmarks.peers.benzer_exact",
    "benzer-written": "benchmarks.peers.benzer_written",
    "daft": "benchmarks.peers.daft",
    "datasketch": "benchmarks.peers.datasketch",
    "fastsketchlsh": "benchmarks.peers.fastsketchlsh",
    "gaoya": "benchmarks.peers.gaoya",
    "orjson": "benchmarks.peers.orjson",
    "pyarrow": "benchmarks.peers.pyarrow",
    "rensa": "benchmarks.peers.rensa",
    "text-dedup": "benchmarks.peers.text_dedup",
}
ONE_THREAD_ONLY = frozenset({"datasketch", "orjson"})
NO_ANSWER = frozenset({"orjson", "pyarrow"})  # they only read


def engine(name: str) -> Callable[[Task], Answer]:
    """The function that runs `name`. Importing it imports the engine, so call it before the measurement."""
    run: Callable[[Task], Answer] = import_module(MODULES[name]).run
    return run
