"""Which number do the named hashes give a string? Those that are short enough to be written plainly."""

from __future__ import annotations

from collections.abc import Callable

from .classical import djb2a, murmur3
from .families import murmur3_long
from .hashing import MASK64

STRING_HASHES: dict[str, Callable[[str], int]] = {
    "djb2a": djb2a,
    "murmur3_32": lambda text: murmur3(text.encode(), 0),
    "murmur3_128": lambda text: murmur3_long(text.encode(), 0) & MASK64,
}
