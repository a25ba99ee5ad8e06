"""Evidence: the passages that two documents share.

`passages` finds the common passages of two texts, with their positions in both; `of_fields` does this for a field of
any type; `views` divides a passage into parts for display.
"""

from benzer.evidence.of_fields import field_evidence
from benzer.evidence.passages import Evidence, Passage, find_passages

__all__ = ["Evidence", "Passage", "field_evidence", "find_passages"]
