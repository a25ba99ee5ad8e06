"""Makes the index file of this format version that later versions must read.

`python -m tests.golden.make_index`: run it once for each format version, and keep the file:
it is never made anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benzer.bands import Bands
from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index, IndexSettings

PLACES = [Path(__file__).with_name(f"index-format-{number}.benzer") for number in (1, 2, 3)]
"""One file for each format; the last is made by this version."""
ADDED, ADDED_LATER, SEEN = 1_700_000_000, 1_700_000_060, 1_700_000_120
SETTINGS = IndexSettings(
    Schema(
        title=Text(unit="char", shingle_size=4, weight=2.0), body=Text(stop_words=["the"]), tags=ValueSet()
    ),
    threshold=0.4,
    recall=0.99,
    bands=Bands(20, 2),
    seed=7,
)
FOX = "The quick brown fox jumps over the lazy dog near the river bank"
DOCUMENTS = {
    "fox": {"title": "A fox", "body": FOX, "tags": ["animal", 1]},
    "fox again": {"title": "A fox!", "body": FOX + " at dawn", "tags": [1, "animal"]},
    7: {"title": "One fox", "body": FOX.upper(), "tags": []},
    "7": {"title": "東京の狐", "body": "吾輩は猫である。名前はまだ無い。"},
    2**62: {"title": "Schrödinger’s cat", "body": "Neither here nor there, or both", "tags": ["animal"]},
    "empty": {"title": "", "body": None, "tags": []},
}


def make(place: Path) -> None:
    """An index with a run, a delta, and removed and replaced documents."""
    with Index.open(place, SETTINGS) as index:
        index.add(DOCUMENTS, seen_at=ADDED)
        index.add([("gone", DOCUMENTS["fox"]), ("old", DOCUMENTS["fox"])], seen_at=ADDED)
        index.compact()
        late = [("late", {"title": "A fox", "body": "late"}), ("old", {"title": "Quite another thing"})]
        index.add(late, seen_at=ADDED_LATER)
        index.remove(["gone"])
        index.touch(["fox"], seen_at=SEEN)


if __name__ == "__main__":
    if PLACES[-1].exists():
        sys.exit(f"{PLACES[-1]} is there already and is never made anew: a new format gets a file of its own")
    make(PLACES[-1])
