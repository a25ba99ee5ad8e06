"""Settings of an index, which do not change after its creation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benzer.bands import Bands
from benzer.checks import check_recall, check_threshold
from benzer.errors import SettingsMismatchError, StoreFormatError
from benzer.fields import Schema
from benzer.fields.schema import DEFAULT_RECALL
from benzer.index.fingerprints import Fingerprints, Passages
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher

HASHING = 1
"""Version of the rules that convert a text to band keys; indexes with other rules are not compatible."""


@dataclass(frozen=True, init=False)
class IndexSettings:
    """Settings of an index, which are stored in it and do not change.

    Args:
        schema: Fields and how they are read. Defaults to one text field.
        threshold: Minimum similarity of a match, in (0, 1].
        recall: Minimum probability of finding a match at the threshold, in (0, 1).
        minhash: Algorithm of the signatures: "fast" or "kmins".
        num_hashes: Number of signature values. Defaults to the number that the bands use.
        bands: Bands to use instead of choosing them by recall.
        seed: Seed of the hash functions.
        family: Hash functions of "kmins".
        passages: Whether to store passages, required by `find_containing`, `find_contained` and `find_passages`;
            True, or `Passages` with their settings.

    Raises:
        SettingsError: A setting is out of range, or two settings contradict each other.

    >>> settings = IndexSettings(threshold=0.7)
    >>> settings.bands.probability(0.7) >= 0.95
    True
    >>> IndexSettings.from_json(settings.to_json()) == settings
    True
    """

    schema: Schema
    threshold: float
    recall: float
    minhash: MinHash
    bands: Bands
    passages: Passages | None

    def __init__(
        self,
        schema: Schema | None = None,
        *,
        threshold: float | None = None,
        recall: float = DEFAULT_RECALL,
        minhash: str = "fast",
        num_hashes: int | None = None,
        bands: Bands | None = None,
        seed: int = 0,
        family: str = "mixed",
        passages: bool | Passages | Mapping[str, int] | None = None,
    ) -> None:
        schema = schema or Schema()
        threshold = schema.default_threshold if threshold is None else threshold
        check_threshold(threshold)
        check_recall(recall, allow_one=False)
        chosen = bands or Bands.for_recall(schema.band_threshold(threshold), recall, num_hashes)
        values = {
            "schema": schema,
            "threshold": float(threshold),
            "recall": float(recall),
            "minhash": MinHash(minhash, num_hashes or chosen.num_values, seed, family),
            "bands": chosen,
            "passages": Passages.of(passages),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self.sketcher(), self.fingerprints()  # check that the settings are compatible

    def sketcher(self) -> Sketcher:
        """Return the sketcher for these settings."""
        return Sketcher(self.schema, self.minhash, self.bands)

    def fingerprints(self) -> Fingerprints | None:
        """Return the passage fingerprints for these settings; None if passages are not stored."""
        return None if self.passages is None else Fingerprints(self.schema, self.passages)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values. The order of the fields matters.

        Settings added in later versions are omitted if they have their defaults, so that fingerprints do not change.
        """
        later: dict[str, Any] = {"family": self.minhash.family} if self.minhash.family != "mixed" else {}
        later |= {} if self.passages is None else {"passages": self.passages.to_dict()}
        return {
            "schema": self.schema.to_dict(),
            "threshold": self.threshold,
            "recall": self.recall,
            "minhash": self.minhash.algorithm,
            "num_hashes": self.minhash.num_hashes,
            "seed": self.minhash.seed,
            "bands": self.bands.bands,
            "rows": self.bands.rows,
            "hashing": HASHING,
            **later,
        }

    def to_json(self) -> str:
        """Return the settings as JSON; equal settings give equal text."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> IndexSettings:
        """Read settings written by `to_json`.

        Args:
            text: JSON text.

        Returns:
            The settings.

        Raises:
            StoreFormatError: The text is not valid, or was written by an incompatible version.
        """
        try:
            values = json.loads(text)
            hashing = values.pop("hashing")
            schema = Schema.from_dict(values.pop("schema"))
            bands = Bands(values.pop("bands"), values.pop("rows"))
            settings = cls(schema, bands=bands, **values) if hashing == HASHING else None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreFormatError(
                f"the settings of the index cannot be read ({error}): upgrade benzer"
            ) from error
        if settings is None:
            raise StoreFormatError(
                f"the index was created with hashing rules {hashing}, this version of benzer has rules {HASHING}: "
                f"upgrade benzer, or create the index again"
            )
        return settings

    def fingerprint(self) -> str:
        """Return the SHA-256 of the JSON text as 64 hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def mismatch(location: str, stored: IndexSettings, given: IndexSettings) -> SettingsMismatchError:
    """Return the error that lists the differences between two settings."""
    faults = differences(stored, given)
    return SettingsMismatchError(
        f"{location} was created with other settings: {faults}. Open it without settings, or create another index"
    )


def differences(stored: IndexSettings, given: IndexSettings) -> str:
    """Describe the differences of two settings, field by field."""
    theirs, ours = dict(_flat(stored.to_dict())), dict(_flat(given.to_dict()))
    lines = [
        f"{name} is {theirs.get(name, 'missing')!r}, got {ours.get(name, 'missing')!r}"
        for name in dict.fromkeys([*theirs, *ours])
        if theirs.get(name) != ours.get(name)
    ]
    return "; ".join(lines) or "the order of the fields"


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
