"""A run over new documents knows of older ones what a local run knows by indexes of them."""

from __future__ import annotations

from typing import Any

import pytest

import benzer
import benzer.spark
from benzer import Bands, Document, Index, IndexSettings, Schema, Text
from benzer.clusters import Keep
from benzer.errors import SettingsError, SettingsMismatchError
from benzer.pipeline.promise import Promise
from benzer.results import Settings
from benzer.spark import copies, sketching
from benzer.spark.collection import collection_of, read_collection, write_collection
from benzer.spark.documents import documents_of
from benzer.spark.matching import KnownDocuments, check, known, names_of, opened
from benzer.spark.settings import SparkRun, Work
from benzer.spark.stages import StageTables
from tests.spark.test_matching import families, frame

THRESHOLD = 0.5
BANDS = Bands(20, 2)


def known_of(df: Any, against: Any, keep: str = "first", work: Work | None = None) -> KnownDocuments:
    """What a run with these bands would know."""
    documents = documents_of(df, Schema(), None, None, None, Keep.parse(keep), "stop")
    way = Promise(Schema(), THRESHOLD, 0.95, benzer.Options(bands=BANDS)).by("lsh")
    assert way is not None
    settings = Settings(
        THRESHOLD, 0.95, Schema(), way.sketcher.minhash, BANDS, Keep.parse(keep), 1000, "stop"
    )
    run = SparkRun(documents.spark, settings, way.sketcher, work or Work(), documents.columns)
    with StageTables.opened(run, documents) as stages:
        sketches = stages.keep("sketch", lambda: sketching.sketch(run, documents))
        counts = sketching.counted(run, stages, documents, sketches)
        copied = stages.keep("copies", lambda: copies.copies(run, sketches, counts.repeated))
        found = known(run, stages, documents, sketches, copied, against)
    assert found is not None
    return found


def test_all_matches_are_those_of_the_local_run(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    partitions, keep = 3, "last"
    new = families(60, 2)
    # One with the bands of the run, and one with its own; some of their ids are those of new documents.
    held = [
        families(40, 3),
        [Document(number, str(one.fields["text"])) for number, one in enumerate(families(40, 4))],
    ]
    bands = (BANDS, Bands(30, 2))
    indexes, collections = [], []
    for number, (documents, own) in enumerate(zip(held, bands, strict=True)):
        index = Index.open("memory:", IndexSettings(threshold=THRESHOLD, bands=own))
        index.add(documents)
        indexes.append(index)
        collections.append(
            collection_of(
                frame(spark, documents, partitions), threshold=THRESHOLD, bands=own, name=f"old{number}"
            )
        )
    found = known_of(frame(spark, new, partitions), collections, keep, Work(partitions=partitions))
    local = benzer.find_duplicates(
        new, threshold=THRESHOLD, options=benzer.Options(bands=BANDS), keep=keep, against=indexes
    )
    names = dict(zip(("memory: (1)", "memory: (2)"), ("old0", "old1"), strict=True))
    wanted = [
        (row["id"], str(row["old_id"]), names[row["index"]], row["similarity"])
        for row in local.to_arrow("old_matches").to_pylist()
    ]
    rows = sorted(found.matches.collect(), key=lambda row: (row["id"], row["collection"], row["rank"]))
    assert [(row["id"], row["old_id"], row["index"], row["similarity"]) for row in rows] == wanted
    best = {row["id"]: (row["old_id"], row["similarity"], row["index"]) for row in rows if row["best"]}
    removed = {
        gone: (str(one.kept_id), one.similarity, names[one.kept_in])
        for gone, one in local.removed.items()
        if one.kept_in is not None
    }
    assert best == removed
    assert {row["number"] for row in found.numbers.collect()} == {row["number"] for row in rows}
    assert len(removed) < len(new)
    found.numbers.explain(extended=True)
    assert "MapInArrow" not in capsys.readouterr().out, (
        "what is named often must not bring its whole past along"
    )


def test_collections_are_checked_before_anything_is_read(spark: Any) -> None:
    df = frame(spark, families(5, 3))
    chars = collection_of(df, schema=Schema(text=Text(unit="char")), name="chars")
    with pytest.raises(SettingsMismatchError, match=r'chars compares text .*"char".*, the run text .*"word"'):
        check([chars], Schema(), 0.8, 0.95)
    words = collection_of(df, threshold=0.8, name="words")
    with pytest.raises(SettingsError, match=r"the bands of words find a pair at 0\.3 with probability"):
        check([words], Schema(), 0.3, 0.95)
    with pytest.raises(SettingsError, match="against must be collections or their paths, got 7"):
        opened(df, [7])
    assert opened(df, None) == ()


def test_namesakes_are_numbered(spark: Any) -> None:
    assert names_of(["a/old/", "b", "a/old"]) == ("a/old (1)", "b", "a/old (3)")
    assert names_of("a/old") == ("a/old",)


def test_day_by_day_is_as_a_local_run_against_an_index(spark: Any, tmp_path: Any) -> None:
    days = [families(40, 11, "x"), families(40, 12, "y")]
    path = str(tmp_path / "kept")
    index = Index.open("memory:", IndexSettings(threshold=THRESHOLD, bands=BANDS))
    for number, day in enumerate(days):
        df = frame(spark, day, 1 + number)
        if number:
            local = benzer.find_duplicates(
                day, threshold=THRESHOLD, options=benzer.Options(bands=BANDS), against=index
            )
            found = benzer.spark.find_duplicates(
                df, threshold=THRESHOLD, options=benzer.Options(bands=BANDS), against=path
            )
            df = found.kept().persist()  # what is appended is read several times
            day = [one for one in day if one.id in set(local.kept)]
            assert sorted(row["id"] for row in df.collect()) == sorted(local.kept)
            assert found.counts["known"] == local.counts["known"] > 0
        index.add(day)
        write_collection(df, path, threshold=THRESHOLD, bands=BANDS, mode="append")
    assert len(read_collection(spark, path)) == len(index)
