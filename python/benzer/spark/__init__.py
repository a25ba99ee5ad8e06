"""Runs on Apache Spark, with the same result as on one machine.

| module | contents |
|---|---|
| `flow` | the run: `find_duplicates` |
| `settings` | the settings of a run, and how the work is divided: `Work` |
| `frames` | the columns of the tables between stages |
| `session` | the Spark session and its configuration |
| `stages` | finished stages and checkpoints |
| `documents` | rows of a DataFrame as documents |
| `columns` | columns of Spark types as ids, places and JSON |
| `reading` | batches of documents as a corpus, in workers |
| `ranking` | the keep order |
| `failures` | errors of tasks without Spark's trace |
| `files` | files as documents, read by the workers |
| `sketching` | keys, contents and counts of documents |
| `repeats` | repeated contents and ids |
| `copies` | documents with equal contents |
| `joining` | candidates: documents with a common band key |
| `components` | connected components by union-find, spanning forests or stars |
| `blocks` | groups of candidates that are verified together |
| `deciding` | verification, and the choice of kept documents |
| `contents` | stored contents for later comparison |
| `collection` | sketches and contents stored for later runs |
| `matching` | matches with other tables: `find_similar`, `against` |
| `results` | the result |
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

_MODULES = {
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
    if name not in _MODULES:
        raise AttributeError(f"module 'benzer.spark' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"benzer.spark.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
