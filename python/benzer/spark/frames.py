"""The columns of the tables between stages.

All numbers are 64-bit integers of Spark (`bigint`); a band key is the 64-bit key with its bits read as signed.
"""

from __future__ import annotations

from typing import Any

DataFrame = Any
"""A `pyspark.sql.DataFrame`, of a classic session or of Spark Connect."""

NO_KEY = -1
"""The band key of a document without a key in a band: it shares no bucket."""

WHOLE, SHORT, EMPTY, MALFORMED = range(4)
"""The `state` of a document: at least one shingle, shorter than one, empty, or malformed."""

PAIR, REMOVED, KEPT, WITNESS = range(4)
"""The `kind` of a row of outcomes (see `OUTCOMES`)."""

DOCUMENTS = ("number", "id", "place", "extra", "source")
"""The columns of a document other than its contents, which are in `field_0`, `field_1` …

number: unique, the same in every run over the same rows. id: as given by the user (string or bigint; JSON if files
may mix both). place: the position in the input order (bigint or string). extra: the column that the keep rule uses, as
JSON (string); for the rule `source`, the place of its source in the rule. source: the number of the file (int), 0
without files. A row without a number, an id or a place is malformed.
"""

SKETCHES = (
    "number bigint, id {id}, place {place}, extra string, source int, length bigint, state int, reason string, "
    "content_a bigint, content_b bigint, identity_a bigint, identity_b bigint, keys binary"
)
"""One row per document. length: the length for the rule `longest`, null for other rules. reason: why it is malformed.
content: a 128-bit hash of the compared content, the same as in a local run; it can be forged. identity: a digest of the
content that cannot be forged, null if it is not needed. keys: the band keys, 8 bytes each, little-endian; null if it is
empty. Malformed rows have none of these."""

COPIES = (
    "number bigint, id {id}, place {place}, extra string, source int, length bigint, "
    "identity_a bigint, identity_b bigint, original bigint, original_id {id}, first_place {place}, first_id {id}"
)
"""One row per document that is identical to an earlier one in the keep order. original: the first of the identical
ones in the keep order. first: the first of them in the input."""

PAIRS = "left bigint, right bigint"
"""Candidates: numbers of originals, the lower first, each pair once."""

BLOCK_PAIRS = "block bigint, left bigint, right bigint"
"""Candidates with their block."""

MEMBERS = "block bigint, number bigint, whole boolean"
"""The documents of each block. whole: the block has all candidates of each of its documents, which are in no other
block."""

OUTCOMES = (
    "kind int, left bigint, right bigint, left_id {id}, right_id {id}, similarity double, "
    "component bigint, component_id {id}, identity_a bigint, identity_b bigint"
)
"""PAIR: two originals, verified at the threshold, the earlier one in the input first. REMOVED: `left` is removed as a
duplicate of `right`; the identity is that of `left`. KEPT: `left` is kept (`right` is itself). WITNESS: `left` is
removed, and `right` is another kept document, at least as similar as all before it: a copy of `left` after `right` is
removed as a duplicate of `right`. component: for the last three, the first document in the input of all that are linked
by verified pairs and equal contents."""
