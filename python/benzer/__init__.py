"""Find similar and near-duplicate documents, with exact similarities and a stated recall.

>>> import benzer
>>> texts = {"a": "one two three four", "b": "One, two, three, four!", "c": "five six"}
>>> benzer.find_duplicates(texts).removed
{'b': Removal(kept_id='a', similarity=1.0)}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benzer import spark as spark
    from benzer._native import __version__
    from benzer.advice import advise_shingle_size
    from benzer.bands import Bands
    from benzer.client import AsyncClient, Client
    from benzer.clusters import Keep
    from benzer.comparison import Comparison, compare
    from benzer.contained import find_contained
    from benzer.document import Document
    from benzer.errors import BenzerError
    from benzer.evidence import Evidence, find_passages
    from benzer.exact import set_containments, set_join
    from benzer.fields import Image, Schema, Text, ValueSet
    from benzer.index import Candidate, ContainmentMatch, Index, IndexSettings, Match, Passages
    from benzer.minhash import MinHash
    from benzer.pipeline import find_duplicates
    from benzer.presets import Preset, preset
    from benzer.pricing import price
    from benzer.recall import RecallEstimate
    from benzer.report import write_report
    from benzer.results import Duplicates
    from benzer.verify import bag_jaccard, containment, jaccard, jaccard_sorted

__all__ = [
    "AsyncClient",
    "Bands",
    "BenzerError",
    "Candidate",
    "Client",
    "Comparison",
    "ContainmentMatch",
    "Document",
    "Duplicates",
    "Evidence",
    "Image",
    "Index",
    "IndexSettings",
    "Keep",
    "Match",
    "MinHash",
    "Passages",
    "Preset",
    "RecallEstimate",
    "Schema",
    "Text",
    "ValueSet",
    "__version__",
    "advise_shingle_size",
    "bag_jaccard",
    "compare",
    "containment",
    "find_contained",
    "find_duplicates",
    "find_passages",
    "jaccard",
    "jaccard_sorted",
    "preset",
    "price",
    "set_containments",
    "set_join",
    "write_report",
]

# A name is imported when it is first used: `benzer --help` then starts without NumPy, in half the time.
_ROOMS = {
    "AsyncClient": "client",
    "Bands": "bands",
    "BenzerError": "errors",
    "Candidate": "index",
    "Client": "client",
    "Comparison": "comparison",
    "ContainmentMatch": "index",
    "Document": "document",
    "Duplicates": "results",
    "Evidence": "evidence",
    "Image": "fields",
    "Index": "index",
    "IndexSettings": "index",
    "Keep": "clusters",
    "Match": "index",
    "MinHash": "minhash",
    "Passages": "index",
    "Preset": "presets",
    "RecallEstimate": "recall",
    "Schema": "fields",
    "Text": "fields",
    "ValueSet": "fields",
    "__version__": "_native",
    "advise_shingle_size": "advice",
    "bag_jaccard": "verify",
    "compare": "comparison",
    "containment": "verify",
    "find_contained": "contained",
    "find_duplicates": "pipeline",
    "find_passages": "evidence",
    "jaccard": "verify",
    "jaccard_sorted": "verify",
    "preset": "presets",
    "price": "pricing",
    "set_containments": "exact",
    "set_join": "exact",
    "write_report": "report",
}

_MODULES = ("spark",)
"""Rooms that are named themselves, as in `benzer.spark.find_duplicates`."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"benzer.{name}")
    if name not in _ROOMS:
        raise AttributeError(f"module 'benzer' has no attribute {name!r}")
    value = getattr(import_module(f"benzer.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
