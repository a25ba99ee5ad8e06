"""The settings of an index in sentences, and settings as a list of names and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benzer.fields.base import Field
from benzer.index import IndexSettings
from benzer.wording import decimal, percentage, without_passwords

KINDS = {"word": "words", "char": "characters"}
METHODS = {
    "grid": "by the brightness order of a grid, which detects resized, recompressed and recoloured copies",
    "local": "by visual words, which also detect cropped and rotated copies",
    "seed16": "by 16 x 16 grey values",
}


def in_words(settings: IndexSettings) -> list[str]:
    """Sentences about what an index compares and guarantees.

    >>> in_words(IndexSettings())
    ['Documents are near-duplicates if their similarity is at least 0.8.',
     'At least 95 % of the pairs at this similarity are found, and more of those above it.',
     'The field “text” is compared as a text, by shingles of 3 words.']
    """
    many = len(settings.schema.fields) > 1
    said = [
        f"Documents are near-duplicates if their similarity is at least {decimal(settings.threshold)}.",
        (
            f"At least {percentage(settings.recall)} of the pairs at this similarity are found, "
            "and more of those above it."
        ),
    ]
    said += [
        f"The field “{name}” is compared {compared(field)}{weighed(field) if many else ''}."
        for name, field in settings.schema.fields.items()
    ]
    if settings.passages is not None:
        said.append(f"Shared passages of at least {settings.passages.certain} words are also found.")
    return said


def compared(field: Field) -> str:
    """The comparison of one field, as part of a sentence.

    >>> from benzer.fields import ValueSet
    >>> compared(ValueSet())
    'as a set of values'
    """
    options = dict(field.to_dict())
    if field.kind == "text":
        size = options["shingle_size"]
        unit = KINDS[options["unit"]]
        runs = f"shingles of {size} {unit}" if size > 1 else f"single {unit}"
        return f"as a text, by {runs}{', counting repetitions' if options.get('frequencies') else ''}"
    if field.kind == "image":
        return f"as an image, {METHODS.get(options['method'], options['method'])}"
    return "as a set of values"


def weighed(field: Field) -> str:
    """The weight of a field, as part of a sentence."""
    return f", with a weight of {decimal(field.weight)}"


def flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Settings with their values as text; nested settings have the path of names.

    >>> list(flat({"threshold": 0.8, "schema": {"text": {"type": "text", "stop_words": []}}}))
    [('threshold', '0.8'), ('schema text type', 'text'), ('schema text stop_words', 'none')]
    """
    for name, value in settings.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{path} ")
        elif isinstance(value, (list, tuple)):
            yield path, without_passwords(", ".join(map(str, value))) or "none"
        else:
            yield path, "none" if value is None else without_passwords(str(value))
