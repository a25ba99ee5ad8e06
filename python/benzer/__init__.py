"""Benzer finds similar and near-duplicate documents: exact similarities, a stated recall, one answer.

>>> import benzer
>>> texts = {"a": "one two three four", "b": "One, two, three, four!", "c": "five six"}
>>> benzer.find_duplicates(texts).removed
{'b': Removal(kept_id='a', similarity=1.0)}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benzer._native import __version__
    from benzer.bands import Bands
    from benzer.clusters import Keep
    from benzer.comparison import Comparison, compare
    from benzer.document import Document
    from benzer.errors import BenzerError
    from benzer.fields import Schema, Text, ValueSet
    from benzer.index import Index, IndexSettings, Match
    from benzer.minhash import MinHash
    from benzer.pipeline import find_duplicates
    from benzer.results import Duplicates
    from benzer.verify import containment, jaccard

__all__ = [
    "Bands",
    "BenzerError",
    "Comparison",
    "Document",
    "Duplicates",
    "Index",
    "IndexSettings",
    "Keep",
    "Match",
    "MinHash",
    "Schema",
    "Text",
    "ValueSet",
    "__version__",
    "compare",
    "containment",
    "find_duplicates",
    "jaccard",
]

# A name is imported when it is first used: `benzer --help` then starts without NumPy, in half the time.
_ROOMS = {
    "Bands": "bands",
    "BenzerError": "errors",
    "Comparison": "comparison",
    "Document": "document",
    "Duplicates": "results",
    "Index": "index",
    "IndexSettings": "index",
    "Keep": "clusters",
    "Match": "index",
    "MinHash": "minhash",
    "Schema": "fields",
    "Text": "fields",
    "ValueSet": "fields",
    "__version__": "_native",
    "compare": "comparison",
    "containment": "verify",
    "find_duplicates": "pipeline",
    "jaccard": "verify",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'benzer' has no attribute {name!r}")
    value = getattr(import_module(f"benzer.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
