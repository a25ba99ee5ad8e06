"""How is the work carried out beyond one machine? On Apache Spark, with the same answer as here.

| room | answers |
|---|---|
| `flow` | the run itself, on one page: `find_duplicates` |
| `settings` | what it depends on, and how the work is cut: `Work` |
| `frames` | which columns the tables between the stages have |
| `session` | which Spark there is, and what a run sets in it |
| `stages` | where finished stages are kept, and how an interrupted run goes on |
| `documents` | how the rows of a DataFrame are documents |
| `columns` | how columns of Spark's types become ids, places and JSON |
| `reading` | how batches of documents become a corpus, where the work is done |
| `ranking` | which document of a few stays |
| `failures` | what a task stumbled over, told without a trace |
| `files` | how files are, read natively where the work is done |
| `sketching` | keys, contents and counts of every document |
| `repeats` | which contents and ids occur more than once |
| `copies` | which documents have equal contents |
| `joining` | which documents share a band key |
| `components` | what hangs together, by union-find, spanning forests or stars |
| `blocks` | what is verified together |
| `deciding` | who is truly alike, and which document stays |
| `contents` | how contents are kept, to be compared later |
| `collection` | sketches and contents that are kept for later runs |
| `matching` | which documents of another table are alike: `find_similar`, `against` |
| `results` | what came of it |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benzer.spark.collection import Collection, read_collection, write_collection
    from benzer.spark.files import read_files
    from benzer.spark.flow import find_duplicates
    from benzer.spark.matching import find_similar
    from benzer.spark.results import SparkDuplicates, filter_file
    from benzer.spark.settings import Work

__all__ = [
    "Collection",
    "SparkDuplicates",
    "Work",
    "filter_file",
    "find_duplicates",
    "find_similar",
    "read_collection",
    "read_files",
    "write_collection",
]

_ROOMS = {
    "Collection": "collection",
    "SparkDuplicates": "results",
    "Work": "settings",
    "filter_file": "results",
    "find_duplicates": "flow",
    "find_similar": "matching",
    "read_collection": "collection",
    "read_files": "files",
    "write_collection": "collection",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'benzer.spark' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benzer.spark.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
