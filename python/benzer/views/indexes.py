"""Indexes of the service: their figures, their documents, and the outcome of an upload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

from benzer.views.charts import columns
from benzer.views.html import fragment
from benzer.views.matches import excerpt, is_exact
from benzer.wording import amount, count, counted, percentage, setting, short

Told = Mapping[str, Any]
EXCERPT = 180


@dataclass(frozen=True)
class DocumentView:
    """A stored document: its id, the beginning of its content, its fields, and the addresses of its thumbnails.

    In `fields` the content of an image is None.
    """

    id: str | int
    exact: bool
    excerpt: str
    thumbnail: str
    fields: Sequence[tuple[str, str, Any]]
    thumbnails: Mapping[str, str]


def figures_of(index: Told) -> list[tuple[str, str]]:
    """The figures of an index by name, as the service sends them.

    >>> figures_of({"documents": 3, "removed": 0, "bytes": 5300, "settings": {"threshold": 0.8, "recall": 0.95}})
    [('documents', '3'), ('stored', '5.3 kB'), ('threshold', '0.80'), ('recall', '95 %')]
    """
    settings = index["settings"]
    figures = [
        ("documents", count(index["documents"])),
        ("removed, space not yet reused", count(index["removed"]) if index["removed"] else ""),
        ("stored", amount(index["bytes"]) if index.get("bytes") is not None else ""),
        ("threshold", setting(settings["threshold"])),
        ("recall", percentage(settings["recall"])),
    ]
    return [(name, value) for name, value in figures if value]


def field_said(name: str, field: Told) -> str:
    """A field of an index in a few words.

    >>> field_said("body", {"type": "text", "unit": "word", "shingle_size": 3})
    'body: text, 3 words'
    """
    if field["type"] == "text":
        unit = "character" if field["unit"] == "char" else "word"
        return f"{name}: text, {counted(field['shingle_size'], unit)}"
    return f"{name}: image, {field['method']}" if field["type"] == "image" else f"{name}: {field['type']}"


def list_html(indexes: Sequence[Told], creates: bool) -> str:
    """All indexes as cards."""
    cards = [
        (
            one["name"],
            " · ".join(field_said(*field) for field in one["settings"]["schema"].items()),
            figures_of(one),
        )
        for one in indexes
    ]
    return fragment("index_list", cards=cards, creates=creates)


def index_html(index: Told) -> str:
    """The figures of an index, and its buckets if they were counted."""
    documents = counted(index["documents"], "document")
    sure = "its document" if index["documents"] == 1 else f"all its {documents}"
    buckets = index["buckets"]
    return fragment(
        "index_figures",
        figures=figures_of(index),
        documents=documents,
        sure=sure,
        buckets=buckets,
        said="" if buckets is None else buckets_said(buckets),
        chart=bucket_chart(buckets["histogram"]) if buckets and buckets["buckets"] else "",
    )


def buckets_said(buckets: Told) -> str:
    """The number of buckets and the size of the largest."""
    if not buckets["buckets"]:
        return "There are no buckets yet."
    return f"{counted(buckets['buckets'], 'bucket')}; the largest holds {counted(buckets['largest'], 'document')}."


def bucket_chart(histogram: Sequence[Sequence[int]]) -> str:
    """The number of buckets of each size, grouped by powers of two."""
    bins: dict[int, int] = {}
    for size, number in histogram:
        power = ceil(log2(size))
        bins[power] = bins.get(power, 0) + number
    bars = [
        (
            count(2**power) if power < 2 else f"{count(2 ** (power - 1) + 1)}–{short(2**power)}",
            short(2**power),
            number,
        )
        for power, number in sorted(bins.items())
    ]
    return columns(bars, "maximum documents in a bucket", "Number of buckets by number of documents")


def document_of(told: Told, schema: Told) -> DocumentView:
    """A stored document, as the service sends it."""
    thumbnails = told.get("thumbnails") or {}
    fields = [(name, kind["type"], told["fields"].get(name)) for name, kind in schema.items()]
    texts = {name: content for name, kind, content in fields if kind != "image"}
    thumbnail = next(iter(thumbnails.values()), "")
    return DocumentView(
        told["id"], is_exact(told["id"]), excerpt(texts, EXCERPT), thumbnail, fields, thumbnails
    )


def documents_html(
    documents: Sequence[Told], next: str | None, index: str, schema: Told, writes: bool
) -> str:
    """Documents of an index as a list; `next` is where the next page begins."""
    views = [document_of(one, schema) for one in documents]
    return fragment("document_list", documents=views, next=next, index=index, writes=writes)


def uploaded_html(answer: Told) -> str:
    """The outcome of an upload, with the lines that were skipped."""
    malformed, total = answer.get("malformed", []), answer.get("malformed_count", 0)
    skipped = f"; {counted(total, 'line')} skipped" if total else ""
    said = (
        f"{counted(answer['read'], 'document')} read, {count(answer['new'])} new; "
        f"the index now has {count(answer['documents'])}{skipped}"
    )
    return fragment(
        "uploaded",
        said=said,
        malformed=malformed,
        skipped=counted(total, "skipped line"),
        more=f"and {count(total - len(malformed))} more" if total > len(malformed) else "",
    )
