"""Presets: settings for four kinds of documents, based on labelled data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benzer.errors import SettingsError
from benzer.fields import Schema, Text


@dataclass(frozen=True)
class Preset:
    """Settings for one kind of document.

    Attributes:
        text: How the text is read.
        threshold: Minimum similarity of near-duplicates.
        recall: Minimum probability of finding a pair at the threshold.
        why: The reason, in a sentence.
        evidence: Measurements on labelled sets; docs/quality.md describes how they were made.

    >>> from benzer import find_duplicates
    >>> texts = {"a": "The quick brown fox jumps over it.", "b": "The qu1ck brown fox jumps ovcr it."}
    >>> find_duplicates(texts, **preset("ocr").arguments()).removed
    {'b': Removal(kept_id='a', similarity=0.5)}
    """

    name: str
    text: Text
    threshold: float
    recall: float
    why: str
    evidence: str

    @property
    def schema(self) -> Schema:
        """Return a schema with one field "text", read by this preset."""
        return Schema(text=self.text)

    def arguments(self) -> dict[str, Any]:
        """Return arguments for `find_duplicates`, as in `find_duplicates(texts, **preset("web").arguments())`."""
        return {"schema": self.schema, "threshold": self.threshold, "recall": self.recall}


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        item.name: item
        for item in (
            Preset(
                "web",
                Text(),
                0.8,
                0.95,
                "Pages of a site share menus and phrases, so only nearly identical pages are duplicates.",
                "articles2500 F1 1.000, django_docs ARI 0.854, licenses ARI 0.557.",
            ),
            Preset(
                "record",
                Text(unit="char", shingle_size=3),
                0.48,
                0.95,
                "One changed word in ten changes most shingles of words, but few shingles of three characters.",
                "dblp_acm F1 0.921, cora F1 0.818, bible_kjv_asv F1 0.775, abt_buy F1 0.015.",
            ),
            Preset(
                "code",
                Text(shingle_size=7),
                0.66,
                0.95,
                "All files of a project share keywords and idioms; only versions of a file share long shingles.",
                "django_code ARI 0.806.",
            ),
            Preset(
                "ocr",
                Text(unit="char", shingle_size=5),
                0.36,
                0.95,
                "A misprint changes all shingles of words around it, but only five of many shingles of characters.",
                "noisy_news ARI 0.955.",
            ),
        )
    }
)
"""The presets by name."""


def preset(name: str) -> Preset:
    """Return a preset by its name.

    Args:
        name: "web", "record", "code" or "ocr".

    Returns:
        The settings for this kind of document.

    Raises:
        SettingsError: There is no such preset.

    >>> preset("web").threshold
    0.8
    >>> preset("books")
    Traceback (most recent call last):
    benzer.errors.SettingsError: there is no preset "books": choose one of web, record, code, ocr
    """
    if name not in PRESETS:
        raise SettingsError(f'there is no preset "{name}": choose one of {", ".join(PRESETS)}')
    return PRESETS[name]
