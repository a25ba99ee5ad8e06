"""Evidence: where two documents agree.

`passages` finds what two texts share, with its places in both; `of_fields` says it of a field of any type;
`views` cuts a passage into stretches to show; `html` draws them side by side.
"""

from benzer.evidence.of_fields import field_evidence
from benzer.evidence.passages import Evidence, Passage, find_passages

__all__ = ["Evidence", "Passage", "field_evidence", "find_passages"]
