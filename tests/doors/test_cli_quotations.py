"""Quotations by the command line, and the same answer from every home of an index."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benzer.index import Index, IndexSettings
from tests.doors.shell import FOX, answer, one_line, rows, run
from tests.redis_server import shared_server

PIECE = "jumps over the lazy dog and then it sleeps in the sun"
ESSAY = f"I once read that a fox {PIECE} while others work"


@pytest.fixture
def quoting(folder: Path) -> str:
    run("index", "quoting.benzer", "docs.jsonl", "--passages")
    return "quoting.benzer"


def test_what_contains_a_text_is_found(quoting: str) -> None:
    found = answer("search", quoting, "--containing", PIECE)
    assert [(match["id"], match["containment"]) for match in found["matches"]] == [
        ("fox", 1.0), ("fox-again", 1.0), ("fox-loud", 1.0),
    ]  # fmt: skip
    assert found["compared"] == found["candidates"] == 3
    table = run("search", quoting, "--containing", PIECE).stdout.splitlines()
    assert table[0].split() == ["containment", "similarity", "id", "text"]
    assert table[1].split()[:3] == ["1.000", "0.555", "fox"]


def test_what_stands_in_a_document_of_the_index_is_found(quoting: str, folder: Path) -> None:
    (folder / "more.jsonl").write_text(json.dumps({"id": "piece", "text": PIECE}) + "\n")
    run("index", quoting, "more.jsonl")
    found = answer("search", quoting, "--contained", "--id", "fox", "--threshold", "1")
    assert [match["id"] for match in found["matches"]] == ["fox-loud", "piece"]


def test_passages_stand_where_the_answer_says(quoting: str) -> None:
    found = answer("search", quoting, "--passages", ESSAY)
    assert {match["id"] for match in found["matches"]} == {"fox", "fox-again", "fox-loud"}
    for match in found["matches"]:
        start, end = match["passages"][0]["a"]
        assert ESSAY[start:end].endswith(PIECE)
    start, end = found["matches"][0]["passages"][0]["b"]
    assert PIECE in FOX[start:end]
    words = len(PIECE.split()) + 1  # "fox" before it stands there too
    assert found["covered"]["text"]["share"] == words / len(ESSAY.split())
    said = run("search", quoting, "--passages", ESSAY).stdout
    assert f"{100 * words / len(ESSAY.split()):.1f} % of the text appears in the index, in 1 place" in said
    assert "fox jumps over the lazy dog and" in said


def test_what_is_not_there_is_said_so(quoting: str) -> None:
    nothing = "quite another thing of which nobody has ever spoken before"
    assert (
        "0.0 % of the text appears in the index, in 0 places"
        in run("search", quoting, "--passages", nothing).stdout
    )
    result = run("search", quoting, "--containing", nothing)
    assert "no document reaches the threshold" in result.stderr


def test_a_text_too_short_for_certainty_is_told(quoting: str) -> None:
    result = run("search", quoting, "--containing", "in the sun")
    assert "the text of the query has fewer than 7 words: matches may be missing" in result.stderr
    assert answer("search", quoting, "--containing", "in the sun")["short"] == ["text"]
    assert "fewer than" not in run("search", quoting, "--containing", PIECE).stderr
    assert "fewer than" not in run("search", quoting, "--contained", "in the sun").stderr


@pytest.mark.parametrize("arguments, reason", [
    (["--passages", "--containing"], "--containing and --passages exclude each other"),
    (["--candidates", "--contained"], "--candidates and --contained exclude each other"),
    (["--passages", "--threshold", "0.5"], "--threshold does not apply to --passages"),
    (["--containing", "--threshold", "0"], r"threshold must be in (0, 1], got 0.0"),
])  # fmt: skip
def test_questions_that_make_no_sense_are_refused(quoting: str, arguments: list[str], reason: str) -> None:
    result = run("search", quoting, "a text", *arguments, status=2)
    assert reason in one_line(result)


def test_an_index_without_passages_says_so(index: str) -> None:
    reason = "this index has no passages: create it again with IndexSettings(passages=True) or benzer index --passages"
    for question in ("--containing", "--contained", "--passages"):
        assert reason in one_line(run("search", index, question, "a text", status=2))
    refused = run("index", index, "docs.jsonl", "--passages", status=2)
    assert "docs.benzer was created without --passages: create another index with --passages" in one_line(
        refused
    )


def test_info_says_what_passages_promise(quoting: str) -> None:
    assert "runs of 4 words, at least 1 of 4 stored; found from 7 words" in run("info", quoting).stdout


def test_every_home_gives_the_same_answer(tmp_path: Path) -> None:
    choice = random.Random(7)
    common = [f"c{number}" for number in range(50)]
    texts = {
        number: " ".join(
            [
                *common[(start := choice.randrange(40)) : start + choice.randrange(25)],
                *(f"o{choice.random()}" for _ in "ab"),
            ]
        )
        for number in range(80)
    }
    answers = []
    for location in ("memory:", str(tmp_path / "index.benzer"), f"{shared_server().url}?prefix={tmp_path}"):
        with Index.open(location, IndexSettings(passages=True)) as index:
            index.add(texts, batch_size=17)
            index.commit()
            index.remove([3, 4])
            asked = " ".join(common)
            answers.append(
                (
                    list(index.find_containing(asked, threshold=0.1, limit=None)),
                    list(index.find_contained(asked, threshold=0.5, limit=None)),
                    index.find_passages(asked, limit=None).to_dict(),
                )
            )
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0][1]) > 20


# benzer contained


def test_documents_that_stand_in_others_are_listed(folder: Path) -> None:
    lines = [json.dumps({"id": "piece", "text": PIECE}), json.dumps({"id": "again", "text": PIECE + "!"})]
    (folder / "pieces.jsonl").write_text("\n".join(lines) + "\n")
    found = answer("contained", "docs.jsonl", "pieces.jsonl", "--output", "pairs.jsonl", "--threshold", "0.9")
    assert found["counts"]["copies"] == 2  # fox-loud of fox, again of piece
    assert rows(folder / "pairs.jsonl") == [
        {"contained_id": "fox", "containing_id": "fox-again", "containment": 17 / 18},
        {"contained_id": "fox-again", "containing_id": "fox", "containment": 17 / 18},
        {"contained_id": "piece", "containing_id": "fox", "containment": 1.0},
        {"contained_id": "piece", "containing_id": "fox-again", "containment": 1.0},
    ]
    run("contained", "docs.jsonl", "pieces.jsonl", "--output", "pairs.jsonl", "--replace", "--copies")
    everything = {(row["contained_id"], row["containing_id"]) for row in rows(folder / "pairs.jsonl")}
    assert everything >= {
        ("again", "piece"),
        ("again", "fox-loud"),
        ("fox", "fox-loud"),
        ("fox-again", "fox-loud"),
    }
    assert found["pairs"][0] == {"contained_id": "piece", "containing_id": "fox", "containment": 1.0}
    said = run("contained", "docs.jsonl", "pieces.jsonl").stdout
    assert "all pairs, found by an exact join" in said
    assert "1.000  piece" in said


def test_malformed_rows_are_set_aside(folder: Path) -> None:
    result = run("contained", "broken.jsonl", "--on-error", "skip", status=1)
    assert "1 malformed row skipped" in result.stderr


@pytest.mark.parametrize("arguments, reason", [
    (["--output", "docs.jsonl"], "docs.jsonl exists: choose another --output"),
    (["--output", "docs.jsonl", "--replace"], "would replace the input docs.jsonl"),
    (["--output", "pairs.txt"], "use a file name that ends in .jsonl or .parquet"),
    (["--text", "text", "--values", "stars"], "containment requires a schema with one field, got 2 (text, stars)"),
])  # fmt: skip
def test_what_cannot_be_answered_is_refused(folder: Path, arguments: list[str], reason: str) -> None:
    assert reason in one_line(run("contained", "docs.jsonl", *arguments, status=2))
