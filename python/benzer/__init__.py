"""Benzer finds similar and near-duplicate documents: exact similarities, a stated recall, one answer.

>>> import benzer
>>> found = benzer.find_duplicates({"a": "one two three four", "b": "One, two, three, four!", "c": "five six"})
>>> found.removed
{'b': Removal(kept_id='a', similarity=1.0)}
"""

from __future__ import annotations

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
