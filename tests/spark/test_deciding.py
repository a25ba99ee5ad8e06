"""On Spark is decided what the local engine decides: who stays, for whom, how alike, and what hangs together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from benzer import Index, IndexSettings, Schema, Text, ValueSet
from benzer.spark.deciding import decide
from benzer.spark.documents import documents_of
from benzer.spark.frames import WITNESS
from benzer.spark.session import from_arrow, to_arrow
from benzer.spark.settings import SparkRun, Work
from tests.spark.decided import TAGS, Case, described, families, rows_of_kind
from tests.spark.made import Stages


@contextmanager
def setting(spark: Any, **settings: str) -> Iterator[None]:
    """Settings of Spark, with `__` for each dot."""
    names = {name.replace("__", "."): value for name, value in settings.items()}
    before = {name: spark.conf.get(name) for name in names}
    for name, value in names.items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        spark.conf.set(name, old)


def decided(
    spark: Any, case: Case, most: int = 1000, partitions: int | None = None, known: Any = None
) -> tuple[Any, ...]:
    """The outcomes of the candidates of a local run, the counts, and the stages."""
    settings = case.found.settings
    shuffled = np.random.default_rng(5).permutation(len(case.ids))
    df = from_arrow(spark, case.documents.take(pa.array(shuffled)))
    documents = documents_of(df, settings.schema, id="id", order_by="at", keep=settings.keep)
    pairs, members = (from_arrow(spark, table) for table in case.blocks(most))
    whole = case.blocks(most)[1].column("whole").to_pylist()
    blocked = SimpleNamespace(pairs=pairs, members=members, documents=len(whole), cut=not all(whole))
    run = SparkRun(
        spark, settings, None, Work(partitions=partitions, block_documents=most), documents.columns
    )
    stages = Stages(spark)
    found = decide(run, stages, documents, blocked, from_arrow(spark, case.copies()), known)
    return to_arrow(found.outcomes), found.counts, stages


def test_whole_blocks_and_copies_of_what_goes_are_decided_as_in_a_local_run(spark: Any) -> None:
    case = Case.of(families(1, 40), "last")
    assert len(case.found.decision.left)  # the second look has found some
    outcomes, counts, _ = decided(spark, case, partitions=3)
    steps = rows_of_kind(outcomes, WITNESS, "left_id", "right_id")
    gone = {(original, kept) for original, kept, _ in case.removed}
    assert set(steps).isdisjoint(gone)
    copies = dict(
        zip(case.copies().column("id").to_pylist(), case.copies().column("original").to_pylist(), strict=True)
    )
    went = {(copies[copy], kept) for copy, kept, _ in case.removed if copy in copies}
    assert went & set(steps)  # a copy went for another document than its original
    case.check(outcomes, counts)


def test_cut_blocks_are_decided_as_whole_ones_a_row_at_a_time_and_without_adaptive_execution(
    spark: Any,
) -> None:
    case = Case.of(families(1, 40), "largest:score")
    one_by_one = {"spark__sql__execution__arrow__maxRecordsPerBatch": "1"}
    with setting(spark, **one_by_one, spark__sql__adaptive__enabled="false"):
        outcomes, counts, stages = decided(spark, case, most=3, partitions=1)
    assert "round-2" in stages.timings  # there was a second look
    case.check(outcomes, counts)


def test_known_documents_stay_for_nobody_and_a_copy_that_is_not_known_is_decided_instead(spark: Any) -> None:
    documents = families(3, 40)
    alone = Case.of(documents, "longest")
    originals = sorted(set(alone.copies().column("original").to_pylist()))
    sets = dict(zip(alone.ids.tolist(), documents.column("tags").to_pylist(), strict=True))
    copy_of = dict(
        zip(*(alone.copies().column(name).to_pylist() for name in ("original", "id")), strict=True)
    )
    # Of every second group a copy has the id of the old document, so that it alone is not known.
    old = {copy_of[id] if at % 2 else 9000 + at: {"tags": sets[id]} for at, id in enumerate(originals[:12])}
    with Index.open("memory:", IndexSettings(schema=TAGS, threshold=0.6, recall=0.9)) as index:
        index.add(old)
        case = Case.of(documents, "longest", against=index, recall=0.9)
    numbers = from_arrow(spark, pa.table({"number": case.ids[case.found.known]}))
    replaced = set(case.ids[case.found.known].tolist()) & {id for id, copy in copy_of.items() if copy in old}
    assert replaced
    most = 5
    assert set(case.blocks(most)[1].column("whole").to_pylist()) == {True, False}
    outcomes, counts, _ = decided(spark, case, most, known=SimpleNamespace(numbers=numbers))
    case.check(outcomes, counts)


def test_documents_of_several_fields_some_missing_or_empty_are_decided_alike(spark: Any) -> None:
    words = [f"one two three four five six seven eight nine {at % 7} {at % 3} {at % 2}" for at in range(40)]
    texts = pa.array([None if at % 9 == 0 else "" if at % 8 == 0 else word for at, word in enumerate(words)])
    tags = pa.array([[at % 7, 1, 2, 3] if at % 5 else None for at in range(40)], pa.list_(pa.int64()))
    schema = Schema(text=Text(shingle_size=2, weight=2), tags=ValueSet())
    case = Case.of(
        described({"text": texts, "tags": tags}, 2), "priority:kind=books,web", schema=schema, threshold=0.7
    )
    assert case.found.counts["near"]
    outcomes, counts, _ = decided(spark, case, partitions=7)
    case.check(outcomes, counts)


def test_without_candidates_and_copies_there_are_no_outcomes(spark: Any) -> None:
    case = Case.of(described({"tags": pa.array([[1], [2], []], pa.list_(pa.int64()))}, 1))
    outcomes, counts, _ = decided(spark, case)
    assert (outcomes.num_rows, set(counts.values())) == (0, {0})
