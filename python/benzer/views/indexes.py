"""Indexes of the service: their figures, their documents, and the outcome of an upload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

from benzer.bands import Bands
from benzer.fields import Schema
from benzer.views.charts import columns
from benzer.views.html import fragment
from benzer.views.matches import excerpt, is_exact
from benzer.views.recall import promise
from benzer.views.tables import TableView, facts_table
from benzer.wording import amount, count, counted, others, percentage, setting, short

JsonObject = Mapping[str, Any]
EXCERPT = 180
RULES = ("normalize", "case", "punctuation", "tokenizer", "shingle_hash", "hash_bytes", "weight")
"""Settings of a field that its rules name if they have a value."""


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


def figures_of(index: JsonObject) -> list[tuple[str, str]]:
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


def facts_of(index: JsonObject) -> TableView:
    """The most important facts of an index, as `Index.info` returns them with its location and, maybe, its buckets."""
    settings, documents = index["settings"], index["documents"]
    facts = [("index", index["index"]), ("documents", count(documents))]
    if index.get("bytes"):
        each = f", {amount(round(index['bytes'] / documents))} per document" if documents else ""
        facts.append(("stored", f"{amount(index['bytes'])}{each}"))
    facts += [("field", field_said(name, field, rules=True)) for name, field in settings["schema"].items()]
    values, seed = counted(settings["num_hashes"], "value"), settings["seed"]
    facts.append(("signature", f"{values}, {settings['minhash']}, seed {seed}"))
    if passages := settings.get("passages"):
        certain = counted(passages["size"] + passages["window"] - 1, "word")
        runs = (
            f"runs of {counted(passages['size'], 'word')}, at least 1 of {count(passages['window'])} stored"
        )
        facts.append(("passages", f"{runs}; found from {certain}"))
    bands, schema = Bands(settings["bands"], settings["rows"]), Schema.from_dict(settings["schema"])
    facts.append(("search", promise(bands, settings["threshold"], schema)))
    if "buckets" in index:
        sizes = dict(index["buckets"])
        facts.append(("buckets", buckets_said(sum(sizes.values()), max(sizes, default=0))))
    if "sqlite" in index:
        facts.append(("format", f"{index['format']}, SQLite {index['sqlite']}"))
    return facts_table([*facts, ("fingerprint", index["fingerprint"])])


def field_said(name: str, field: JsonObject, rules: bool = False) -> str:
    """A field of an index in a few words, on request with the rules by which it is read.

    >>> text = {"type": "text", "unit": "word", "shingle_size": 3, "case": "fold", "stop_words": []}
    >>> field_said("body", text), field_said("body", text, rules=True)
    ('body: text, 3 words', 'body: text, 3 words, case fold')
    """
    said = [f"{name}: {field['type']}"]
    if field["type"] == "text":
        unit = "character" if field["unit"] == "char" else "word"
        said.append(counted(field["shingle_size"], unit))
    said += [field["method"]] if field["type"] == "image" else []
    if rules:
        said += [f"{rule.replace('_', ' ')} {field[rule]}" for rule in RULES if field.get(rule)]
        said += [f"without {counted(len(words), 'stop word')}"] if (words := field.get("stop_words")) else []
        said += ["frequencies"] if field.get("frequencies") else []
    return ", ".join(said)


def list_html(indexes: Sequence[JsonObject], creates: bool) -> str:
    """All indexes as cards."""
    cards = [
        (
            index["name"],
            " · ".join(field_said(*field) for field in index["settings"]["schema"].items()),
            figures_of(index),
        )
        for index in indexes
    ]
    return fragment("index_list", cards=cards, creates=creates)


def index_html(index: JsonObject) -> str:
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
        said="" if buckets is None else buckets_said(buckets["buckets"], buckets["largest"]),
        chart=bucket_chart(buckets["histogram"]) if buckets and buckets["buckets"] else "",
    )


def buckets_said(buckets: int, largest: int) -> str:
    """The number of buckets and the size of the largest.

    >>> buckets_said(2000, 1)
    '2,000 buckets; the largest has 1 document.'
    """
    if not buckets:
        return "There are no buckets yet."
    return f"{counted(buckets, 'bucket')}; the largest has {counted(largest, 'document')}."


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


def document_of(values: JsonObject, schema: JsonObject) -> DocumentView:
    """A stored document, as the service sends it."""
    thumbnails = values.get("thumbnails") or {}
    fields = [(name, kind["type"], values["fields"].get(name)) for name, kind in schema.items()]
    texts = {name: content for name, kind, content in fields if kind != "image"}
    thumbnail = next(iter(thumbnails.values()), "")
    return DocumentView(
        values["id"], is_exact(values["id"]), excerpt(texts, EXCERPT), thumbnail, fields, thumbnails
    )


def documents_html(
    documents: Sequence[JsonObject], next: str | None, index: str, schema: JsonObject, writes: bool
) -> str:
    """Documents of an index as a list; `next` is where the next page begins."""
    views = [document_of(document, schema) for document in documents]
    return fragment("document_list", documents=views, next=next, index=index, writes=writes)


def uploaded_html(answer: JsonObject) -> str:
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
        more=others(total - len(malformed)) if total > len(malformed) else "",
    )
