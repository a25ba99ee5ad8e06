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


def table(result: DecidedDocuments, name: str) -> dict[str, Any]:
    """Return the columns of one table of a result, as lists and arrays; see `TABLES` for the names."""
    return {key: plain(column) for key, column in packed_table(result, name).items()}


def packed_table(result: DecidedDocuments, name: str) -> dict[str, Any]:
    """Return the same columns with ids and names as arrays of `benzer.tables`, without a Python object per cell."""
    if name not in TABLES:
        raise SettingsError(f"there is no table {name!r}: choose one of {', '.join(TABLES)}")
    return TABLES[name](result)


def pairs(result: DecidedDocuments) -> dict[str, Any]:
    """Return the verified pairs."""
    pairs = result.pairs
    return {
        "left_id": IdColumn(result.corpus, pairs.left),
        "right_id": IdColumn(result.corpus, pairs.right),
        "similarity": pairs.similarity,
    }


def kept(result: DecidedDocuments) -> dict[str, Any]:
    """The kept documents and their places."""
    stays = np.flatnonzero(result.stays).astype(np.uint32)
    return {"id": IdColumn(result.corpus, stays), **places(result, stays)}


def removed(result: DecidedDocuments) -> dict[str, Any]:
    """Return each removed document with its kept one, their similarity, and the positions of both."""
    goes = np.flatnonzero(~result.stays).astype(np.uint32)
    kept = result.leader[goes]
    columns = {
        "id": IdColumn(result.corpus, goes),
        "kept_id": IdColumn(result.corpus, kept),
        "similarity": result.leader_similarity[goes],
        **places(result, goes),
        **places(result, kept, "kept_"),
    }
    return columns if result.matches is None else _with_known(result, goes, columns)


def _with_known(result: DecidedDocuments, goes: Positions, columns: dict[str, Any]) -> dict[str, Any]:
    """Add the kept documents of known documents, which are in an older collection instead of a row of a file."""
    matches = result.matches
    assert matches is not None
    columns = {key: plain(column) for key, column in columns.items()}
    best = matches.best
    positions = np.searchsorted(goes, matches.position[best]).tolist()
    columns["similarity"] = columns["similarity"].copy()
    columns["similarity"][positions] = matches.similarity[best]
    columns["kept_row"] = columns["kept_row"].tolist()
    columns["kept_in"] = [None] * len(goes)
    for place, match in zip(positions, best.tolist(), strict=True):
        columns["kept_id"][place] = matches.old_ids[match]
        columns["kept_in"][place] = matches.names[matches.collection[match]]
        columns["kept_file"][place] = columns["kept_row"][place] = None
    return columns


def clusters(result: DecidedDocuments) -> dict[str, Any]:
    """Return the members of each cluster, the kept one first."""
    goes = np.unique(result.leader[result.led])
    members = np.flatnonzero(np.isin(result.leader, goes)).astype(np.uint32)
    leaders = result.leader[members]
    order = np.lexsort((members, members != leaders, leaders))
    members, leaders = members[order], leaders[order]
    tied = components(len(result.stays), result.pairs.left, result.pairs.right)
    return {
        "cluster_id": IdColumn(result.corpus, leaders),
        "id": IdColumn(result.corpus, members),
        "similarity": result.leader_similarity[members],
        "representative": members == leaders,
        "component_id": IdColumn(result.corpus, tied[members]),
        **places(result, members),
    }


def malformed(result: DecidedDocuments) -> dict[str, Any]:
    """Return the skipped rows."""
    rows = result.malformed
    return {
        "file": [row.source for row in rows],
        "row": [row.row for row in rows],
        "reason": [row.reason for row in rows],
    }


def old_matches(result: DecidedDocuments) -> dict[str, Any]:
    """Return the verified matches with documents of older collections."""
    if result.matches is None:
        return {"id": [], "old_id": [], "index": [], "similarity": np.empty(0)}
    return result.matches.columns(result.corpus.ids(result.matches.position))


def places(result: DecidedDocuments, positions: Positions, prefix: str = "") -> dict[str, Any]:
    """Return the file and row of documents."""
    names = [source.name for source in result.reading.sources]
    return {
        f"{prefix}file": NameColumn(names, result.corpus.sources()[positions]),
        f"{prefix}row": result.corpus.rows()[positions],
    }


TABLES: dict[str, Callable[[DecidedDocuments], dict[str, Any]]] = {
    "pairs": pairs,
    "kept": kept,
    "removed": removed,
    "clusters": clusters,
    "malformed": malformed,
    "old_matches": old_matches,
}
