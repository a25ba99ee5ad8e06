"""Compares two documents: similarity, containment and common content."""

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
    """The comparison of one field of two documents.

    Attributes:
        similarity: Exact Jaccard similarity of the sets, or the field's own similarity; 1.0 if both are empty.
        estimate: Similarity estimated from signatures, with a standard error of about sqrt(J (1 - J) / num_hashes).
        containment_a: Share of a's shingles that b has.
        containment_b: Share of b's shingles that a has.
        shingles_a: Number of distinct shingles of a.
        shingles_b: Number of distinct shingles of b.
        shared: Shingles of both, in the order of a.
        evidence: Common passages with their positions, or common values; None for images or if not requested.
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
    """The comparison of two documents.

    Attributes:
        similarity: Exact similarity, the weighted mean of the fields that both documents have.
        estimate: Weighted mean of the estimates.
        fields: Comparison of each field that both documents have.

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
    """Compare two documents or texts exactly and by signatures.

    Args:
        a: A document or a text.
        b: A document or a text.
        schema: Fields and how they are read. Defaults to one text field.
        minhash: Signature for the estimate. Defaults to 128 values of the "fast" algorithm.
        evidence: Whether to find common passages: `benzer.evidence.Evidence` for each field.

    Returns:
        The similarity of the documents and of each field.

    Raises:
        InputError: A document does not fit the schema.

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
    """Return the weighted mean, clipped to the range of the values to avoid rounding errors.

    >>> mean([0.8, 0.8], [0.7, 0.9])
    0.8
    """
    total = together = 0.0
    for value, weight in zip(
        values, weights, strict=True
    ):  # `sum` rounds differently in newer versions of Python
        total += weight * value
        together += weight
    return min(max(total / together, min(values)), max(values))


def as_document(given: Document | str | bytes, id: str, schema: Schema) -> Document:
    """Convert a text to a document with the first field of the schema."""
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
