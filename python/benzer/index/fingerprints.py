"""Keys for stored passages: winnowed runs of words.

In addition to the keys of its bands, a document is stored under fingerprints of its texts: of every `window`
consecutive runs of `size` words, the one with the lowest hash (winnowing: Schleimer, Wilkerson, Aiken 2003), and
under each value of its value sets. They are in the same storage; a number for each field distinguishes them from band
keys and from each other. A query looks up *all* runs of its text, so that one fingerprint inside a common passage
suffices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer._native import winnowed
from benzer.checks import is_number
from benzer.corpus import content_of
from benzer.document import Document
from benzer.errors import SettingsError
from benzer.fields import Schema, Text
from benzer.fields.base import Field, Sets, has_own_similarity
from benzer.fields.text import text_content
from benzer.storage import Storage
from benzer.storage.base import NO_KEY

MOST = 64
PADDED_KEYS = 4_000_000
"""Keys that are handed to the storage at once, with those that only fill a row: 32 MB."""
GOLDEN = 0x9E37_79B9_7F4A_7C15  # 2^64 / the golden ratio: its odd multiples are far apart from each other
MATCHED_SIZE = 3  # words in a run that a passage is sought by, once its document is known


@dataclass(frozen=True)
class Passages:
    """Settings of the passages that an index stores.

    A common passage of `certain` words is always found, a shorter or an edited one with some probability. A stored run
    takes 12 bytes; with the defaults this is about 5 bytes per word.

    Args:
        size: Words in a run, 1 to 64. Each character of a script without spaces is a word.
        window: At least one of so many consecutive runs is stored, 1 to 64; about 2 / (window + 1) of all runs.

    Raises:
        SettingsError: A value is out of range.

    >>> Passages().certain, Passages(size=5, window=8).certain
    (7, 12)
    >>> Passages(window=0)
    Traceback (most recent call last):
    benzer.errors.SettingsError: window must be a whole number from 1 to 64, got 0
    """

    size: int = 4
    window: int = 4

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not is_whole(value, 1) or value > MOST:
                raise SettingsError(f"{name} must be a whole number from 1 to {MOST}, got {value!r}")

    @classmethod
    def of(cls, given: Any) -> Passages | None:
        """Convert the value of `IndexSettings`.

        Args:
            given: True for the defaults, False or None for no passages, or settings.

        Returns:
            The settings, or None.

        Raises:
            SettingsError: The value has another type.

        >>> Passages.of(True), Passages.of(None), Passages.of({"size": 5, "window": 4})
        (Passages(size=4, window=4), None, Passages(size=5, window=4))
        """
        if given is None or given is False or isinstance(given, Passages):
            return given or None
        if given is True:
            return cls()
        if isinstance(given, dict) and given.keys() <= cls.__dataclass_fields__.keys():
            return cls(**given)
        raise SettingsError(
            f"passages must be True, False or Passages(size=..., window=...), got {given!r:.80}"
        )

    @property
    def certain(self) -> int:
        """The minimum length in words of a common passage that is found with certainty: size + window - 1."""
        return self.size + self.window - 1

    def probability(self, words: int, edits: float) -> float:
        """Return a lower bound for the probability of finding a common passage whose words are edited independently.

        A passage is found if `certain` consecutive words are unchanged; this probability is exact (Feller 1968,
        XIII.7). Often fewer suffice, so that more is found.

        Args:
            words: Length of the passage in words.
            edits: Probability of each word to be replaced or deleted, or of an insertion before it.

        >>> passages = Passages()
        >>> passages.probability(7, 0.0), passages.probability(6, 0.0)
        (1.0, 0.0)
        >>> round(passages.probability(15, 0.1), 3), round(passages.probability(30, 0.1), 3)
        (0.838, 0.986)
        """
        if not is_whole(words, 0):
            raise SettingsError(f"words must be 0 or more, got {words!r}")
        if not is_number(edits) or not 0 <= edits <= 1:
            raise SettingsError(f"edits must be in [0, 1], got {edits!r}")
        run, spared = self.certain, (1.0 - edits) ** self.certain
        none_yet = [1.0] * min(words + 1, run)  # among the first n words there is no such run
        for n in range(run, words + 1):
            before = none_yet[n - run - 1] * edits if n > run else 1.0
            none_yet.append(none_yet[n - 1] - before * spared)
        return max(0.0, 1.0 - none_yet[words])

    def to_dict(self) -> dict[str, int]:
        """Return the settings as JSON values."""
        return asdict(self)


class QueryKeys(NamedTuple):
    """The distinct keys of a document (uint64), and the number of the field of each (int64)."""

    keys: NDArray[np.uint64]
    fields: NDArray[np.int64]


class Hits(NamedTuple):
    """The documents that are stored under the keys of a query.

    Attributes:
        rows: The position of a key (int64), ascending.
        numbers: The number of a document that is stored under it (int64).
        documents: The numbers of all documents (int64), best first: those that share the most keys, where rare keys
            count more (the logarithm of the number of all documents / the documents with the key).
    """

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    documents: NDArray[np.int64]


@dataclass(frozen=True)
class Fingerprints:
    """Stores documents of a schema under fingerprints, and looks them up.

    >>> fingerprints = Fingerprints(Schema(), Passages())
    >>> offsets, keys = fingerprints.keys([Document("a", "one two three four five six seven"), Document("b", "")])
    >>> offsets.tolist()
    [0, 1, 1]
    """

    schema: Schema
    passages: Passages

    def __post_init__(self) -> None:
        if not self.filed:
            raise SettingsError("passages need a text or a value set, but the schema has none: omit passages")

    @cached_property
    def filed(self) -> dict[int, Field]:
        """The fields that have fingerprints, by their number in the schema."""
        fields = enumerate(self.schema.fields.values())
        return {number: field for number, field in fields if has_fingerprints(field)}

    def readers(self, size: int | None = None) -> dict[int, Text]:
        """Return a reader of the words of each text field, with its own rules of normalization.

        Args:
            size: Words in a run; by default that of a fingerprint.
        """
        size = size or self.passages.size
        return {number: words_of(item, size) for number, item in self.filed.items() if isinstance(item, Text)}

    @cached_property
    def _readers(self) -> dict[int, Text]:
        return self.readers()

    def keys(self, documents: Sequence[Document], threads: int = 0) -> Sets:
        """Return the keys under which documents are stored: offsets (int64, n + 1), and keys (uint64)."""

        parts = [self._keys(number, documents, self.passages.window, threads) for number in self.filed]
        owner = np.concatenate(
            [np.repeat(np.arange(len(documents)), np.diff(offsets)) for offsets, _ in parts]
        )
        order = np.argsort(owner, kind="stable")
        offsets = np.searchsorted(owner[order], np.arange(len(documents) + 1)).astype(np.int64)
        return offsets, np.concatenate([keys for _, keys in parts])[order]

    def query_keys(self, document: Document, shorter: bool = False) -> QueryKeys:
        """Return the keys that find all documents which share a run or value with a document.

        Args:
            document: The query.
            shorter: Also find documents with so few words that the whole of them is one run.
        """
        readers = [self._readers]
        if shorter:
            readers += [self.readers(size) for size in range(1, self.passages.size)]
        keys = [
            np.unique(np.concatenate([self._keys(number, [document], 1, 1, by)[1] for by in readers]))
            for number in self.filed
        ]
        return QueryKeys(np.concatenate(keys), np.repeat(list(self.filed), [len(key) for key in keys]))

    def short(self, document: Document) -> tuple[str, ...]:
        """Return the non-empty text fields of a document with fewer words than are found with certainty.

        >>> Fingerprints(Schema(), Passages()).short(Document("a", "To be, or not to be"))
        ('text',)
        """
        names = list(self.schema.fields)
        texts = {number: text_content(content_of(document, names[number])) for number in self._readers}
        words = {number: len(self._readers[number].tokens(text)) for number, text in texts.items()}
        return tuple(names[number] for number in words if 0 < words[number] < self.passages.certain)

    def _keys(
        self,
        number: int,
        documents: Sequence[Document],
        window: int,
        threads: int,
        readers: dict[int, Text] | None = None,
    ) -> Sets:
        name = list(self.schema.fields)[number]
        contents = [content_of(document, name) for document in documents]
        reader = (readers or self._readers).get(number)
        if reader is None:
            offsets, hashes = self.filed[number].sets(contents, threads)
        else:
            texts = [text_content(content) for content in contents]
            offsets, hashes = winnowed(reader.reader, texts, window, threads)
        return offsets, keys_of(hashes, number)

    def add(
        self,
        storage: Storage,
        documents: Sequence[Document],
        payloads: Sequence[bytes],
        bands: NDArray[np.uint64],
        threads: int = 0,
        seen: int = 0,
    ) -> None:
        """Add documents to a storage under their band keys (uint64, n × bands) and their fingerprints."""
        offsets, keys = self.keys(documents, threads)
        for part in portions(np.diff(offsets) + bands.shape[1]):
            filed = padded(offsets[part.start : part.stop + 1], keys)
            ids = [document.id for document in documents[part]]
            storage.add(ids, payloads[part], np.concatenate((bands[part], filed), axis=1), seen)

    def hits(self, storage: Storage, keys: NDArray[np.uint64]) -> Hits:
        """Look up distinct keys (uint64) within a snapshot; no bucket is truncated."""
        rows, numbers = storage.candidates(keys.reshape(-1, 1))
        sharing = np.bincount(rows, minlength=len(keys))
        weight = np.log((len(storage) + 1) / np.maximum(sharing, 1))
        documents, place = np.unique(numbers, return_inverse=True)
        score = np.bincount(place, weights=weight[rows], minlength=len(documents))
        return Hits(rows, numbers, documents[np.lexsort((documents, -score))])

    def most_contained(self, query: QueryKeys, hits: Hits) -> NDArray[np.float64]:
        """Return an upper bound for the share of the query that each of `hits.documents` contains (float64).

        All values of value sets are stored, so that the share of values is known before a document is read, and a
        mean over fields is at most their maximum. For a text the bound is 1.
        """
        if any(isinstance(self.filed[number], Text) for number in np.unique(query.fields).tolist()):
            return np.ones(len(hits.documents))
        documents, place = np.unique(hits.numbers, return_inverse=True)
        most = np.zeros(len(documents))
        for number in np.unique(query.fields).tolist():
            of_field = query.fields == number
            shared = np.bincount(place[of_field[hits.rows]], minlength=len(documents))
            most = np.maximum(most, shared / of_field.sum())
        return most[np.searchsorted(documents, hits.documents)]


def is_whole(value: object, least: int) -> bool:
    """Whether a setting is an integer from `least` on.

    >>> is_whole(1, 1), is_whole(0, 1), is_whole(True, 1), is_whole("2", 1)
    (True, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def has_fingerprints(field: Field) -> bool:
    """Whether a field consists of elements that can be in another document; images do not."""
    return isinstance(field, Text) or (field.kind == "values" and not has_own_similarity(field))


def words_of(field: Text, size: int) -> Text:
    """Return a reader of the words of a text field, in runs of `size`, with the field's normal form and case.

    >>> words_of(Text(unit="char", case="keep"), 2).shingles("To be, or not")
    ['To be', 'be or', 'or not']
    """
    return Text(
        unit="word",
        shingle_size=size,
        tokenizer=field.tokenizer,
        normalize=field.normalize,
        case=field.case,
        punctuation=field.punctuation if field.unit == "word" else "drop",
        stop_words=field.stop_words,
    )


def keys_of(hashes: NDArray[np.uint64], number: int) -> NDArray[np.uint64]:
    """Return the keys for the hashes of a field: equal hashes of two fields have different keys.

    >>> hashes = np.array([7, 8], np.uint64)
    >>> bool((keys_of(hashes, 0) != keys_of(hashes, 1)).all())
    True
    """
    keys = hashes ^ np.uint64((2 * number + 1) * GOLDEN % 2**64)
    return np.where(keys == NO_KEY, np.uint64(0), keys)


def portions(widths: NDArray[np.int64]) -> Iterator[slice]:
    """Divide rows into parts that have at most PADDED_KEYS keys when padded to their widest row.

    >>> list(portions(np.array([3, 3_000_000, 2, 5_000_000])))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None), slice(3, 4, None)]
    >>> list(portions(np.array([3, 1_000_000, 2])))
    [slice(0, 3, None)]
    """
    start, widest = 0, 0
    for position, width in enumerate(widths.tolist()):
        widest = max(widest, width)
        if position > start and (position + 1 - start) * widest > PADDED_KEYS:
            yield slice(start, position)
            start, widest = position, width
    if start < len(widths):
        yield slice(start, len(widths))


def padded(offsets: NDArray[np.int64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return rows of keys as one array; shorter rows are padded with the key that is never stored.

    >>> padded(np.array([0, 2, 3]), np.array([5, 6, 7], np.uint64)).tolist() == [[5, 6], [7, int(NO_KEY)]]
    True
    """
    counts = np.diff(offsets)
    width = int(counts.max(initial=0))
    rows = np.full((len(counts), width), NO_KEY, dtype=np.uint64)
    rows[np.arange(width) < counts[:, None]] = keys[offsets[0] : offsets[-1]]
    return rows
