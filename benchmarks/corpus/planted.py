"""Planted near-duplicates, and their exact similarities."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from benchmarks.corpus.documents import SHINGLE_SIZE, TOKEN

_LARGEST_CLUSTER = 8
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)  # ASCII: lower() undoes it exactly
_CLUSTER_SHARE = 0.15  # of the copied documents get more than one copy


@dataclass(frozen=True, slots=True)
class PlantedCorpus:
    """Documents in their final order, and the clusters (positions) of each base document with its copies."""

    texts: list[str]
    clusters: list[list[int]]


@dataclass
class Editor:
    """Rewrites words at random: 60 % substituted, 20 % deleted, 20 % followed by an inserted word."""

    rng: random.Random
    vocabulary: Sequence[str]
    _same: int = field(default=0)

    def copy(self, text: str, similarity: float) -> str:
        """A copy whose expected Jaccard similarity of word 5-shingles with `text` is about `similarity`."""
        if similarity >= 1.0:
            return self._same_words(text)
        surviving = 2 * similarity / (1 + similarity)  # of the shingles, by the definition of Jaccard
        rate = 1 - surviving ** (1 / SHINGLE_SIZE)
        return TOKEN.sub(lambda match: self._edit(match.group(), rate), text)

    def _same_words(self, text: str) -> str:
        """Alternately the text itself, and the same words with other line breaks and letter case."""
        self._same += 1
        return text if self._same % 2 else "  ".join(text.split()).translate(_UPPER) + " ."

    def _edit(self, word: str, rate: float) -> str:
        if self.rng.random() >= rate:
            return word
        choice = self.rng.random()
        other = self.rng.choice(self.vocabulary)
        return other if choice < 0.6 else "" if choice < 0.8 else f"{word} {other}"


def plant(base: Sequence[str], shares: Mapping[float, float], seed: int) -> PlantedCorpus:
    """Add copies until each similarity has its share of all documents, then shuffle."""
    rng = random.Random(seed)
    editor = Editor(rng, [word for text in base[::50] for word in TOKEN.findall(text)])
    total = len(base) / (1 - sum(shares.values()))
    texts, origins = list(base), list(range(len(base)))
    for similarity, share in shares.items():
        for origin in _origins(rng, len(base), round(total * share)):
            texts.append(editor.copy(base[origin], similarity))
            origins.append(origin)
    return _shuffled(texts, origins, rng)


def _origins(rng: random.Random, base_count: int, copies: int) -> Iterator[int]:
    """The base document of each copy: mostly one copy per document, sometimes several."""
    while copies > 0:
        origin = rng.randrange(base_count)
        several = rng.random() < _CLUSTER_SHARE
        count = min(copies, rng.randint(2, _LARGEST_CLUSTER - 1) if several else 1)
        copies -= count
        yield from [origin] * count


def _shuffled(texts: list[str], origins: list[int], rng: random.Random) -> PlantedCorpus:
    order = list(range(len(texts)))
    rng.shuffle(order)
    members: dict[int, list[int]] = {}
    for position, source in enumerate(order):
        members.setdefault(origins[source], []).append(position)
    clusters = sorted(cluster for cluster in members.values() if len(cluster) > 1)
    return PlantedCorpus([texts[source] for source in order], clusters)


def shingles(text: str) -> frozenset[str]:
    r"""The set that the benchmark compares: word 5-shingles of `[^\W_]+` in lower case; a short text has one.

    >>> sorted(shingles("Five_words, in ONE shingle"))
    ['five words in one shingle']
    """
    tokens = TOKEN.findall(text.lower())
    if len(tokens) < SHINGLE_SIZE:
        return frozenset([" ".join(tokens)] if tokens else [])
    return frozenset(map(" ".join, zip(*(tokens[start:] for start in range(SHINGLE_SIZE)), strict=False)))


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared elements over all elements; 1.0 for two empty sets."""
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 1.0


def exact_pairs(corpus: PlantedCorpus) -> Iterator[tuple[int, int, float]]:
    """Every pair within a cluster with its exact Jaccard similarity, in plain Python, independent of all engines."""
    for cluster in corpus.clusters:
        sets = [(position, shingles(corpus.texts[position])) for position in cluster]
        for (left, left_set), (right, right_set) in combinations(sets, 2):
            yield left, right, jaccard(left_set, right_set)
