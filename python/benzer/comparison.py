"""Compares two documents: similarity, containment and common content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benzer.contents import contents_of, similarities
from benzer.corpus import content_of, describe_documents
from benzer.document import Document, FieldValue
from benzer.evidence import Evidence, field_evidence
from benzer.fields import Schema
from benzer.fields.base import Field, Sets
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
    given = as_document(a, "a", schema), as_document(b, "b", schema)
    documents = describe_documents(schema, given, threads=1)
    columns = [
        [encoded(field, content_of(document, name)) for document in documents]
        for name, field in schema.fields.items()
    ]
    contents = contents_of(schema, columns)
    left, right = np.array([0], np.uint32), np.array([1], np.uint32)
    overlaps = contents.overlaps(contents, left, right)
    kept = dict(enumerate(columns))
    similarity = similarities(schema, overlaps, left, right, kept, kept)[0].tolist()
    estimates = {number: estimated(minhash, contents.sets(number)) for number in kept}
    estimate = overlaps.similarities(schema.weights, estimates)[0].tolist()
    fields = {}
    for number, (name, field) in enumerate(schema.fields.items()):
        item, other = (content_of(document, name) for document in documents)
        if item is None or other is None:
            continue
        shared, *sizes = (
            int(counts[0, number]) for counts in (overlaps.shared, overlaps.left_sizes, overlaps.right_sizes)
        )
        fields[name] = FieldComparison(
            similarity=similarity[1 + number],
            estimate=estimate[1 + number],
            containment_a=shared / sizes[0] if sizes[0] else 1.0,
            containment_b=shared / sizes[1] if sizes[1] else 1.0,
            shingles_a=sizes[0],
            shingles_b=sizes[1],
            shared=field.shared(item, other),
            evidence=field_evidence(field, item, other) if evidence else None,
        )
    return Comparison(similarity[0], estimate[0], fields)


def encoded(field: Field, content: FieldValue) -> bytes | None:
    """Return the encoded content of a field; None for a missing one."""
    return None if content is None else field.encode(content)


def estimated(minhash: MinHash, sets: Sets) -> NDArray[np.float64]:
    """Return the similarity of two sets, estimated from their signatures (float64, 1)."""
    item, other = minhash.signatures(*sets, threads=1, hashed=True)
    return np.array([minhash.estimate(item, other)], dtype=np.float64)


def as_document(given: Document | str | bytes, id: str, schema: Schema) -> Document:
    """Convert a text to a document with the first field of the schema."""
    if isinstance(given, Document):
        check_fields(given, schema)
        return given
    return Document(id, {next(iter(schema.fields)): given})
