"""The counts of a run. This is the only module that names and explains a count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benzer.views.tables import TableView, counts_table
from benzer.wording import amount, count, counted, duration, setting, share


@dataclass(frozen=True)
class CountView:
    """One count of a run.

    Attributes:
        name: The name in the summary.
        value: The count.
        remark: The explanation; empty if the count is 0.
        part: Whether it is a part of the previous counts.
        tile: Whether pages show it as a tile.
    """

    name: str
    value: int
    remark: str
    part: bool = False
    tile: bool = True

    @property
    def label(self) -> str:
        """The name as a person reads it."""
        return self.name.replace("_", " ")

    @property
    def number(self) -> str:
        """The value with separators."""
        return count(self.value)


OLDER = "match a document of an older index"
OPTIONAL = {"malformed", "known", "oversized_buckets"}
"""Counts that are shown only if they are not 0."""
PARTS = {"identical", "near", "known"}
NO_TILES = {"pairs", "clusters", "oversized_buckets", "repeated_ids"}
HIDDEN = {"documents", "candidates", "oversized_documents", "repeated_identical"}
"""Counts that appear only in explanations of others. A count that is not named here is shown without an explanation."""


def counts_of(
    counts: Mapping[str, int], threshold: float, *, texts: bool, bucket_limit: int | None = None
) -> list[CountView]:
    """The counts of a run in the order in which they are shown.

    Args:
        counts: The counts of the summary.
        threshold: The threshold of the run.
        texts: Whether all fields are texts.
        bucket_limit: The limit above which a bucket is oversized.

    >>> views = counts_of({"documents": 8, "kept": 7, "removed": 1}, 0.8, texts=True)
    >>> views[1].number, views[1].remark
    ('1', '12.5 %')
    """
    least = setting(threshold)
    repeated, same = counts.get("repeated_ids", 0), counts.get("repeated_identical", 0)
    remarks = {
        "read": "rows",
        "malformed": "rows skipped",
        "repeated_ids": (
            f"rows with the id of an earlier row: {count(same)} with its content, {count(repeated - same)} with another"
        ),
        "kept": share(counts.get("kept", 0), counts["documents"]),
        "removed": share(counts.get("removed", 0), counts["documents"]),
        "identical": "equal to a kept document" + " after normalization" * texts,
        "known": OLDER,
        "near": f"similarity of at least {least} to a kept document",
        "short": "shorter than one shingle; compared as a whole",
        "empty": f"without {'shingles' if texts else 'elements'}; always kept",
        "pairs": f"similarity of at least {least}; {counted(counts.get('candidates', 0), 'candidate')} compared",
        "clusters": "kept documents with duplicates",
        "oversized_buckets": (
            f"more than {counted(bucket_limit or 0, 'document')} each; only their pairs with a kept document are listed"
        ),
    }
    others = {name: "" for name in counts if name not in remarks and name not in HIDDEN}
    return [
        CountView(name, counts[name], remark * bool(counts[name]), name in PARTS, name not in NO_TILES)
        for name, remark in (remarks | others).items()
        if counts.get(name) or (name in counts and name not in OPTIONAL)
    ]


def lead(counts: Mapping[str, int], threshold: float) -> str:
    """The result in two sentences.

    >>> lead({"documents": 3, "kept": 3, "removed": 0}, 0.8)
    '3 of 3 documents are kept. No pair with a similarity of at least 0.80 was found.'
    """
    if not counts["documents"]:
        return "The input has no documents."
    stay = f"{count(counts['kept'])} of {counted(counts['documents'], 'document')} are kept."
    if not counts["removed"]:
        return f"{stay} No pair with a similarity of at least {setting(threshold)} was found."
    known = counts.get("known", 0)
    old = f", {count(known)} {OLDER}" if known else ""
    return (
        f"{stay} {count(counts['removed'])} ({share(counts['removed'], counts['documents'])}) are removed: "
        f"{count(counts['identical'])} are identical to a kept document, {count(counts['near'])} have an exact "
        f"similarity of at least {setting(threshold)} to one{old}."
    )


def outcome(counts: Mapping[str, int]) -> str:
    """The result in one line.

    >>> outcome({"documents": 8, "removed": 1, "clusters": 1})
    '1 of 8 documents removed (12.5 %), in 1 cluster'
    """
    removed, documents = counts["removed"], counts["documents"]
    clusters = counted(counts["clusters"], "cluster")
    return f"{count(removed)} of {counted(documents, 'document')} removed ({share(removed, documents)}), in {clusters}"


def summary_table(
    counts: Mapping[str, int],
    threshold: float,
    seconds: float,
    *,
    texts: bool,
    bucket_limit: int | None = None,
    size: int | None = None,
) -> TableView:
    """The counts of a run, the time and the speed; `size` is the number of bytes read, if known."""
    views = counts_of(counts, threshold, texts=texts, bucket_limit=bucket_limit)
    rows = [("  " * view.part + view.label, view.number, view.remark) for view in views]
    return counts_table([*rows, ("time", duration(seconds), speed(counts["documents"], seconds, size))])


def speed(documents: int, seconds: float, size: int | None = None) -> str:
    """Documents per second, and bytes if they are more than a megabyte.

    >>> speed(1000, 0.5, 2_000_000)
    '4.0 MB/s, 2,000 documents/s'
    """
    seconds = max(seconds, 1e-3)
    per_second = f"{count(round(documents / seconds))} documents/s"
    return f"{amount(round(size / seconds))}/s, {per_second}" if size and size > 1e6 else per_second
