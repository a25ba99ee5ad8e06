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


def source_rows(found: Duplicates) -> tuple[list[tuple[SourceCounts, str, Markup]], int]:
    """The sources with a bar, highest removed share first, and the number of omitted sources."""
    ordered = sorted(found.by_source(), key=lambda one: -one.removed_share)
    if len(ordered) <= SOURCES_SHOWN:
        ordered = found.by_source()
    rows = [(one, share(one.removed, one.documents), source_bar(one)) for one in ordered[:SOURCES_SHOWN]]
    return rows, len(ordered) - len(rows)


def source_bar(one: SourceCounts) -> Markup:
    """The shares of kept, near and identical documents of a source."""
    whole = one.documents or 1
    parts = [
        (one.kept, "kept", "kept"),
        (one.near, "near", "near"),
        (one.identical, "same", "identical"),
        (one.known, "known", "known"),
    ]
    return share_bar([(part / whole, look, f"{share(part, whole)} {word}") for part, look, word in parts])


def known_rows(found: Duplicates) -> list[OfCollection]:
    """Each older collection with the number of documents removed because of it."""
    return [one._replace(name=without_passwords(one.name)) for one in found.of_collections()]


def known_examples(found: Duplicates) -> list[tuple[str | int, str | int, str, float]]:
    """The known documents with the lowest similarity to their old match: id, old id, its collection, similarity."""
    matches = found.matches
    if matches is None:
        return []
    least = matches.best[np.argsort(matches.similarity[matches.best], kind="stable")[:KNOWN_SHOWN]]
    ids = found.corpus.ids(matches.position[least])
    names = [without_passwords(matches.names[at]) for at in matches.collection[least].tolist()]
    old = [matches.old_ids[at] for at in least.tolist()]
    return list(zip(ids, old, names, matches.similarity[least].tolist(), strict=True))
