"""The settings that a result depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benzer.bands import Bands
from benzer.clusters import Keep
from benzer.fields import Schema
from benzer.minhash import MinHash


@dataclass(frozen=True)
class Settings:
    """All settings that the result depends on.

    Attributes:
        bands: None for the method "exact", which has none.
        reason: Why the method was chosen, if it was not given.
        against: The older collections.
    """

    threshold: float
    recall: float
    schema: Schema
    minhash: MinHash
    bands: Bands | None
    keep: Keep
    bucket_limit: int | None
    on_error: str
    method: str = "lsh"
    reason: str | None = None
    against: tuple[str, ...] = ()
    on_duplicate_id: str = "number"
    id_scope: str = "all"

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values; those of signatures and bands only if there are bands."""
        return {
            "threshold": self.threshold,
            "recall": self.recall,
            "schema": self.schema.to_dict(),
            "method": self.method,
            **({} if self.reason is None else {"reason": self.reason}),
            **self._of_bands(),
            "keep": str(self.keep),
            **({} if not self.against else {"against": list(self.against)}),
            "on_error": self.on_error,
            **({} if self.on_duplicate_id == "number" else {"on_duplicate_id": self.on_duplicate_id}),
            **({} if self.id_scope == "all" else {"id_scope": self.id_scope}),
        }

    def _of_bands(self) -> dict[str, Any]:
        if self.bands is None:
            return {}
        return {
            "minhash": self.minhash.algorithm,
            "num_hashes": self.minhash.num_hashes,
            "seed": self.minhash.seed,
            **({} if self.minhash.family == "mixed" else {"family": self.minhash.family}),
            "bands": self.bands.bands,
            "rows": self.bands.rows,
            "bucket_limit": self.bucket_limit,
        }
