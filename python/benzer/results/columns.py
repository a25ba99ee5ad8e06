"""The tables of a result as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer._native import components
from benzer.errors import SettingsError
from benzer.results.base import DecidedDocuments
from benzer.tables import IdColumn, NameColumn
from benzer.tables.native import plain

Positions = NDArray[np.uint32]


def table(found: DecidedDocuments, name: str) -> dict[str, Any]:
    """Return the columns of one table of a result, as lists and arrays; see `TABLES` for the names."""
    return {key: plain(column) for key, column in held(found, name).items()}


def held(found: DecidedDocuments, name: str) -> dict[str, Any]:
    """Return the same columns with ids and names as arrays of `benzer.tables`, without a Python object per cell."""
    if name not in TABLES:
        raise SettingsError(f"there is no table {name!r}: choose one of {', '.join(TABLES)}")
    return TABLES[name](found)


def pairs(found: DecidedDocuments) -> dict[str, Any]:
    """Return the verified pairs."""
    pairs = found.pairs
    return {
        "left_id": IdColumn(found.corpus, pairs.left),
        "right_id": IdColumn(found.corpus, pairs.right),
        "similarity": pairs.similarity,
    }


def removed(found: DecidedDocuments) -> dict[str, Any]:
    """Return each removed document with its kept one, their similarity, and the positions of both."""
    goes = np.flatnonzero(~found.stays).astype(np.uint32)
    kept = found.leader[goes]
    columns = {
        "id": IdColumn(found.corpus, goes),
        "kept_id": IdColumn(found.corpus, kept),
        "similarity": found.leader_similarity[goes],
        **places(found, goes),
        **places(found, kept, "kept_"),
    }
    return columns if found.matches is None else _with_known(found, goes, columns)


def _with_known(found: DecidedDocuments, goes: Positions, columns: dict[str, Any]) -> dict[str, Any]:
    """Add the kept documents of known documents, which are in an older collection instead of a row of a file."""
    matches = found.matches
    assert matches is not None
    columns = {key: plain(column) for key, column in columns.items()}
    best = matches.best
    at = np.searchsorted(goes, matches.position[best]).tolist()
    columns["similarity"] = columns["similarity"].copy()
    columns["similarity"][at] = matches.similarity[best]
    columns["kept_row"] = columns["kept_row"].tolist()
    columns["kept_in"] = [None] * len(goes)
    for place, match in zip(at, best.tolist(), strict=True):
        columns["kept_id"][place] = matches.old_ids[match]
        columns["kept_in"][place] = matches.names[matches.collection[match]]
        columns["kept_file"][place] = columns["kept_row"][place] = None
    return columns


def clusters(found: DecidedDocuments) -> dict[str, Any]:
    """Return the members of each cluster, the kept one first."""
    goes = np.unique(found.leader[found.led])
    members = np.flatnonzero(np.isin(found.leader, goes)).astype(np.uint32)
    leaders = found.leader[members]
    order = np.lexsort((members, members != leaders, leaders))
    members, leaders = members[order], leaders[order]
    tied = components(len(found.stays), found.pairs.left, found.pairs.right)
    return {
        "cluster_id": IdColumn(found.corpus, leaders),
        "id": IdColumn(found.corpus, members),
        "similarity": found.leader_similarity[members],
        "representative": members == leaders,
        "component_id": IdColumn(found.corpus, tied[members]),
        **places(found, members),
    }


def malformed(found: DecidedDocuments) -> dict[str, Any]:
    """Return the skipped rows."""
    rows = found.malformed
    return {
        "file": [row.source for row in rows],
        "row": [row.row for row in rows],
        "reason": [row.reason for row in rows],
    }


def old_matches(found: DecidedDocuments) -> dict[str, Any]:
    """Return the verified matches with documents of older collections."""
    if found.matches is None:
        return {"id": [], "old_id": [], "index": [], "similarity": np.empty(0)}
    return found.matches.columns(found.corpus.ids(found.matches.position))


def places(found: DecidedDocuments, positions: Positions, prefix: str = "") -> dict[str, Any]:
    """Return the file and row of documents."""
    names = [source.name for source in found.reading.sources]
    return {
        f"{prefix}file": NameColumn(names, found.corpus.sources()[positions]),
        f"{prefix}row": found.corpus.rows()[positions],
    }


TABLES: dict[str, Callable[[DecidedDocuments], dict[str, Any]]] = {
    "pairs": pairs,
    "removed": removed,
    "clusters": clusters,
    "malformed": malformed,
    "old_matches": old_matches,
}
