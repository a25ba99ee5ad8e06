"""Which columns have the tables that go from stage to stage?

All numbers are 64-bit integers of Spark (`bigint`); a band key is the 64-bit key with its bits read as signed.
"""

from __future__ import annotations

from typing import Any

DataFrame = Any
"""A `pyspark.sql.DataFrame`, of a classic session or of Spark Connect."""

NO_KEY = -1
"""The band key of a document that has none in that band: it shares no bucket."""

WHOLE, SHORT, EMPTY, MALFORMED = range(4)
"""The `state` of a document: of a shingle at least, shorter than one, without content, or not readable."""

PAIR, REMOVED, KEPT, WITNESS = range(4)
"""The `kind` of a row of outcomes (see `OUTCOMES`)."""

DOCUMENTS = ("number", "id", "place", "extra", "source")
"""What is known of a document beside its contents, which stand in `field_0`, `field_1` …

number: its own, the same in every run over the same rows. id: as the user gave it (string or bigint; JSON where files
may mix both). place: where it stands in the order of the input (bigint or string). extra: the column that a rule of
keeping asks for, as JSON (string); for the rule `source`, the place of its source in the rule. source: the number of
the file (int), 0 where there are none. A row without a number, an id or a place is malformed.
"""

SKETCHES = (
    "number bigint, id {id}, place {place}, extra string, source int, length bigint, state int, reason string, "
    "content_a bigint, content_b bigint, identity_a bigint, identity_b bigint, keys binary"
)
"""One row a document. length: what the rule `longest` counts, null for other rules. reason: why it is malformed.
content: a 128-bit hash of the content as it is compared, the same as in a local run; it can be forged. identity: a
digest of the content that cannot be forged, null where nobody needs it. keys: the band keys, 8 bytes each, least byte
first; null where it is empty. What is malformed has none of these."""

COPIES = (
    "number bigint, id {id}, place {place}, extra string, source int, length bigint, "
    "identity_a bigint, identity_b bigint, original bigint, original_id {id}, first_place {place}, first_id {id}"
)
"""One row a document that is identical to one before it in the keep order. original: the first of the identical ones in
the keep order. first: the first of them in the input."""

PAIRS = "left bigint, right bigint"
"""Candidates: numbers of originals, the lower first, each pair once."""

BLOCK_PAIRS = "block bigint, left bigint, right bigint"
"""Candidates with the block in which they are verified."""

MEMBERS = "block bigint, number bigint, whole boolean"
"""Which documents a block needs, each once a block. whole: a block that holds all candidates of each of its documents;
the document is in no other block."""

OUTCOMES = (
    "kind int, left bigint, right bigint, left_id {id}, right_id {id}, similarity double, "
    "component bigint, component_id {id}, identity_a bigint, identity_b bigint"
)
"""PAIR: two originals, verified at the threshold, the one earlier in the input first. REMOVED: `left` goes for `right`;
the identity is that of `left`. KEPT: `left` stays (`right` is itself). WITNESS: `left` goes, and `right` is another
document that stays, less alike than none before it: a copy of `left` that comes after `right` goes for it.
component: of the last three, the one that stands first in the input among all that verified pairs and equal contents
tie together."""
