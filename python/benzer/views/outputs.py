"""The outputs of a command, and its messages in addition to the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benzer.views.tables import TableView, counts_table
from benzer.wording import amount, count, counted, duration, others, plain

FILES = {
    "kept": "kept documents, unchanged",
    "removed_documents": "removed documents, unchanged",
    "removed": "the kept document and similarity for each removed document",
    "pairs": "all verified pairs",
    "clusters": "the kept and removed documents of each cluster",
    "malformed": "skipped rows, with file, row and reason",
    "old_matches": "matches in the indexes of --against",
    "report": "the results for viewing in a browser",
    "summary": "counts, settings, times, alarms and measured recall",
}
"""The files of a run."""
SAMPLES = "no INDEX and no --home: serving sample documents, which are deleted at shutdown"
MALFORMED = 3
"""Malformed rows listed."""


def written(place: object) -> str:
    """The file or folder that was written.

    >>> written("clean/")
    'written to clean/'
    """
    return f"written to {plain(place)}"


def files_table(paths: Mapping[str, Path], folder: Path) -> TableView:
    """The files of a run in its output folder, with their contents."""
    return counts_table(
        (f"  {plain(path.relative_to(folder))}", "", FILES[name]) for name, path in paths.items()
    )


def leftover(path: Path) -> str:
    """A partial output that was removed.

    >>> leftover(Path("clean.partial"))
    'removed clean.partial, left by a killed run'
    """
    return f"removed {plain(path)}, left by a killed run"


def malformed_lines(rows: Sequence[str], total: int) -> Iterator[str]:
    """The first malformed rows, and the number of all.

    >>> list(malformed_lines(["a.jsonl:2: not JSON"], 1))
    ['1 malformed row skipped:', '  a.jsonl:2: not JSON']
    """
    if not total:
        return
    yield f"{counted(total, 'malformed row')} skipped{':' * bool(rows)}"
    yield from (f"  {plain(row)}" for row in rows[:MALFORMED])
    if rows and total > MALFORMED:
        yield f"  {others(total - MALFORMED)}"


def read_as(name: str, encoding: str) -> str:
    """The detected encoding of a file.

    >>> read_as("a.txt", "cp1252")
    'a.txt is read as cp1252'
    """
    return f"{plain(name)} is read as {encoding}"


def ignored(names: Sequence[str]) -> str:
    """Keys of a document that are not fields of the index.

    >>> ignored(["stars"])
    'ignored, not a field of the index: stars'
    """
    return f"ignored, not a field of the index: {plain(', '.join(names))}"


def first_of(used: int, documents: int) -> str:
    """The part of a file that is used.

    >>> first_of(1000, 5000)
    'using the first 1,000 of 5,000 documents'
    """
    return f"using the first {count(used)} of {counted(documents, 'document')}"


def serving(names: Iterable[str], address: str) -> str:
    """The indexes of a service and its address.

    >>> serving(["news"], "http://127.0.0.1:8000")
    'serving news at http://127.0.0.1:8000'
    """
    return f"serving {', '.join(names)} at {address}"


def local_is_faster(size: int, here: float, there: float) -> str:
    """The predicted seconds of both engines for an input of some bytes.

    >>> local_is_faster(10**9, 10.5, 57.0)
    'on this machine the local engine takes about 10.5 s for 1.0 GB, Spark 57.0 s: omit --engine spark'
    """
    times = f"about {duration(here)} for {amount(size)}, Spark {duration(there)}"
    return f"on this machine the local engine takes {times}: omit --engine spark"


def larger_than_memory(size: int, memory: int) -> str:
    """An input that does not fit into the memory of this machine.

    >>> print(larger_than_memory(2 * 10**11, 64 * 10**9))
    the input (200.0 GB) is larger than the memory of this machine (64.0 GB): use --memory to limit the memory of
    the run, or --engine spark to use several machines
    """
    return (
        f"the input ({amount(size)}) is larger than the memory of this machine ({amount(memory)}): use --memory "
        "to limit the memory of the run, or --engine spark to use several machines"
    )
