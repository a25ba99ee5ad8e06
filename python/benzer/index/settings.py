"""What is an index asked for, once and for its whole life?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benzer.bands import Bands
from benzer.checks import is_number
from benzer.errors import SettingsError, SettingsMismatchError, StoreFormatError
from benzer.fields import Schema
from benzer.index.fingerprints import Fingerprints, Passages
from benzer.minhash import MinHash
from benzer.sketcher import Sketcher

HASHING = 1
"""The version of the rules that lead from a text to its band keys; an index of other rules finds nothing."""


@dataclass(frozen=True, init=False)
class IndexSettings:
    """What an index compares, and what it promises; kept in the index, and the same for its whole life.

    A pair of documents at `threshold` is found with probability `recall` or more. Unless `bands` are given
    they are chosen for that, and `num_hashes` is what they need. `passages`: True, or `Passages` that say how
    finely, to file passages too, which `find_containing`, `find_contained` and `find_passages` need.

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
        threshold: float = 0.8,
        recall: float = 0.95,
        minhash: str = "fast",
        num_hashes: int | None = None,
        bands: Bands | None = None,
        seed: int = 0,
        family: str = "mixed",
        passages: bool | Passages | Mapping[str, int] | None = None,
    ) -> None:
        if not is_number(threshold) or not 0 < threshold <= 1:
            raise SettingsError(f"threshold must be in (0, 1], got {threshold}")
        if not is_number(recall) or not 0 < recall < 1:
            raise SettingsError(
                f"recall must be in (0, 1), got {recall}: 0.999 finds all but one in a thousand"
            )
        schema = schema or Schema()
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
        self.sketcher(), self.fingerprints()  # refuse what does not fit together

    def sketcher(self) -> Sketcher:
        """What reads and sketches documents by these settings."""
        return Sketcher(self.schema, self.minhash, self.bands)

    def fingerprints(self) -> Fingerprints | None:
        """What files the passages of documents by these settings; None where none are filed."""
        return None if self.passages is None else Fingerprints(self.schema, self.passages)

    def to_dict(self) -> dict[str, Any]:
        """The settings, JSON-able. The order of the schema's fields counts.

        A setting that came later is left out while it has its default, so that fingerprints stay the same.
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
        """The settings as JSON; equal settings give equal text."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> IndexSettings:
        """The settings that `to_json` wrote; StoreFormatError for any other text."""
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
                f"the index was made by hashing rules {hashing}, this version of benzer has rules {HASHING}: "
                f"upgrade benzer, or make the index anew"
            )
        return settings

    def fingerprint(self) -> str:
        """64 hexadecimal digits, equal for equal settings only (SHA-256 of the JSON text)."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def mismatch(location: str, stored: IndexSettings, given: IndexSettings) -> SettingsMismatchError:
    """The error that shows both settings, field by field, where they differ."""
    faults = differences(stored, given)
    return SettingsMismatchError(
        f"{location} was made with other settings: {faults}. Open it without settings, or make another index"
    )


def differences(stored: IndexSettings, given: IndexSettings) -> str:
    """Where two settings differ, field by field."""
    theirs, ours = dict(_flat(stored.to_dict())), dict(_flat(given.to_dict()))
    lines = [
        f"{name} is {theirs.get(name, 'not there')!r}, given was {ours.get(name, 'not there')!r}"
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
