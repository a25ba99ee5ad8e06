"""The interface of field types, which convert content to sets of 64-bit hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from benzer._native import TextReader
from benzer.document import FieldValue
from benzer.errors import InputError

Sets = tuple[NDArray[np.int64], NDArray[np.uint64]]
Kind = Literal["text", "values", "image"]


class Field(Protocol):
    """A field type: frozen settings, and the conversion of content to sets.

    `kind` determines how sources read it; `weight` is its weight in the similarity of documents with several fields.
    Text and value sets are read by the native core; the sets of any other type are made by its own methods. `decode`
    of such a type may return a `Description`; then all methods accept it instead of the content.
    """

    kind: ClassVar[Kind]

    @property
    def weight(self) -> float: ...

    @property
    def reader(self) -> TextReader | None:
        """The native reader of a text field; None for any other field."""
        ...

    def sets(self, contents: Sequence[FieldValue], threads: int = 1) -> Sets:
        """Return the set of each content: offsets (int64, n + 1) and hashes (uint64, ascending in each set)."""
        ...

    def encode(self, content: FieldValue) -> bytes:
        """Return the content as bytes, from which `decode` returns an equal content, or one with an equal set."""
        ...

    def decode(self, data: bytes) -> FieldValue:
        """Return the content that was encoded, or a description that represents it."""
        ...

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        """Return `sets` of encoded contents; an empty set for None."""
        ...

    def shared(self, a: FieldValue, b: FieldValue) -> list[str]:
        """Return the elements of both contents in readable form, in the order of `a`."""
        ...

    def to_dict(self) -> Mapping[str, Any]:
        """Return the settings as JSON values; with the key "type" they create an equal field."""
        ...


class SeenField(Field, Protocol):
    """A field whose contents are costly to read: each is described once, and the descriptions are compared."""

    @property
    def own_similarity(self) -> bool:
        """Whether the exact similarity is that of `compare`, and not the Jaccard similarity of the sets."""
        ...

    def describe(self, contents: Sequence[FieldValue], threads: int = 1) -> list[bytes | InputError]:
        """Encode each content, or return the reason why it cannot be read. `threads`: 0 uses all cores."""
        ...

    def compare(self, a: bytes, others: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the exact similarity of one encoded content to others: symmetric, 1.0 for equal sets."""
        ...

    def band_threshold(self, threshold: float) -> float:
        """Return the Jaccard similarity of the sets for which bands must reach the recall.

        With bands for this similarity, the share of found pairs at or above `threshold` must be at least the recall.
        This is true if all such pairs have sets of at least this similarity; otherwise calibrate it on data.
        """
        ...


class BoundedField(SeenField, Protocol):
    """A field whose sets bound its similarity, which makes measurements of the recall fast.

    For a field with a similarity of its own but without this method, a measurement compares each drawn document
    with all others.
    """

    def least_jaccard(self, threshold: float) -> float:
        """Return a Jaccard similarity of the sets that every pair at or above `threshold` reaches."""
        ...


def is_seen(field: Field) -> TypeGuard[SeenField]:
    """Whether a field describes its contents."""
    return hasattr(field, "describe")


def has_own_similarity(field: Field) -> TypeGuard[SeenField]:
    """Whether a field compares its contents by more than their sets."""
    return is_seen(field) and field.own_similarity


def has_least_jaccard(field: Field) -> TypeGuard[BoundedField]:
    """Whether the sets of a field bound its similarity."""
    return is_seen(field) and hasattr(field, "least_jaccard")


def described(field: Field, contents: Sequence[FieldValue], threads: int = 1) -> list[bytes | InputError]:
    """Encode the contents of any field, or return the reason why one cannot be read.

    >>> from benzer.fields import ValueSet
    >>> described(ValueSet(), [["red"], "red"])
    [b'["red"]', InputError("a value set takes a collection of str or int, got 'red': put it in a list")]
    """
    if is_seen(field):
        return field.describe(contents, threads)
    return [_encoded(field, content) for content in contents]


def _encoded(field: Field, content: FieldValue) -> bytes | InputError:
    try:
        return field.encode(content)
    except InputError as error:
        return error
