"""A collection holds what an index would hold, and of an append all or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benzer import Document, Index, IndexSettings
from benzer.errors import (
    DuplicateIdError,
    MalformedRowError,
    SettingsError,
    SettingsMismatchError,
    StorageError,
    StoreFormatError,
)
from benzer.spark import collection
from benzer.spark.collection import read_collection, write_collection
from benzer.spark.matching import find_similar
from tests.spark.test_matching import answers, expected, families, frame

SETTINGS = IndexSettings(threshold=0.4)


class Killed(BaseException):
    """The driver dies."""


def killed(*_: Any) -> Any:
    raise Killed


def parts(path: Path) -> list[Path]:
    return sorted(one for one in (path / "appends").iterdir() if one.suffix == ".parquet")


def test_appended_documents_replace_those_of_their_ids_and_come_last(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "kept")
    first = families(40, 1)
    second = [*families(10, 2)[5:], *families(10, 3, "e")]
    write_collection(frame(spark, first), path, threshold=0.4)
    # Killed before the contents are written, and again before the last row: neither append is there.
    for step in ("contents_of", "finish"):
        with monkeypatch.context() as patch:
            patch.setattr(collection, step, killed)
            with pytest.raises(Killed):
                write_collection(frame(spark, second), path, mode="append")
        assert len(read_collection(spark, path)) == len(first)
    assert len(list((tmp_path / "kept" / "sketches").iterdir())) == 3
    held = write_collection(frame(spark, second, 2), path, mode="append")
    index = Index.open("memory:", SETTINGS)
    index.add(first)
    index.add(second)
    assert (len(held), held.settings, held.info()["fingerprint"]) == (
        len(index),
        SETTINGS,
        SETTINGS.fingerprint(),
    )
    assert [(one.documents, one.replaced) for one in held.appends] == [(40, 0), (15, 5)]
    queries = [*families(30, 4, "q"), *second[:3]]
    assert answers(find_similar(frame(spark, queries), held)) == expected(index, queries)


@pytest.fixture(scope="module")
def small(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of three documents."""
    path = tmp_path_factory.mktemp("collection") / "small"
    write_collection(frame(spark, families(3, 1), 1), str(path), threshold=0.4)
    return path


def test_other_settings_are_refused_with_both(spark: Any, small: Path) -> None:
    df = frame(spark, families(3, 1), 1)
    with pytest.raises(SettingsMismatchError, match=r"threshold is 0\.4, got 0\.7"):
        write_collection(df, str(small), threshold=0.7, mode="append")
    with pytest.raises(SettingsMismatchError, match="seed is 0, got 3"):
        write_collection(df, str(small), seed=3, mode="append")
    numbers = frame(spark, [Document(1, "a text")], 1)
    with pytest.raises(
        SettingsMismatchError, match=r"has ids of type string .*, the DataFrame ids of type bigint"
    ):
        write_collection(numbers, str(small), mode="append")


def test_what_cannot_be_kept_is_refused(spark: Any, small: Path) -> None:
    df = frame(spark, families(3, 1), 1)
    with pytest.raises(StorageError, match='already has a collection: add to it with mode="append"'):
        write_collection(df, str(small))
    with pytest.raises(SettingsError, match='mode must be "error" or "append", got \'overwrite\''):
        write_collection(df, str(small), mode="overwrite")  # type: ignore[arg-type]
    with pytest.raises(DuplicateIdError, match="d001"):
        write_collection(df.union(df.where("id = 'd001'")), str(small), mode="append")
    with pytest.raises(MalformedRowError):
        write_collection(df.selectExpr("nullif(id, 'd002') AS id", "text"), str(small), mode="append")
    assert len(read_collection(spark, str(small))) == 3


def test_what_is_no_collection_is_not_read(spark: Any, small: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    with pytest.raises(StorageError, match="nothing has no collection: create one with write_collection"):
        read_collection(spark, str(nothing))
    shutil.copytree(small, nothing)
    (part,) = parts(nothing)
    shutil.copy(part, part.with_name("part-of-another-writer.snappy.parquet"))
    with pytest.raises(StoreFormatError, match="has two concurrent appends"):
        read_collection(spark, str(nothing))
    for one in parts(nothing):
        one.unlink()
    with pytest.raises(StorageError, match="has no collection"):
        read_collection(spark, str(nothing))
