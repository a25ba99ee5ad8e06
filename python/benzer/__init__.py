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
    from benzer.bands import Bands
    from benzer.client import AsyncClient, Client
    from benzer.clusters import Keep
    from benzer.comparison import compare
    from benzer.contained import find_contained
    from benzer.document import Document
    from benzer.errors import BenzerError
    from benzer.fields import Image, Schema, Text, ValueSet
    from benzer.index import Index, IndexSettings
    from benzer.minhash import MinHash
    from benzer.pipeline import Options, dedupe, find_duplicates
    from benzer.presets import preset
    from benzer.pricing import price
    from benzer.results import Duplicates
    from benzer.verify import jaccard

__all__ = [
    "AsyncClient",
    "Bands",
    "BenzerError",
    "Client",
    "Document",
    "Duplicates",
    "Image",
    "Index",
    "IndexSettings",
    "Keep",
    "MinHash",
    "Options",
    "Schema",
    "Text",
    "ValueSet",
    "__version__",
    "compare",
    "dedupe",
    "find_contained",
    "find_duplicates",
    "jaccard",
    "preset",
    "price",
]

# A name is imported when it is first used: `benzer --help` then starts without NumPy, in half the time.
_MODULE_OF = {
    "AsyncClient": "client",
    "Bands": "bands",
    "BenzerError": "errors",
    "Client": "client",
    "Document": "document",
    "Duplicates": "results",
    "Image": "fields",
    "Index": "index",
    "IndexSettings": "index",
    "Keep": "clusters",
    "MinHash": "minhash",
    "Options": "pipeline",
    "Schema": "fields",
    "Text": "fields",
    "ValueSet": "fields",
    "__version__": "_native",
    "compare": "comparison",
    "dedupe": "pipeline",
    "find_contained": "contained",
    "find_duplicates": "pipeline",
    "jaccard": "verify",
    "preset": "presets",
    "price": "pricing",
}

_MODULES = ("spark",)
"""Modules available without an import of their own, as in `benzer.spark.find_duplicates`."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"benzer.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'benzer' has no attribute {name!r}")
    value = getattr(import_module(f"benzer.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
