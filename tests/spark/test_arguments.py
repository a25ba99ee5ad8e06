"""What is asked for wrongly is refused before Spark is asked for anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import benzer
from benzer.errors import InputError, SettingsError
from benzer.spark import Work, find_duplicates

REFUSED: list[tuple[Mapping[str, Any], str]] = [
    (
        {"options": benzer.Options(format="csv")},
        "the option format is not supported for a DataFrame: use read_files",
    ),
    ({"options": 7}, "options must be Options, got 7"),
    ({"schema": {"text": "words"}}, "schema must be a Schema"),
    ({"recall": 1}, "recall must be at most 0.9999 on Spark, which has no exact join"),
    ({"threshold": 1.4}, "threshold must be in (0, 1], got 1.4"),
    ({"keep": "best"}, "keep must be first, last, longest"),
    ({"against": 7}, "against must be collections or their paths, got 7"),
]


@pytest.mark.parametrize(
    "query, message", REFUSED, ids=lambda one: " ".join(one) if isinstance(one, dict) else ""
)
def test_a_setting_that_makes_no_run_is_refused(query: Mapping[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as error:
        find_duplicates(None, **query)
    assert message in str(error.value)


def test_what_is_no_dataframe_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="needs a Spark DataFrame, got list: create one with"):
        find_duplicates([{"id": 1, "text": "one"}])


WRONG_WORK: list[Mapping[str, Any]] = [
    {"partitions": 0}, {"bands_per_pass": -1}, {"block_documents": 1}, {"block_pairs": 0}, {"driver_pairs": 1e6}
]  # fmt: skip


@pytest.mark.parametrize("query", WRONG_WORK, ids=str)
def test_work_that_cannot_be_cut_so_is_refused(query: Mapping[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"{next(iter(query))} must be a whole number of at least"):
        Work(**query)


def test_every_name_of_spark_is_there_and_documented() -> None:
    assert set(benzer.spark.__all__) == set(benzer.spark._MODULES) == set(dir(benzer.spark))
    assert [name for name in benzer.spark.__all__ if not getattr(benzer.spark, name).__doc__] == []
