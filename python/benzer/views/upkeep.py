"""The outcome of commands that change, copy or check an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benzer.views.counts import speed
from benzer.views.tables import TableView, counts_table
from benzer.wording import amount, count, counted, duration, others, plain

if TYPE_CHECKING:
    from benzer.index.upkeep import Taken

MISSING = 20
"""Ids listed that are not in the index."""
DOCUMENTS, LEFT = "documents", "in the index"


def documents_table(did: str, documents: int, size: int | None = None) -> TableView:
    """The number of documents of a command on a whole index, and the size of the file that it wrote.

    >>> documents_table("copied", 3, 5300).rows
    (('copied', '3', 'documents, 5.3 kB'),)
    """
    return counts_table(
        [(did, count(documents), DOCUMENTS if size is None else f"{DOCUMENTS}, {amount(size)}")]
    )


def removed_table(removed: int, left: int) -> TableView:
    """How many documents were removed, and how many are left."""
    return counts_table([("removed", count(removed), DOCUMENTS), (LEFT, count(left), "")])


def compacted_table(before: Mapping[str, Any], after: Mapping[str, Any]) -> TableView:
    """The size of an index before and after it was compacted, as `Index.info` returns it."""
    removed = counted(before["removed"], "removed document")
    rows = [("before", amount(before["bytes"]), removed)]
    return counts_table([*rows, ("now", amount(after["bytes"]), counted(after["documents"], "document"))])


def indexed_table(added: Mapping[str, Any]) -> TableView:
    """How many documents were read and added.

    >>> indexed_table({"read": 2000, "new": 1990, "documents": 2500, "seconds": 0.5}).rows[-1]
    ('time', '500 ms', '4,000 documents/s')
    """
    read, seconds = added["read"], added["seconds"]
    repeated = added.get("repeated_ids", 0)
    rows = [("repeated ids", count(repeated), "rows with the id of an earlier row")] if repeated else []
    return counts_table(
        [
            ("read", count(read), DOCUMENTS),
            *rows,
            ("new", count(added["new"]), ""),
            replaced(read - added["new"]),
            (LEFT, count(added["documents"]), ""),
            ("time", duration(seconds), speed(read, seconds)),
        ]
    )


def merged_table(used: Taken, documents: int) -> TableView:
    """The counts of a merge or import."""
    return counts_table(
        [
            ("new", count(used.added), DOCUMENTS),
            replaced(used.replaced),
            ("kept", count(used.kept), "existing documents" if used.kept else ""),
            (LEFT, count(documents), ""),
        ]
    )


def replaced(documents: int) -> tuple[str, str, str]:
    """The documents that took the place of others."""
    return "replaced", count(documents), "had an existing id" if documents else ""


def not_there(ids: Sequence[str]) -> str:
    """The ids that were to be removed but are not in the index.

    >>> not_there(["a", "b"])
    'not in the index: a, b'
    """
    more = f", {others(len(ids) - MISSING)}" if len(ids) > MISSING else ""
    return f"not {LEFT}: {', '.join(map(plain, ids[:MISSING]))}{more}"


def evicted(going: int, documents: int, listed: int) -> str:
    """The documents that an eviction would remove.

    >>> evicted(30, 9000, 20)
    'would remove 30 of 9,000 documents (first 20 listed)'
    """
    more = f" (first {count(listed)} listed)" if going > listed else ""
    return f"would remove {count(going)} of {counted(documents, 'document')}{more}"
