"""What do settings mean, in words? Sentences for people who did not choose them."""

from __future__ import annotations

from benzer.fields.base import Field
from benzer.index import IndexSettings

KINDS = {"word": "words", "char": "characters"}
METHODS = {
    "grid": "by the order of brightness in a grid: copies that were resized, recompressed or recoloured",
    "local": "by their visual words: crops and turned copies, too",
    "seed16": "by 16 x 16 grey values",
}


def in_words(settings: IndexSettings) -> list[str]:
    """Sentences that say what an index compares, and what it promises.

    >>> in_words(IndexSettings())
    ['Two documents count as near-duplicates from a similarity of 0.8.',
     'Of pairs that are just so similar, at least 95 % are found, of others more.',
     'The field “text” is compared as a text, by runs of 3 words.']
    """
    many = len(settings.schema.fields) > 1
    said = [
        f"Two documents count as near-duplicates from a similarity of {settings.threshold:g}.",
        f"Of pairs that are just so similar, at least {100 * settings.recall:g} % are found, of others more.",
    ]
    said += [
        f"The field “{name}” is compared {compared(field)}{weighed(field) if many else ''}."
        for name, field in settings.schema.fields.items()
    ]
    if settings.passages is not None:
        said.append(f"Common passages of {settings.passages.certain} words and more are found, too.")
    return said


def compared(field: Field) -> str:
    """How one field is compared.

    >>> from benzer.fields import ValueSet
    >>> compared(ValueSet())
    'as a set of values'
    """
    told = dict(field.to_dict())
    if field.kind == "text":
        size = told["shingle_size"]
        unit = KINDS[told["unit"]]
        runs = f"runs of {size} {unit}" if size > 1 else f"single {unit}"
        return f"as a text, by {runs}{', as often as they occur' if told.get('frequencies') else ''}"
    if field.kind == "image":
        return f"as a picture, {METHODS.get(told['method'], told['method'])}"
    return "as a set of values"


def weighed(field: Field) -> str:
    """How much a field counts beside others."""
    return f", with a weight of {field.weight:g}"
