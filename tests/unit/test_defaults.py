"""The defaults of threshold, recall, seed and ids are the same in Python, CLI, REST, client and Spark."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benzer
from benzer.cli import main
from benzer.fields import Image, Schema, Text, ValueSet
from benzer.fields.schema import DEFAULT_RECALL, DEFAULT_THRESHOLD
from benzer.index import IndexSettings
from benzer.service.indexes.making import NewIndex, settings_of
from benzer.service.jobs.running import JobRequest, arguments
from benzer.service.jobs.wire import UploadOptions
from tests.doors.shell import run

SCHEMAS = {
    "text": (Schema(), [], DEFAULT_THRESHOLD),
    "values": (Schema(tags=ValueSet()), ["--values", "tags"], DEFAULT_THRESHOLD),
    "grid": (Schema(image=Image()), ["--images", "grid"], 0.3),
    "local": (Schema(image=Image(method="local")), ["--images", "local"], 0.5),
    "seed16": (Schema(image=Image(method="seed16")), ["--images", "seed16"], 0.4),
}
ROWS = {"text": "one two three four", "tags": ["a", "b"], "image": np.zeros((16, 16, 3), np.uint8)}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_threshold_of_a_schema_is_the_same_everywhere(kind: str) -> None:
    schema, _, threshold = SCHEMAS[kind]
    (field,) = schema.fields
    row = {"id": "a", field: ROWS[field]}
    assert benzer.find_duplicates([row], schema=schema).threshold == threshold
    assert IndexSettings(schema).threshold == threshold
    asked = NewIndex.model_validate({"name": "a", "fields": schema.to_dict()})
    assert settings_of(asked).threshold == threshold
    assert arguments(JobRequest(schema=schema), None, [])["threshold"] == threshold


@pytest.mark.parametrize("kind", ["text", "values"])
def test_the_command_line_uses_it(kind: str, tmp_path: Path) -> None:
    _, options, threshold = SCHEMAS[kind]
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "a", "text": "one two", "tags": ["a"]}))
    done = run("dedupe", str(tmp_path / "rows.jsonl"), "--output", str(tmp_path / "out"), *options, "--json")
    assert json.loads(done.stdout)["settings"]["threshold"] == threshold


def test_the_command_line_uses_that_of_images(tmp_path: Path) -> None:
    from PIL import Image as Pillow

    (tmp_path / "photos").mkdir()
    Pillow.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / "photos/a.png")
    for method in ("grid", "local", "seed16"):
        done = run(
            "dedupe",
            str(tmp_path / "photos"),
            "--images",
            method,
            "--output",
            str(tmp_path / method),
            "--json",
        )
        found = benzer.find_duplicates(tmp_path / "photos", schema=Schema(image=Image(method=method)))
        assert json.loads(done.stdout)["settings"]["threshold"] == found.threshold == SCHEMAS[method][2]


def test_images_with_a_text_use_that_of_texts() -> None:
    assert Schema(image=Image(), text=Text()).default_threshold == DEFAULT_THRESHOLD


def test_a_run_against_an_index_uses_its_threshold_and_recall() -> None:
    with benzer.Index.open("memory:", IndexSettings(threshold=0.6, recall=0.9)) as old:
        found = benzer.find_duplicates(["a text"], against=old)
    assert (found.threshold, found.recall) == (0.6, 0.9)


def option_of(command: str, name: str) -> Any:
    command_of: Any = main
    (option,) = (one for one in command_of.get_command(None, command).params if one.name == name)
    return option.default


def test_recall_seed_and_ids_are_the_same_everywhere() -> None:
    from benzer.spark.flow import find_duplicates as on_spark

    assert benzer.find_duplicates(["a text"]).recall == IndexSettings().recall == DEFAULT_RECALL
    assert arguments(JobRequest(), None, [])["recall"] == DEFAULT_RECALL
    assert settings_of(NewIndex(name="a")).recall == DEFAULT_RECALL
    assert option_of("dedupe", "recall") == option_of("index", "recall") == DEFAULT_RECALL
    assert (
        option_of("dedupe", "seed")
        == option_of("index", "seed")
        == benzer.Options().seed
        == NewIndex(name="a").seed
    )
    for name in ("on_error", "on_duplicate_id"):
        expected = getattr(benzer.Options(), name)
        assert (
            option_of("dedupe", name)
            == option_of("index", name)
            == getattr(UploadOptions(), name)
            == expected
        )
    assert option_of("dedupe", "id_scope") == benzer.Options().id_scope
    for function in (benzer.find_duplicates, benzer.dedupe, on_spark):
        parameters = inspect.signature(function).parameters
        assert [parameters[name].default for name in ("threshold", "recall", "id", "keep")] == [
            None,
            None,
            None,
            "first",
        ]


def test_shingles_are_the_same_everywhere() -> None:
    assert (
        settings_of(NewIndex(name="a")).schema
        == IndexSettings().schema
        == arguments(JobRequest(), None, [])["schema"]
        == Schema()
    )
    assert option_of("dedupe", "shingle") == option_of("index", "shingle") == "word:3"
