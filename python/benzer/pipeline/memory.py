"""The memory limit of a run, and how the work is divided to respect it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benzer.errors import SettingsError

UNITS = {
    **dict.fromkeys(("", "b"), 1),
    **{
        name: 1000**power
        for power, names in enumerate(("k kb", "m mb", "g gb", "t tb"), 1)
        for name in names.split()
    },
    **{name: 1024**power for power, name in enumerate(("kib", "mib", "gib", "tib"), 1)},
}
LEAST = 32_000_000
"""What does not grow with the documents: scratch of threads, and what was freed and is not given back yet."""

MOST = 2**63
PER_DOCUMENT = 40
"""Bytes that are held of each document whatever the budget while candidates are made: where its id lies (12), its
content hash (16), its place in the keep order (4), who stands for it (4), and what it is (3). All other stages hold
less: that in which documents come in 44, that of clusters 56."""
PER_FIELD = 12
"""Bytes that say where the text of a field lies."""
FILED = 32
"""Bytes that a document takes in one band while the buckets of that band are made."""
KEY = 8
SHINGLE = 25
"""Bytes that the exact method holds of a shingle at most, measured: its hash, and what is filed (17 to 25)."""
BATCH_BYTES = 64 << 20
LEAST_BATCH = 1 << 20
TOGETHER = 16_384
LEAST_TOGETHER = 256


@dataclass(frozen=True)
class Memory:
    """An upper bound for the memory that a run allocates (anonymous memory); None for no bound.

    Not counted are mapped files, because the system drops their pages when other processes need memory; memory that
    the process used before; texts whose source cannot be mapped; skipped rows; and about 60 bytes per candidate (100
    per match).

    The bound does not affect the result. Band keys that do not fit are stored in a temporary file, fewer bands are
    filed at the same time, and the texts of fewer pairs are compared at once.

    >>> memory = Memory.parse("2GB")
    >>> memory.bytes, memory.spills(documents=10**7, fields=1, keys=60), memory.bands_at_once(10**7, 1, 60)
    (2000000000, True, 4)
    >>> Memory().spills(documents=10**7, fields=1, keys=60), Memory().bands_at_once(10**7, 1, 60)
    (False, 0)
    """

    bytes: int | None = None

    @classmethod
    def parse(cls, given: str | int | Memory | None) -> Memory:
        """Parse a number of bytes, or a text such as "2GB", "500 MB" or "1GiB".

        >>> Memory.parse("1.5 GiB").bytes
        1610612736
        >>> Memory.parse("a lot")
        Traceback (most recent call last):
        benzer.errors.SettingsError: memory must be a size such as "2GB" or "500MB", got 'a lot'
        """
        if given is None or isinstance(given, Memory):
            return given or cls()
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(given).lower())
        if isinstance(given, bool) or match is None or match[2] not in UNITS:
            raise SettingsError(f'memory must be a size such as "2GB" or "500MB", got {given!r}')
        size = int(min(float(match[1]) * UNITS[match[2]], MOST))
        if size < LEAST:
            raise SettingsError(
                f"memory must be at least {LEAST // 10**6}MB, got {given!r}: use a higher limit"
            )
        return cls(size)

    def check(self, documents: int, fields: int) -> None:
        """Raise an error if the bound is too low for the number of documents."""
        least = documents * (PER_DOCUMENT + PER_FIELD * fields + FILED) + LEAST
        if self.bytes is not None and self.bytes < least:
            raise SettingsError(
                f"memory={self.bytes / 1e6:.0f}MB is too little for {documents:,} documents, which need "
                f"{-(-least // 10**6)}MB: raise memory, or split the input"
            )

    def check_sets(self, shingles: int) -> None:
        """Raise an error if the bound is too low for the exact method, which keeps all sets in memory."""
        least = shingles * SHINGLE + LEAST
        if self.bytes is not None and self.bytes < least:
            raise SettingsError(
                f"memory={self.bytes / 1e6:.0f}MB is too little for the exact method, which needs "
                f"{-(-least // 10**6)}MB for {shingles:,} shingles: raise memory, or use method 'lsh'"
            )

    def spills(self, documents: int, fields: int, keys: int) -> bool:
        """Whether the band keys of all documents are stored in a file."""
        return self.bytes is not None and documents * keys * KEY > self._room(documents, fields) // 2

    def sketched_together(self, keys: int) -> int:
        """Return how many documents are sketched at once; their keys are in memory three times."""
        if self.bytes is None:
            return TOGETHER
        return min(max(self.bytes // 16 // (keys * KEY), LEAST_TOGETHER), TOGETHER)

    def bands_at_once(self, documents: int, fields: int, keys: int) -> int:
        """Return how many bands are filed at the same time; 0 for all."""
        if self.bytes is None:
            return 0
        room = self._room(documents, fields)
        if not self.spills(documents, fields, keys):
            room -= documents * keys * KEY
        return min(max(1, room // max(documents * FILED, 1)), max(keys, 1))

    @property
    def batch_bytes(self) -> int:
        """The bytes of text whose pairs are compared at once; their shingles take about 16 times as much."""
        return BATCH_BYTES if self.bytes is None else min(max(self.bytes // 32, LEAST_BATCH), BATCH_BYTES)

    def trim(self) -> None:
        """Return freed memory to the system if there is a bound; the C library may keep up to 64 MB otherwise."""
        if self.bytes is not None:
            trim()

    def _room(self, documents: int, fields: int) -> int:
        """Return the memory that is left after what is always needed."""
        return max((self.bytes or 0) - documents * (PER_DOCUMENT + PER_FIELD * fields) - LEAST, 0)


def trim() -> None:
    """Return freed memory to the system, if the C library supports it (that of GNU does)."""
    import ctypes

    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back is not None:
        give_back(0)
