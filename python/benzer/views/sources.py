"""The counts of a run by source, and the matches in older collections."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from benzer.results import Duplicates, SourceCounts
from benzer.results.known import OfCollection
from benzer.views.charts import share_bar
from benzer.wording import share, without_passwords

SOURCES_SHOWN = 50
KNOWN_SHOWN = 5


def source_rows(result: Duplicates) -> tuple[list[tuple[SourceCounts, str, Markup]], int]:
    """The sources with a bar, highest removed share first, and the number of omitted sources."""
    ordered = sorted(result.by_source(), key=lambda item: -item.removed_share)
    if len(ordered) <= SOURCES_SHOWN:
        ordered = result.by_source()
    rows = [(item, share(item.removed, item.documents), source_bar(item)) for item in ordered[:SOURCES_SHOWN]]
    return rows, len(ordered) - len(rows)


def source_bar(item: SourceCounts) -> Markup:
    """The shares of kept, near and identical documents of a source."""
    whole = item.documents or 1
    parts = [
        (item.kept, "kept", "kept"),
        (item.near, "near", "near"),
        (item.identical, "same", "identical"),
        (item.known, "known", "known"),
    ]
    return share_bar([(part / whole, look, f"{share(part, whole)} {word}") for part, look, word in parts])


def known_rows(result: Duplicates) -> list[OfCollection]:
    """Each older collection with the number of documents removed because of it."""
    return [
        of_collection._replace(name=without_passwords(of_collection.name))
        for of_collection in result.of_collections()
    ]


def known_examples(result: Duplicates) -> list[tuple[str | int, str | int, str, float]]:
    """The known documents with the lowest similarity to their old match: id, old id, its collection, similarity."""
    matches = result.matches
    if matches is None:
        return []
    least = matches.best[np.argsort(matches.similarity[matches.best], kind="stable")[:KNOWN_SHOWN]]
    ids = result.corpus.ids(matches.position[least])
    names = [without_passwords(matches.names[position]) for position in matches.collection[least].tolist()]
    old = [matches.old_ids[position] for position in least.tolist()]
    return list(zip(ids, old, names, matches.similarity[least].tolist(), strict=True))
