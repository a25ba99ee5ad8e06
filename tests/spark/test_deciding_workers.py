"""What a task decides does not depend on how rows come to it, and is what the local engine decides."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benzer import Bands, Image, MinHash, Options, Schema, Text
from benzer.clusters import Keep
from benzer.errors import InputError
from benzer.spark.deciding.copied import Before
from benzer.spark.deciding.gathering import whole_groups
from benzer.spark.deciding.judging import Judge
from benzer.spark.deciding.members import rank_of
from benzer.spark.deciding.parcels import Open, PackParcels
from benzer.spark.deciding.workers import WANTED, Compared, Reader, Tied, Whole
from tests.images import as_file, scene
from tests.spark.decided import Case, described, families

RULES = (
    "first",
    "last",
    "longest",
    "largest:score",
    "smallest:score",
    "priority:kind=books,web",
    "source:b,a",
)


def stream(
    documents: pa.Table, pairs: pa.Table, group: str, rows: int, seed: int = 0
) -> list[pa.RecordBatch]:
    """Documents and pairs in batches, sorted by group and in no other order."""
    both = pa.concat_tables([documents, pairs], promote_options="default")
    both = both.take(pa.array(np.random.default_rng(seed).permutation(both.num_rows)))
    return both.sort_by(group).combine_chunks().to_batches(max_chunksize=rows)


def sent(
    documents: pa.Table,
    pairs: pa.Table,
    rows: int = 1000,
    parts: int = 3,
    most: int = 1 << 25,
    seed: int = 0,
    **sizes: int,
) -> tuple[Open, list[pa.RecordBatch]]:
    """Documents and pairs in parcels, those of a part neighbours and in no other order; and what opens them."""
    rng = np.random.default_rng(seed)
    schemas = [large(table.schema) for table in (documents, pairs)]
    parcels = []
    for table, are_pairs, schema in zip((documents, pairs), (False, True), schemas, strict=True):
        mixed = table.take(pa.array(rng.permutation(table.num_rows))).combine_chunks()
        parcels.extend(PackParcels(parts, are_pairs, schema, **sizes)(mixed.to_batches(max_chunksize=rows)))
    both = pa.Table.from_batches(parcels)
    both = both.take(pa.array(rng.permutation(both.num_rows))).sort_by("part").combine_chunks()
    return Open(*schemas, most), both.to_batches(max_chunksize=rows)


def large(schema: pa.Schema) -> pa.Schema:
    kinds = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    return pa.schema(
        [
            (one.name, kinds.get(one.type, one.type) if one.name.startswith("field_") else one.type)
            for one in schema
        ]
    )


def wanted(case: Case, members: pa.Table) -> pa.Table:
    """What `Documents.wanted` gives for some members."""
    at = pc.index_in(members.column("number"), value_set=case.documents.column("id").combine_chunks())
    documents = case.documents.take(at)
    fields = {
        f"field_{k}": documents.column(name) for k, name in enumerate(case.found.settings.schema.fields)
    }
    return pa.table(
        {
            "block": members.column("block"), "number": documents.column("id"), "id": documents.column("id"),
            "place": documents.column("at"), "extra": case.extras.take(at),
            "source": pa.array(np.zeros(len(at), dtype=np.int32)), **fields,
        }
    )  # fmt: skip


def workers(case: Case) -> tuple[Reader, Judge]:
    settings = case.found.settings
    return Reader(settings.schema, settings.keep.rule == "longest"), Judge(settings.threshold, settings.keep)


def gathered(worker: Any, batches: list[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(list(worker(iter(batches))))


@pytest.mark.parametrize("keep", RULES[:-1])
@pytest.mark.parametrize(
    "rows, parts, most", [(1, 2, 1), (7, 5, 3000), (100_000, 1, 1 << 25), (50, 1000, 500)]
)
def test_whole_blocks_are_decided_as_in_a_local_run(keep: str, rows: int, parts: int, most: int) -> None:
    case = Case.of(families(1, 40), keep)
    assert len(case.found.decision.left)  # the second look has found some
    pairs, members = case.blocks()
    unpack, batches = sent(wanted(case, members), pairs, rows, parts, most, seed=rows)
    case.check_originals(gathered(Whole(*workers(case), unpack), batches))


@pytest.mark.parametrize("keep", ["first", "longest", "smallest:score"])
def test_cut_components_are_decided_in_rounds_as_whole_ones(keep: str) -> None:
    case = Case.of(families(1, 40), keep)
    pairs, members = case.blocks(1)  # none is whole
    reader, judge = workers(case)
    columns = (
        "number",
        "id",
        "place",
        "extra",
        "source",
        "length",
        "identity_a",
        "identity_b",
        "left",
        "right",
        "similarity",
    )
    unpack, batches = sent(wanted(case, members), pairs, 50, most=100)
    verified = gathered(Compared(reader, case.found.threshold, columns, unpack), batches)
    are_pairs = verified.column("left").is_valid()
    nodes, edges = verified.filter(pc.invert(are_pairs)), verified.filter(are_pairs).select(columns[-3:])
    component = dict(zip(case.ids.tolist(), component_of(case, edges), strict=True))
    parts = []
    for seed in range(100):
        documents = labelled(nodes.drop_columns(list(columns[-3:])), "number", component)
        found = gathered(
            Tied(judge, most=500),
            stream(documents, labelled(edges, "left", component), "component", 13, seed),
        )
        asked = found.filter(pc.equal(found.column("kind"), WANTED))
        parts.append(found.filter(pc.not_equal(found.column("kind"), WANTED)))
        if not asked.num_rows:
            break
        still = pc.unique(asked.column("component"))
        more = pa.table(
            {"block": asked.column("component"), "left": asked.column("left"), "right": asked.column("right")}
        )
        ends = pa.table(
            {
                "block": pa.concat_arrays([*more["block"].chunks] * 2),
                "number": pa.concat_arrays([*more["left"].chunks, *more["right"].chunks]),
            }
        )
        unpack, batches = sent(wanted(case, ends), more, 50)
        again = gathered(Compared(reader, -1.0, columns, unpack), batches)
        new = again.filter(again.column("left").is_valid()).select(columns[-3:])
        edges = of_components(pa.concat_tables([edges, new]), "left", component, still)
        nodes = of_components(nodes, "number", component, still)
    assert seed  # there was a second look
    case.check_originals(pa.concat_tables(parts))


def component_of(case: Case, edges: pa.Table) -> list[int]:
    from benzer._native import components

    at = {id: position for position, id in enumerate(case.ids.tolist())}
    left, right = (
        np.array([at[id] for id in edges.column(end).to_pylist()], dtype=np.uint32)
        for end in ("left", "right")
    )
    return components(len(case.ids), left, right).tolist()


def labelled(rows: pa.Table, end: str, component: dict[int, int]) -> pa.Table:
    return rows.append_column(
        "component", pa.array([component[id] for id in rows.column(end).to_pylist()], pa.int64())
    )


def of_components(rows: pa.Table, end: str, component: dict[int, int], still: pa.Array) -> pa.Table:
    return rows.filter(pa.array([component[id] in still.to_pylist() for id in rows.column(end).to_pylist()]))


@pytest.mark.parametrize(
    "minhash", [MinHash("kmins", 15, 9), MinHash("fast", 70, 2), MinHash("kmins", 40, 0, "linear")]
)
def test_contents_are_hashed_as_the_run_hashes_them(minhash: MinHash) -> None:
    case = Case.of(families(1, 3), options=Options(minhash=minhash, bands=Bands(3, 5)))
    _, members = case.blocks()
    read, _ = workers(case)[0].read(wanted(case, members))
    identity = dict(zip(case.ids.tolist(), case.identity.tolist(), strict=True))
    assert read.identity.tolist() == [identity[number] for number in read.numbers.tolist()]


def test_pictures_are_decided_by_their_own_similarity() -> None:
    pictures = []
    for seed in range(4):
        picture = scene(seed)
        for size in (0, 10, 20):
            patched = picture.copy()
            patched[20 : 20 + size, 30 : 30 + size] = 0
            pictures.append(as_file(patched, "PNG"))
        pictures.append(as_file(picture, "JPEG", quality=5))
    case = Case.of(
        described({"picture": pa.array(pictures, pa.binary())}, 1),
        schema=Schema(picture=Image()),
        options=Options(seed=3),
        threshold=0.5,
    )
    assert case.found.counts["near"]
    pairs, members = case.blocks()
    unpack, batches = sent(wanted(case, members), pairs, 3)
    case.check_originals(gathered(Whole(*workers(case), unpack), batches))


def test_texts_of_bytes_and_texts_shorter_than_a_shingle_are_compared_as_in_a_local_run() -> None:
    texts = [f"a b c d e f g h {at % 5}".encode() for at in range(30)] + [b"x", b"X", b"x y", b""]
    case = Case.of(
        described({"text": pa.array(texts, pa.binary())}, 4), schema=Schema(text=Text(shingle_size=3))
    )
    pairs, members = case.blocks()
    unpack, batches = sent(wanted(case, members), pairs)
    case.check_originals(gathered(Whole(*workers(case), unpack), batches))


def test_a_document_that_is_no_longer_there_is_an_error_and_no_shorter_answer() -> None:
    case = Case.of(families(1, 5))
    pairs, members = case.blocks()
    unpack, batches = sent(wanted(case, members).slice(1), pairs)
    with pytest.raises(
        InputError, match=r"1 documents of candidate pairs were not read again.*the input changed"
    ):
        gathered(Whole(*workers(case), unpack), batches)


@pytest.mark.parametrize("most", [1, 100, 1 << 25])
def test_a_block_of_which_no_document_is_there_is_an_error_and_no_shorter_answer(most: int) -> None:
    case = Case.of(families(1, 5))
    pairs, members = case.blocks()
    unpack, batches = sent(wanted(case, members).slice(0, 0), pairs, most=most)
    with pytest.raises(InputError, match=r"documents of candidate pairs were not read again"):
        gathered(Whole(*workers(case), unpack), batches)
    for block in pc.unique(pairs.column("block")):
        there = wanted(case, members)
        there = there.filter(pc.not_equal(there.column("block"), block))
        unpack, batches = sent(there, pairs, parts=1, most=most)
        with pytest.raises(InputError, match=r"documents of candidate pairs were not read again"):
            gathered(Whole(*workers(case), unpack), batches)


@pytest.mark.parametrize("keep", RULES)
def test_witnesses_before_a_copy_are_those_of_the_keep_order(keep: str) -> None:
    rng = random.Random(7)
    extra = {"priority": ['"web"', '"books"', None], "source": ["0", "1", "2"]}.get(
        keep.split(":")[0], ["1", "2", None]
    )
    kinds = {"number": pa.int64(), "place": pa.string(), "extra": pa.string(), "length": pa.int64()}
    drawn = [(at, rng.choice("abc"), rng.choice(extra), rng.randrange(3)) for at in range(120)]
    rows = pa.table(
        [
            pa.array(column, kind)
            for column, kind in zip(zip(*drawn, strict=True), kinds.values(), strict=True)
        ],
        list(kinds),
    )
    rank = rank_of(Keep.parse(keep), rows)
    copies, witnesses = rows.slice(0, 60), rows.slice(60)
    both = copies.rename_columns(["left", "place", "extra", "length"])
    for name, column in zip(("right", "of_place", "of_extra", "of_length"), witnesses.columns, strict=True):
        both = both.append_column(name, column)
    both = both.append_column("right_id", both["right"]).append_column("similarity", pa.array([0.5] * 60))
    for size in (1, 17, 60):
        found = gathered(Before(Keep.parse(keep)), both.combine_chunks().to_batches(max_chunksize=size))
        assert found.column("left").to_pylist() == np.flatnonzero(rank[60:] < rank[:60]).tolist()


@pytest.mark.parametrize("most", [0, 30, 100, 10_000])
@pytest.mark.parametrize("rows", [1, 2, 5, 100])
def test_groups_come_whole_however_batches_cut_them(rows: int, most: int) -> None:
    groups = pa.table({"block": pa.array([-3, -3, 0, 4, 4, 4, 4, 9, 10, 10], pa.int64())})
    tables = list(whole_groups(groups.to_batches(max_chunksize=rows), "block", most))
    assert pa.concat_tables(tables) == groups
    seen = [set(table.column("block").to_pylist()) for table in tables]
    assert sum(map(len, seen)) == len(set.union(*seen))
    assert (len(tables) > 1) == (most < groups.nbytes)


def test_no_rows_make_no_outcomes() -> None:
    case = Case.of(families(1, 1))
    assert list(Whole(*workers(case), Open(pa.schema([]), pa.schema([])))(iter([]))) == []


@given(
    blocks=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=60),
    parts=st.integers(1, 9),
    rows=st.integers(1, 70),
    most=st.integers(1, 4000),
    size=st.integers(0, 3000),
    sizes=st.fixed_dictionaries(dict.fromkeys(("waiting", "parcel", "given"), st.integers(1, 20_000))),
)
def test_parcels_hold_all_rows_and_keep_blocks_together(
    blocks: list[int], parts: int, rows: int, most: int, size: int, sizes: dict[str, int]
) -> None:
    documents = pa.table(
        {
            "block": pa.array(blocks, pa.int64()),
            "field_0": pa.array([f"{at}" * size for at in range(len(blocks))], pa.string()),
        }
    )
    pairs = pa.table(
        {
            "block": pa.array(blocks[::2] * 2, pa.int64()),
            "left": pa.array(range(len(blocks[::2]) * 2), pa.int64()),
        }
    )
    unpack, batches = sent(documents, pairs, rows, parts, most, seed=rows, **sizes)
    opened = list(unpack(iter(batches)))
    for table, at in ((documents, 0), (pairs, 1)):
        tables = [one[at] for one in opened]
        found = [row for one in tables for row in one.to_pylist()]
        assert sorted(map(repr, found)) == sorted(map(repr, table.to_pylist()))
    seen = [
        set(one.column("block").to_pylist()) | set(other.column("block").to_pylist()) for one, other in opened
    ]
    assert sum(map(len, seen)) == len(set(blocks))


def test_a_part_of_large_texts_is_divided_between_blocks() -> None:
    documents = pa.table({"block": pa.array([5, 7, 7, 1], pa.int64()), "field_0": pa.array(["x" * 1000] * 4)})
    pairs = pa.table({"block": pa.array([7, 5], pa.int64())})
    unpack, batches = sent(documents, pairs, parts=1, most=900)
    assert [one.column("block").to_pylist() for one, _ in unpack(iter(batches))] == [[1], [5], [7, 7]]
