"""`benzer tune FILE` looks at the documents: how alike they are, what to expect, and which way is cheaper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benzer import Bands
from tests.corpora import collection
from tests.doors.shell import answer, one_line, run
from tests.reference.text import Recipe
from tests.results import true_pairs


@pytest.fixture
def texts(folder: Path) -> dict[str, str]:
    """Different documents, as they lie in many.jsonl."""
    made = {text: name for name, text in collection(seed=31, count=150).items() if text.strip()}
    lines = (json.dumps({"id": name, "body": text}) for text, name in made.items())
    (folder / "many.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: text for text, name in made.items()}


def test_tune_plans_for_documents(texts: dict[str, str]) -> None:
    found = answer("tune", "many.jsonl", "--text", "body", "--threshold", "0.6", "--shingle", "word:2")
    plan = found["plan"]
    truth = true_pairs(texts, Recipe("word", 2), 0.6)
    alike = sum(value < 1 for value in truth.values())
    assert alike <= plan["predicted_pairs"] <= len(truth)
    assert plan["method"] in ("exact", "lsh")
    assert plan["bands"] == {"bands": found["bands"], "rows": found["rows"]}
    assert found["probability_at_threshold"] >= 0.95
    assert sum(one["pairs"] for one in found["similarities"][6:]) == pytest.approx(
        plan["predicted_pairs"], abs=5
    )


def test_tune_says_it_to_a_person(texts: dict[str, str]) -> None:
    shown = run("tune", "many.jsonl", "--text", "body", "--threshold", "0.6").stdout
    assert "method auto: " in shown
    assert "0.90 to 1.00" in shown
    assert "← threshold" in shown


def test_tune_weighs_bands_that_are_given(texts: dict[str, str]) -> None:
    arguments = ["tune", "many.jsonl", "--text", "body", "--bands", "20", "--rows", "3"]
    found = answer(*arguments)
    assert (found["bands"], found["rows"]) == (20, 3)
    assert found["probability_at_threshold"] == pytest.approx(Bands(20, 3).probability(0.8))
    assert "candidates with bands 20 x 3" in run(*arguments).stdout


@pytest.mark.parametrize("arguments, reason", [
    (["--text", "body"], "require INPUT"),
    (["--shingle", "word:2"], "require INPUT"),
    (["many.jsonl"], 'no column "text"'),
    (["nothing.jsonl"], "nothing.jsonl"),
    (["many.jsonl", "--documents", "many.jsonl"], "--documents and INPUT exclude each other"),
    (["--documents", "many.jsonl", "--text", "body", "--text", "id"], "one text column"),
])  # fmt: skip
def test_tune_refuses_what_does_not_go_together(
    texts: dict[str, str], arguments: list[str], reason: str
) -> None:
    assert reason in one_line(run("tune", *arguments, status=2))
