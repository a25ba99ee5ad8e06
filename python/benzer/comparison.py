"""How alike are two documents, and in what?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benzer.corpus import content_of, describe_documents
from benzer.document import Document, FieldValue
from benzer.evidence import Evidence, field_evidence
from benzer.fields import Schema
from benzer.fields.base import Field, has_own_similarity
from benzer.minhash import MinHash
from benzer.sketcher import check_fields


@dataclass(frozen=True)
class FieldComparison:
    """One field of two documents.

    similarity: the exact Jaccard similarity of their sets, or what the field takes for it; 1.0 where both are
        empty.
    estimate: what their signatures say, off by about sqrt(J (1 - J) / num_hashes).
    containment_a, containment_b: the share of a's (b's) shingles that the other has.
    shingles_a, shingles_b: distinct shingles.
    shared: the shingles of both, in the order of a.
    evidence: the passages that both share, with their places, or the values; only where it was asked for, and
        None for images.
    """

    similarity: float
    estimate: float
    containment_a: float
    containment_b: float
    shingles_a: int
    shingles_b: int
    shared: list[str]
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Comparison:
    """Two documents: the weighted mean over the fields that both hold, and each of those fields.

    >>> found = compare("to be or not to be", "to be or not to bee")
    >>> found.similarity, found.fields["text"].shingles_a
    (0.6, 4)
    """

    similarity: float
    estimate: float
    fields: dict[str, FieldComparison]


def compare(
    a: Document | str | bytes,
    b: Document | str | bytes,
    schema: Schema | None = None,
    minhash: MinHash | None = None,
    *,
    evidence: bool = False,
) -> Comparison:
    """Compare two documents (or texts), exactly and by signatures; shows what they share.

    Args:
        schema: the fields and how they are read; one text field by default.
        minhash: how the estimate is made; 128 values of the fast algorithm by default.
        evidence: whether to say where they agree: `benzer.evidence.Evidence` for each field.

    >>> found = compare("the quick brown fox jumps", "the quick brown fox sleeps")
    >>> found.similarity, found.fields["text"].shared
    (0.5, ['the quick brown', 'quick brown fox'])
    >>> found = compare("the quick brown fox jumps", "And the quick brown fox sleeps", evidence=True)
    >>> found.fields["text"].evidence.passages
    (Passage(a=(0, 19), b=(4, 23), tokens=4, shared=4, differences=()),)
    """
    schema, minhash = schema or Schema(), minhash or MinHash()
    left, right = as_document(a, "a", schema), as_document(b, "b", schema)
    left, right = describe_documents(schema, [left, right], threads=1)
    compared = {}
    for name, field in schema.fields.items():
        one, other = content_of(left, name), content_of(right, name)
        if one is not None and other is not None:
            compared[name] = compare_field(field, one, other, minhash, evidence)
    counted = [name for name, one in compared.items() if one.shingles_a or one.shingles_b]
    if not counted:
        alike = float(is_empty(left, schema) and is_empty(right, schema))
        return Comparison(alike, alike, compared)
    weights = [schema.fields[name].weight for name in counted]
    return Comparison(
        mean([compared[name].similarity for name in counted], weights),
        mean([compared[name].estimate for name in counted], weights),
        compared,
    )


def is_empty(document: Document, schema: Schema) -> bool:
    """Whether no field of a document has an element."""
    contents = ((field, content_of(document, name)) for name, field in schema.fields.items())
    return all(len(field.sets([content])[1]) == 0 for field, content in contents)


def mean(values: list[float], weights: list[float]) -> float:
    """The weighted mean, kept within the range of the values: rounding must not push 0.8 and 0.8 below 0.8.

    >>> mean([0.8, 0.8], [0.7, 0.9])
    0.8
    """
    total = together = 0.0
    for value, weight in zip(values, weights, strict=True):  # `sum` of newer Pythons rounds in another way
        total += weight * value
        together += weight
    return min(max(total / together, min(values)), max(values))


def as_document(given: Document | str | bytes, id: str, schema: Schema) -> Document:
    """A text stands for a document of the schema's first field."""
    if isinstance(given, Document):
        check_fields(given, schema)
        return given
    return Document(id, {next(iter(schema.fields)): given})


def compare_field(
    field: Field, a: FieldValue, b: FieldValue, minhash: MinHash, evidence: bool = False
) -> FieldComparison:
    """Compare the sets of two contents."""
    offsets, hashes = field.sets([a, b])
    left, right = hashes[: offsets[1]], hashes[offsets[1] :]
    common = len(np.intersect1d(left, right, assume_unique=True))
    union = len(left) + len(right) - common
    signatures = minhash.signatures(offsets, hashes, threads=1, hashed=True)
    similarity = common / union if union else 1.0
    if has_own_similarity(field) and union:
        similarity = float(field.compare(field.encode(a), [field.encode(b)])[0])
    return FieldComparison(
        similarity=similarity,
        estimate=float(minhash.estimate(signatures[0], signatures[1])),
        containment_a=common / len(left) if len(left) else 1.0,
        containment_b=common / len(right) if len(right) else 1.0,
        shingles_a=len(left),
        shingles_b=len(right),
        shared=field.shared(a, b),
        evidence=field_evidence(field, a, b) if evidence else None,
    )
