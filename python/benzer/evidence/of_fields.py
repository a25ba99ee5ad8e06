"""Evidence for two contents of a field, by its type."""

from __future__ import annotations

from benzer.document import FieldValue
from benzer.evidence.passages import Evidence, find_passages, in_common
from benzer.fields import Text, ValueSet
from benzer.fields.base import Field
from benzer.fields.text import text_content


def field_evidence(field: Field, a: FieldValue, b: FieldValue) -> Evidence | None:
    """Return common passages of texts or shared elements of value sets; None for images and other field types.

    Args:
        field: The field type.
        a: The content of the first document.
        b: The content of the second document.

    >>> field_evidence(ValueSet(), ["red", "round"], ["red"]).shared
    ('red',)
    """
    if isinstance(field, Text):
        return find_passages(field, text_content(a), text_content(b))
    if not isinstance(field, ValueSet):
        return None
    counted = in_common(*field.sets([a, b]))
    return Evidence(
        (),
        coverage_a=counted["containment_a"],
        coverage_b=counted["containment_b"],
        **counted,
        unit="value",
        shared=tuple(field.shared(a, b)),
    )
