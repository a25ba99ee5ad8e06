"""What workers make of batches does not depend on where batches, parts and blocks end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benzer import Document, Index, IndexSettings
from benzer.spark.matching import pairing, verifying
from benzer.spark.matching.pairing import QUERY_SIDE, STORED_SIDE, Gather, MatchKeys, PackKeys
from benzer.spark.matching.verifying import ASKS, IS_COPY, IS_HELD, Verify
from tests.spark.test_matching import families

SETTINGS = IndexSettings(threshold=0.4)
BLOCKS = pa.schema(
    {
        "block": pa.int64(), "kind": pa.int32(), "number": pa.int64(), "member": pa.int64(), "id": pa.string(),
        "field_0": pa.string(), "asked": pa.binary(), "old_id": pa.string(), "old_field_0": pa.binary(),
    }
)  # fmt: skip
HELD_ONES, ASKERS = families(80, 1), families(60, 2)


def cut(rows: list[dict[str, Any]], size: int, schema: Any = None) -> Iterator[Any]:
    """Rows as batches of so many."""
    table = pa.Table.from_pylist(rows, schema=schema)
    for start in range(0, len(rows), size):
        yield from table.slice(start, size).combine_chunks().to_batches()


def keys_of(documents: list[Document]) -> list[dict[str, Any]]:
    keys = SETTINGS.sketcher().keys(documents, 1)
    return [{"number": number, "keys": row.tobytes()} for number, row in enumerate(keys)]


def pairs_by(parts: int, size: int) -> list[tuple[int, int]]:
    """The pairs that meet in so many parts, from batches of so many rows; each as often as it comes."""
    packed: list[dict[str, Any]] = []
    for side, documents in ((QUERY_SIDE, ASKERS), (STORED_SIDE, HELD_ONES)):
        for batch in PackKeys(side, parts)(cut(keys_of(documents), size)):
            packed += batch.to_pylist()
    packed.sort(key=lambda row: (row["part"], row["side"]))
    return [
        (row["asked"], row["number"]) for batch in MatchKeys()(cut(packed, size)) for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("parts, size", [(1, 1000), (3, 7), (11, 1)])
def test_those_meet_that_share_a_key(monkeypatch: pytest.MonkeyPatch, parts: int, size: int) -> None:
    monkeypatch.setattr(pairing, "PACKED_TOGETHER", 50 * size)
    monkeypatch.setattr(pairing, "PAIRS_TOGETHER", 5)
    asked, held = (SETTINGS.sketcher().keys(ones, 1) for ones in (ASKERS, HELD_ONES))
    nothing = np.uint64(2**64 - 1)
    wanted = {
        (row, other)
        for row, own in enumerate(asked)
        for other, theirs in enumerate(held)
        if (set(own.tolist()) & set(theirs.tolist())) - {int(nothing)}
    }
    assert set(pairs_by(parts, size)) == wanted
    assert len(wanted) > 100


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_document_goes_to_a_block_once_with_all_who_ask_there(size: int) -> None:
    pairs = pairs_by(2, 100)
    rows = sorted((number, asked % 3, asked) for asked, number in pairs)
    given = [dict(zip(("number", "block", "asked"), row, strict=True)) for row in rows]
    gathered = [row for batch in Gather()(cut(given, size)) for row in batch.to_pylist()]
    found = [(row["number"], row["block"], np.frombuffer(row["asked"], "<i8").tolist()) for row in gathered]
    wanted: dict[tuple[int, int], list[int]] = {}
    for number, block, asked in dict.fromkeys(rows):
        wanted.setdefault((number, block), []).append(asked)
    assert found == [(*key, asked) for key, asked in wanted.items()]


def blocks_of(count: int) -> list[dict[str, Any]]:
    """The rows of so many blocks, in which all are compared with all; the last ask as copies of the first."""
    rows: list[dict[str, Any]] = []
    originals = list(range(len(ASKERS) - 10))
    for block in range(count):
        own = [number for number in originals if number % count == block]
        for number in own:
            asks = {"number": number, "member": number, "id": ASKERS[number].id}
            rows.append({"block": block, "kind": ASKS, **asks, "field_0": ASKERS[number].fields["text"]})
        for place, document in enumerate(HELD_ONES):
            content = str(document.fields["text"]).encode()
            held = {"number": place, "old_id": document.id, "old_field_0": content}
            rows.append({"block": block, "kind": IS_HELD, **held, "asked": np.array(own, "<i8").tobytes()})
        for place in range(10):
            if place % count == block:
                member = len(originals) + place
                copy = {"number": place, "member": member, "id": ASKERS[member].id}
                rows.append({"block": block, "kind": IS_COPY, **copy})
    return rows


@pytest.mark.parametrize("blocks, size, limit", [(1, 1000, 2), (3, 5, None), (4, 1, 1)])
def test_verified_matches_are_those_of_the_index(
    monkeypatch: pytest.MonkeyPatch, blocks: int, size: int, limit: int | None
) -> None:
    monkeypatch.setattr(verifying, "COMPARED_TOGETHER", 3 * size)
    monkeypatch.setattr(verifying, "HELD_MATCHES", 20)
    monkeypatch.setattr(verifying, "ANSWERED_TOGETHER", 7)
    worker = Verify(SETTINGS.schema, 0.3, limit, identified=True, fields=False)
    found: dict[int, list[tuple[str, float, int]]] = {}
    for batch in worker(cut(blocks_of(blocks), size, BLOCKS)):
        for row in batch.to_pylist():
            found.setdefault(row["number"], []).append((row["old_id"], row["similarity"], row["rank"]))
    with Index.open("memory:", IndexSettings(threshold=0.4)) as index:
        index.add(HELD_ONES)
        for number, document in enumerate(ASKERS):
            asks = ASKERS[number - 50] if number >= 50 else document  # a copy has the content of another
            question = index._sketcher.ask([asks])[0]
            others = [one for one in HELD_ONES if one.id != document.id]
            best = question.best(index._sketcher.encode(others), 0.3, limit)
            wanted = [(others[at].id, similarity, rank) for rank, (at, similarity, _) in enumerate(best, 1)]
            assert found.get(number, []) == wanted, number


def test_no_rows_make_no_rows() -> None:
    for worker in (
        PackKeys(QUERY_SIDE, 2),
        MatchKeys(),
        Gather(),
        Verify(SETTINGS.schema, 0.4, 3, identified=True, fields=True),
    ):
        assert list(worker([])) == []
