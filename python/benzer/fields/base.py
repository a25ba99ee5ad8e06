"""What is a field type? A way of making a set of 64-bit hashes of one part of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from benzer._native import TextReader
from benzer.document import FieldValue

Sets = tuple[NDArray[np.int64], NDArray[np.uint64]]


class Field(Protocol):
    """A field type: frozen settings, and how content becomes sets.

    `kind` says what sources read it as; `weight` counts in the similarity of documents of several fields.
    """

    kind: ClassVar[Literal["text", "values"]]

    @property
    def weight(self) -> float: ...

    @property
    def reader(self) -> TextReader | None:
        """The native reader of a text field; None for any other."""
        ...

    def sets(self, contents: Sequence[FieldValue], threads: int = 1) -> Sets:
        """The set of each content: offsets (int64, n + 1) and hashes (uint64, ascending in each set)."""
        ...

    def encode(self, content: FieldValue) -> bytes:
        """The content as bytes, from which `decode` gives an equal one back."""
        ...

    def decode(self, data: bytes) -> FieldValue:
        """The content that `encode` was given."""
        ...

    def encoded_sets(self, contents: Sequence[bytes | None]) -> Sets:
        """`sets` of contents that are encoded; an empty set for None."""
        ...

    def shared(self, a: FieldValue, b: FieldValue) -> list[str]:
        """The elements that both contents have, as people read them, in the order of `a`."""
        ...

    def to_dict(self) -> Mapping[str, Any]:
        """The settings, JSON-able; with the key "type" they make an equal field again."""
        ...
