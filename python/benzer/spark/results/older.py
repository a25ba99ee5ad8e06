"""What do older collections say of the documents of a run?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benzer.spark.results.duplicates import SparkDuplicates


def known_removals(found: SparkDuplicates) -> Any:
    raise NotImplementedError


def known_of(found: SparkDuplicates, chosen: Any, at: Any) -> Any:
    raise NotImplementedError
