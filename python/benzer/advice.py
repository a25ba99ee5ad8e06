"""Suggests a shingle size: the smallest one that separates unrelated documents."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benzer._native import jaccard
from benzer.checks import check_seed
from benzer.errors import InputError, SettingsError
from benzer.fields import Text

LETTERS = 20
MARGIN = 100
SIZES = {"char": range(2, 13), "word": range(1, 9)}
UNITS = {"char": "characters", "word": "words"}


def possible_shingles(alphabet: int, size: int) -> int:
    """Return how many different shingles of `size` units an alphabet allows: alphabet^size.

    >>> possible_shingles(27, 4), possible_shingles(20, 9)
    (531441, 512000000000)
    """
    if alphabet < 1 or size < 0:
        raise SettingsError(f"alphabet must be at least 1 and size at least 0, got {alphabet} and {size}")
    count: int = alphabet**size
    return count


def rule_of_thumb(length: float, alphabet: float = LETTERS) -> int:
    """Return the smallest size at which the alphabet allows 100 times as many shingles as a text of that length has.

    A random shingle then occurs in a random text with a probability of at most 1 %. This is the rule of Leskovec,
    Rajaraman, Ullman, "Mining of Massive Datasets", chapter 3. They count an alphabet as 20 letters, because rare
    letters hardly occur, and get 5 for e-mails and 9 for research articles. The rule assumes that consecutive letters
    are independent, which they are not: for long documents of real text, the measured background
    (`advise_shingle_size`) requires 1 to 3 more.

    Args:
        length: Number of units of a typical text.
        alphabet: Effective number of different units.

    Returns:
        The shingle size.

    >>> rule_of_thumb(3_000), rule_of_thumb(50_000)
    (5, 6)
    """
    if not 0 < length < math.inf or not 1 < alphabet < math.inf:
        raise SettingsError(
            f"length must be > 0 and alphabet must be > 1, both finite, got {length} and {alphabet}"
        )
    return max(1, math.ceil(math.log(MARGIN * length) / math.log(alphabet) - 1e-9))


@dataclass(frozen=True)
class ShingleSize:
    """The measurements of one tested size.

    Attributes:
        size: Units per shingle.
        possible: Number of shingles that the effective alphabet allows, alphabet^size; infinity from 2^1024 on.
        background: Median Jaccard similarity of random documents, which is due to chance.
        high: Similarity that 5 % of those pairs exceed: common phrases, headers, licences, near-duplicates.
    """

    size: int
    possible: float
    background: float
    high: float


@dataclass(frozen=True)
class ShingleAdvice:
    """The suggested size with the measurements; `print` shows it as a table.

    Attributes:
        size: The smallest tested size whose background is at most `limit`; the largest if there is none.
        unit: "char" or "word".
        limit: The requested maximum of the background.
        typical_length: Median number of units per document.
        alphabet: Effective size of the alphabet, exp(entropy): this many characters (or words) of equal frequency
            would be as hard to guess. The rule of thumb uses 20 instead.
        rule_size: Size by the rule of thumb; with 20 letters for characters, with `alphabet` for words.
        documents: Number of sampled documents.
        pairs: Number of compared pairs.
        sizes: The measurements of each tested size.
    """

    size: int
    unit: Literal["char", "word"]
    limit: float
    typical_length: float
    alphabet: float
    rule_size: int
    documents: int
    pairs: int
    sizes: tuple[ShingleSize, ...]

    @property
    def chosen(self) -> ShingleSize:
        """The measurements of the suggested size."""
        return next(size for size in self.sizes if size.size == self.size)

    def __str__(self) -> str:
        units, chosen = UNITS[self.unit], self.chosen
        reached = "at most" if chosen.background <= self.limit else "but no tested size reaches"
        drawn = f"{self.pairs} random pairs of {self.documents} documents"
        variety = f"as varied as {self.alphabet:.1f} equally frequent ones"
        alphabet = LETTERS if self.unit == "char" else round(self.alphabet)
        wanted = f"{MARGIN} x {self.typical_length:g}"
        lines = (
            f"Suggested shingle size: {self.size} {units}.",
            f"The median similarity of {drawn} is {chosen.background:.3f}, {reached} {self.limit:g}.",
            f"A typical document has {self.typical_length:g} {units}, {variety}.",
            f"Rule of thumb: {self.rule_size}, the smallest k with {alphabet}^k >= {wanted}.",
            "",
            f"{'size':>4}  {'possible shingles':>17}  {'median similarity':>17}  {'5 % of pairs above':>18}",
        )
        return "\n".join([*lines, *map(self._line, self.sizes)])

    def _line(self, item: ShingleSize) -> str:
        mark = "  <-" if item.size == self.size else ""
        return f"{item.size:>4}  {item.possible:>17.3g}  {item.background:>17.3f}  {item.high:>18.3f}{mark}"


def advise_shingle_size(
    texts: Iterable[str | bytes],
    unit: Literal["char", "word"] = "char",
    *,
    field: Text | None = None,
    limit: float = 0.05,
    sizes: Sequence[int] | None = None,
    sample: int = 200,
    pairs: int = 1000,
    seed: int = 0,
) -> ShingleAdvice:
    """Suggest a shingle size from the similarity of random pairs of texts.

    Short shingles occur in all documents and make unrelated ones similar; long shingles change with every edit and make
    near-duplicates different. The smallest size that separates unrelated documents tolerates the most edits. Each
    size reads the sampled documents once and compares the pairs: 0.4 s for 200 short articles.

    Args:
        texts: All documents or some of them, read in one pass. Texts without shingles are ignored.
        unit: "char" or "word".
        field: Text field to use instead of `unit`; its shingle size is ignored.
        limit: Maximum median similarity of unrelated documents; 0.05 is far below any useful threshold.
        sizes: Sizes to test. Defaults to 2 to 12 characters or 1 to 8 words.
        sample: Number of documents to sample.
        pairs: Number of pairs of them to compare.
        seed: Seed of the sample, from 0 to 2^64 - 1. Equal input and seed give equal results.

    Returns:
        The suggested size and the measurements.

    Raises:
        SettingsError: An argument is out of range.
        InputError: `texts` is one text, or has fewer than 2 non-empty documents.

    >>> texts = [f"the {a} {b} of the {b}" for a in ("red", "blue", "old") for b in ("house", "ship", "tree")]
    >>> advice = advise_shingle_size(texts, limit=0.3)
    >>> advice.size, advice.rule_size
    (4, 3)
    """
    recipe = Text(unit=unit) if field is None else field
    if isinstance(texts, (str, bytes)):
        raise InputError("texts must be a list of texts, got one text: put the texts in a list")
    if not 0 < limit <= 1:
        raise SettingsError(f"limit must be in (0, 1], got {limit}")
    if sample < 2 or pairs < 1:
        raise SettingsError(f"sample must be at least 2 and pairs at least 1, got {sample} and {pairs}")
    check_seed(seed)
    units = replace(recipe, shingle_size=1)
    drawn = [text for text in _draw(texts, sample, seed) if units.shingles(text)]
    if len(drawn) < 2:
        raise InputError(f"at least 2 non-empty documents are required, got {len(drawn)}")
    lengths, alphabet = _alphabet(units, drawn)
    left, right = _random_pairs(len(drawn), pairs, seed)
    tried = sorted(set(SIZES[recipe.unit] if sizes is None else sizes))
    rows = tuple(_tried(replace(recipe, shingle_size=size), drawn, left, right, alphabet) for size in tried)
    if not rows:
        raise SettingsError("sizes must contain at least one size, got none")
    length = float(np.median(lengths))
    return ShingleAdvice(
        size=next((row.size for row in rows if row.background <= limit), rows[-1].size),
        unit=recipe.unit,
        limit=limit,
        typical_length=length,
        alphabet=alphabet,
        rule_size=rule_of_thumb(length, LETTERS if recipe.unit == "char" else max(alphabet, 2)),
        documents=len(drawn),
        pairs=len(left),
        sizes=rows,
    )


def _draw(texts: Iterable[str | bytes], count: int, seed: int) -> list[str | bytes]:
    """Draw a sample without replacement, each text equally likely, in one pass (reservoir sampling)."""
    chance = random.Random(seed)
    drawn: list[str | bytes] = []
    for seen, text in enumerate(texts):
        if seen < count:
            drawn.append(text)
        else:
            place = int(chance.random() * (seen + 1))
            if place < count:
                drawn[place] = text
    return drawn


def _alphabet(units: Text, texts: Sequence[str | bytes]) -> tuple[list[int], float]:
    """Return the length of each text in units, and the effective number of units, exp(entropy)."""
    counts: Counter[str] = Counter()
    lengths = []
    for text in texts:
        read = units.shingles(text)
        lengths.append(len(read))
        counts.update(read)
    total = sum(lengths)
    entropy = -sum(count / total * math.log(count / total) for count in counts.values())
    return lengths, math.exp(entropy)


def _random_pairs(count: int, most: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return pairs of different positions below `count`: all, or `most` random ones."""
    if count * (count - 1) // 2 <= most:
        left, right = np.triu_indices(count, 1)
    else:
        random_numbers = np.random.default_rng(seed)
        left = random_numbers.integers(0, count, most)
        right = (left + random_numbers.integers(1, count, most)) % count
    return left.astype(np.uint32), right.astype(np.uint32)


def _tried(
    field: Text,
    texts: Sequence[str | bytes],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    alphabet: float,
) -> ShingleSize:
    offsets, hashes = field.sets(texts)
    similarity = jaccard(offsets, hashes, left, right, 1)
    background, high = np.quantile(similarity, [0.5, 0.95])
    size = int(field.shingle_size or 0)
    return ShingleSize(size, _power(alphabet, size), float(background), float(high))


def _power(alphabet: float, size: int) -> float:
    try:
        return alphabet**size
    except OverflowError:
        return math.inf
