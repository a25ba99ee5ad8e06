"""Files of documents, and documents that are contained in others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benzer.views.tables import TableView, counts_table, facts_table, headed_table
from benzer.wording import count, duration, likeness, plain, setting


def file_facts(report: Mapping[str, Any]) -> TableView:
    """A file of documents: its columns and counts.

    >>> report = {"file": "a.jsonl", "columns": ["id", "text"], "rows": 2000, "malformed": 0, "documents": 2000}
    >>> file_facts(report | {"short": 3, "empty": 1}).rows[1:3]
    (('columns', 'id, text'), ('rows', '2,000'))
    """
    names = ("rows", "malformed", "documents", "short", "empty")
    facts = [("file", report["file"]), ("columns", ", ".join(report["columns"]))]
    return facts_table([*facts, *((name, count(report[name])) for name in names)])


def contained_table(counts: Mapping[str, int], threshold: float, seconds: float) -> TableView:
    """The counts of a search for contained documents."""
    remarks = {
        "documents": "",
        "copies": "identical to an earlier document and represented by it",
        "short": "shorter than one shingle and not compared; use a smaller --shingle",
        "empty": "without content and not compared",
        "contained": f"at least {setting(threshold)} contained in another document",
        "containing": "contain another document",
        "pairs": "all pairs, found by an exact join",
    }
    rows = [(name, count(counts[name]), remark * bool(counts[name])) for name, remark in remarks.items()]
    return counts_table([*rows, ("time", duration(seconds), "")])


def contained_pairs(pairs: Sequence[tuple[str | int, str | int, float]]) -> TableView:
    """Pairs of a document and one that contains it, with the share.

    >>> contained_pairs([("a", "b", 0.97999)]).rows
    (('0.979', 'a', 'b'),)
    """
    rows = [(likeness(share), plain(inner), plain(outer)) for inner, outer, share in pairs]
    return headed_table(("containment", "of", "in"), rows, numbers=1)
