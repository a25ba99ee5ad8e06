"""The settings of a run that are rarely changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

from benzer.bands import Bands
from benzer.checks import (
    BUCKET_LIMIT,
    ID_SCOPES,
    MOST_SEED,
    ON_DUPLICATE_ID,
    check_choice,
    check_on_error,
    keep_whole,
)
from benzer.errors import SettingsError
from benzer.minhash import MinHash
from benzer.pipeline.checkpoint import Checkpoint


@dataclass(frozen=True)
class Options:
    """The settings of a run that are rarely changed: signatures, bands, reading of files, and interrupted runs.

    `find_duplicates`, `find_contained`, `price`, an index, the Python client and Spark take the same object. Settings
    of signatures and bands have no effect where none are used: in an exact join, as of `find_contained`.

    Args:
        minhash: Algorithm of the signature (see `benzer.minhash.MinHash`), or a `MinHash` that also sets
            `num_hashes` and `seed`.
        num_hashes: Number of signature values. Defaults to as many as the bands need.
        bands: Bands to use instead of choosing them by recall.
        seed: Seed of the hash functions and of samples.
        bucket_limit: Maximum size of a bucket whose pairs are all listed. Defaults to a value from 100 to 1,000
            that gives few candidates per document (see `benzer.candidates.propose`). Documents of larger buckets are
            compared with the kept documents among them: removals are not affected, but pairs of two removed
            documents are not listed.
        on_error: "stop" at the first malformed row, or "skip" malformed rows and list them in the result.
        on_duplicate_id: What happens to a document with the id of an earlier one: "number" gives it an id of source and
            row, "skip" lists it as malformed, "stop" raises an error. The result counts them.
        id_scope: "all", or "file" if ids are unique only within a source: then the ids begin with the name of the
            source.
        format: Format of the input files. Defaults to the file name.
        encoding: Encoding of text, CSV and TSV files. Detected by default; other formats are UTF-8.
        delimiter: Delimiter of CSV and TSV files. Detected by default.
        html: Whether text columns contain HTML pages, whose main text is compared.
        checkpoint: Folder for finished parts, from which the same call of `find_duplicates` resumes after an
            interruption. Removed at the end, except for an open `Checkpoint`, which its owner discards. Does not
            affect the result.

    Raises:
        SettingsError: A setting is out of range.

    >>> from benzer import find_duplicates
    >>> rows = [{"id": "a", "text": "one two three"}, {"id": "b", "text": "One, two, three"}, {"id": "c", "text": 7}]
    >>> found = find_duplicates(rows, options=Options(on_error="skip", bands=Bands(20, 4)))
    >>> found.removed, found.counts["malformed"]
    ({'b': Removal(kept_id='a', similarity=1.0)}, 1)
    """

    minhash: str | MinHash = "fast"
    num_hashes: int | None = None
    bands: Bands | None = None
    seed: int = 0
    bucket_limit: int | None = None
    on_error: Literal["stop", "skip"] = "stop"
    on_duplicate_id: Literal["number", "skip", "stop"] = "number"
    id_scope: Literal["all", "file"] = "all"
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    html: bool = False
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        keep_whole(self, "seed", 0, MOST_SEED, "0")
        self.signature(1)
        if not isinstance(self.bands, Bands | None):
            raise SettingsError(f"bands must be Bands, got {self.bands!r}: use e.g. Bands(bands=20, rows=5)")
        if self.bucket_limit is not None:
            keep_whole(self, *BUCKET_LIMIT)
        check_on_error(self.on_error)
        check_choice("on_duplicate_id", self.on_duplicate_id, ON_DUPLICATE_ID)
        check_choice("id_scope", self.id_scope, ID_SCOPES)

    def signature(self, num_values: int) -> MinHash:
        """Return the settings of a signature for bands.

        Args:
            num_values: Number of signature values that the bands use.

        >>> Options(seed=7).signature(120)
        MinHash(algorithm='fast', num_hashes=120, seed=7, family='mixed')
        """
        if isinstance(self.minhash, MinHash):
            return self.minhash
        return MinHash(self.minhash, num_values if self.num_hashes is None else self.num_hashes, self.seed)

    @property
    def most_values(self) -> int | None:
        """The number of signature values, if it is given."""
        return self.minhash.num_hashes if isinstance(self.minhash, MinHash) else self.num_hashes

    def refuse(self, names: Iterable[str], where: str, fix: str = "remove it") -> None:
        """Raise an error if one of some settings is given.

        Args:
            names: Names of the settings.
            where: The place that does not support them, for the message.
            fix: The fix, for the message.

        Raises:
            SettingsError: A setting is given.

        >>> Options(seed=7).refuse(("bands", "seed"), "for an index, which has its own")
        Traceback (most recent call last):
        benzer.errors.SettingsError: the option seed is not supported for an index, which has its own: remove it
        """
        usual = {field.name: field.default for field in fields(self)}
        for name in names:
            if getattr(self, name) != usual[name]:
                raise SettingsError(f"the option {name} is not supported {where}: {fix}")


def chosen(options: Any) -> Options:
    """Return the given options, or the defaults.

    >>> chosen(None) == Options()
    True
    >>> chosen({"seed": 7})
    Traceback (most recent call last):
    benzer.errors.SettingsError: options must be Options, got {'seed': 7}: use e.g. Options(seed=1)
    """
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise SettingsError(f"options must be Options, got {options!r}: use e.g. Options(seed=1)")
    return options
