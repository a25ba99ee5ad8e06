"""Documents of several fields, of texts, sets and images, go through every command; each field has its say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doors.shell import answer, one_line, rows, run

BOOKS: list[dict[str, Any]] = [
    {"id": "emma", "title": "emma a novel in three volumes", "tags": ["novel", "1815", 3], "year": 1815},
    {"id": "emma-2", "title": "Emma: a novel in three volumes", "tags": ["novel", 3, "1816"], "year": 1816},
    {"id": "lady", "title": "the lady of the lake a poem", "tags": ["poem", "1810"], "year": 1810},
    {"id": "none", "title": None, "tags": None, "year": 0},
]
TITLES_AND_TAGS = ["--text", "title", "--values", "tags"]


@pytest.fixture
def books(folder: Path) -> str:
    (folder / "books.jsonl").write_text("".join(json.dumps(book) + "\n" for book in BOOKS))
    return "books.jsonl"


@pytest.fixture
def library(books: str) -> str:
    run("index", "books.benzer", books, *TITLES_AND_TAGS, "--weight", "title=2", "--threshold", "0.5")
    return "books.benzer"


# dedupe


def test_sets_are_compared_as_they_are(folder: Path, books: str) -> None:
    run("dedupe", books, "--values", "tags", "--threshold", "0.5", "--output", "clean")
    (pair,) = rows(folder / "clean" / "pairs.jsonl")
    assert (pair["left_id"], pair["right_id"], pair["similarity"]) == ("emma", "emma-2", 2 / 4)


def test_the_weight_of_a_field_counts(folder: Path, books: str) -> None:
    for weight, similarity in (("1", (1 + 2 / 4) / 2), ("3", (3 + 2 / 4) / 4)):
        output = f"clean-{weight}"
        run("dedupe", books, *TITLES_AND_TAGS, "--weight", f"title={weight}", "--threshold", "0.5",
            "--output", output)  # fmt: skip
        (pair,) = rows(folder / output / "pairs.jsonl")
        assert pair["similarity"] == pytest.approx(similarity)


def test_sets_stand_as_json_in_a_table(folder: Path) -> None:
    (folder / "sets.csv").write_text('id,labels\n1,"[""a"", 1]"\n2,"[1, ""a""]"\n3,"[""1"", ""a""]"\n')
    counts = answer("dedupe", "sets.csv", "--values", "tags=labels", "--output", "clean")["counts"]
    assert (counts["kept"], counts["identical"]) == (2, 1)


@pytest.mark.parametrize("arguments, reason", [
    (["--values", "title"], 'line 1: column "title" is not a list of strings or integers'),
    (["--values", "labels"], 'no column "labels"'),
    (["--values", "tags", "--text", "tags"], "2 fields are named tags"),
    (["--text", "=title"], "use COLUMN or FIELD=COLUMN"),
    (["--values", "tags", "--weight", "title=2"], "no such field; use one of: tags"),
    (["--values", "tags", "--weight", "tags"], "is not FIELD=NUMBER with each field once"),
    (["--values", "tags", "--weight", "tags=0"], "weight must be > 0"),
    (["--values", "tags", "--shingle", "char:3"], "--shingle applies to texts only"),
    (["--values", "tags", "--images", "grid"], 'no column "image"'),
])  # fmt: skip
def test_fields_that_cannot_be_are_refused_in_one_line(
    folder: Path, books: str, arguments: list[str], reason: str
) -> None:
    assert reason in one_line(run("dedupe", books, *arguments, "--output", "clean", status=2))
    assert not (folder / "clean").exists()


# index


def test_an_index_takes_fields_of_other_columns(folder: Path, library: str) -> None:
    more = {"id": "emma-3", "name": BOOKS[0]["title"], "labels": BOOKS[0]["tags"]}
    (folder / "more.jsonl").write_text(json.dumps(more) + "\n")
    added = answer("index", library, "more.jsonl", "--text", "title=name", "--values", "tags=labels")
    assert (added["new"], added["documents"]) == (1, 5)
    match = answer("search", library, "--id", "emma-3")["matches"][0]
    assert (match["id"], match["similarity"]) == ("emma", 1.0)


def test_the_only_field_of_an_index_takes_any_column(folder: Path, books: str) -> None:
    run("index", "tags.benzer", books, "--values", "tags")
    (folder / "more.jsonl").write_text(json.dumps({"id": "new", "labels": ["1815", "novel", 3]}) + "\n")
    run("index", "tags.benzer", "more.jsonl", "--values", "labels")
    assert answer("search", "tags.benzer", "--id", "new")["matches"][0]["id"] == "emma"


@pytest.mark.parametrize("arguments, reason", [
    (["--values", "labels"], "has no values field labels, only title (text), tags (values)"),
    (["--values", "title"], "has no values field title"),
    (["--images", "grid"], "has no image field image"),
    (["--weight", "title=3"], "was created with --weight title=2.0, got title=3.0"),
    (["--weight", "name=3"], "no such field"),
    (["--shingle", "word:4"], "was created with --shingle word:3, got word:4"),
    (["--case", "keep"], "was created with --case fold, got keep"),
])  # fmt: skip
def test_an_index_refuses_other_fields_than_its_own(
    books: str, library: str, arguments: list[str], reason: str
) -> None:
    assert reason in one_line(run("index", library, books, *arguments, status=2))
    assert answer("info", library)["documents"] == len(BOOKS)


def test_an_index_takes_its_own_settings_again(books: str, library: str) -> None:
    settings = ["--weight", "title=2", "--shingle", "word:3", "--threshold", "0.5", "--hash-bytes", "8"]
    assert answer("index", library, books, *TITLES_AND_TAGS, *settings)["new"] == 0


def test_repeated_ids_in_a_file_are_numbered_or_refused(folder: Path) -> None:
    (folder / "twice.jsonl").write_text(
        '{"id": 1, "tags": ["a"]}\n{"id": 2, "tags": []}\n{"id": 1, "tags": []}\n'
    )
    command = ["index", "tags.benzer", "twice.jsonl", "--values", "tags"]
    error = one_line(run(*command, "--on-duplicate-id", "stop", status=2))
    assert "the id 1 occurs in twice.jsonl row 1 and twice.jsonl row 3" in error
    assert not list(folder.glob("tags.benzer*"))
    lines = run(*command).stdout.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        ["read", "3", "documents"], ["repeated", "ids", "1"], ["new", "3"]
    ]  # fmt: skip


def test_documents_without_an_id_are_named_alike_by_every_command(folder: Path) -> None:
    (folder / "sets.jsonl").write_text('{"text": "a", "tags": ["a"]}\n\n{"text": "a", "tags": ["a"]}\n')
    names = ["sets.jsonl:1", "sets.jsonl:3"]
    for kind, column in (("--values", "tags"), ("--text", "text")):
        run("dedupe", "sets.jsonl", kind, column, "--output", column)
        (pair,) = rows(folder / column / "pairs.jsonl")
        run("index", f"{column}.benzer", "sets.jsonl", kind, column)
        (match,) = answer("search", f"{column}.benzer", "--id", names[0])["matches"]
        assert [pair["left_id"], pair["right_id"]] == names
        assert match["id"] == names[1]


def test_malformed_sets_are_set_aside_by_an_index(folder: Path) -> None:
    (folder / "sets.jsonl").write_text(
        '{"id": 1, "tags": ["a"]}\n{"id": 2, "tags": "a"}\n{"id": 3, "tags": []}\n'
    )
    result = run("index", "s.benzer", "sets.jsonl", "--values", "tags", "--on-error", "skip", status=1)
    assert 'sets.jsonl line 2: column "tags" is not a list' in result.stderr
    assert answer("info", "s.benzer")["documents"] == 2


# search


@pytest.mark.parametrize("question", ["id", "file", "stdin"])
def test_search_shows_the_part_of_each_field(folder: Path, library: str, question: str) -> None:
    asked = {"title": BOOKS[0]["title"], "tags": BOOKS[0]["tags"], "id": "emma", "year": 1}
    (folder / "emma.json").write_text(json.dumps(asked))
    arguments = {"id": ["--id", "emma"], "file": ["--json-document", "emma.json"],
                 "stdin": ["--json-document", "-"]}[question]  # fmt: skip
    (match,) = answer("search", library, *arguments, stdin=json.dumps(asked))["matches"]
    assert match["id"] == "emma-2"
    assert match["fields"] == {"title": 1.0, "tags": 0.5}
    assert match["similarity"] == pytest.approx((2 * 1.0 + 0.5) / 3)
    shown = run("search", library, *arguments, stdin=json.dumps(asked))
    heading, row = shown.stdout.splitlines()
    assert heading.split() == ["similarity", "title", "tags", "id", "text"]
    assert row.split()[:4] == ["0.833", "1.000", "0.500", "emma-2"]
    assert "| novel, 3" in row
    assert ("ignored, not a field of the index: year" in shown.stderr) == (question != "id")


def test_a_field_that_is_not_asked_for_takes_no_part(library: str) -> None:
    asked = '{"tags": ["poem", "1810"], "title": null}'
    (match,) = answer("search", library, "--json-document", "-", stdin=asked)["matches"]
    assert (match["id"], match["similarity"], match["fields"]) == ("lady", 1.0, {"tags": 1.0})
    row = run("search", library, "--json-document", "-", stdin=asked).stdout.splitlines()[1]
    assert row.split()[:3] == ["1.000", "1.000", "lady"]


def test_candidates_are_listed_by_the_buckets_they_share(library: str) -> None:
    bands = answer("info", library)["settings"]["bands"]
    asked = json.dumps({"title": BOOKS[0]["title"], "tags": BOOKS[0]["tags"]})
    found = answer("search", library, "--json-document", "-", "--candidates", stdin=asked)["candidates"]
    assert [one["id"] for one in found] == ["emma", "emma-2"]
    assert found[0]["shared_bands"] == 2 * bands
    assert bands <= found[1]["shared_bands"] < 2 * bands
    shown = run("search", library, "--json-document", "-", "--candidates", stdin=asked).stdout.splitlines()
    assert shown[0].split() == ["shared", "bands", "id", "text"]
    assert shown[1].split()[:4] == [str(2 * bands), "of", str(2 * bands), "emma"]
    assert len(answer("search", library, "--id", "emma", "--candidates", "--limit", "1")["candidates"]) == 1


def test_without_a_shared_bucket_there_is_no_candidate(library: str) -> None:
    result = run("search", library, "--candidates", "--json-document", "-", stdin='{"tags": ["unheard of"]}')
    assert result.stdout == ""
    assert "shares a bucket" in result.stderr


@pytest.mark.parametrize("query, reason", [
    ("{", "stdin is not JSON"),
    ("[1]", "stdin is not a JSON object"),
    ('{"name": "emma"}', "none of the fields of the index: title, tags"),
    ('{"title": 5}', "title is 5: use a text"),
    ('{"tags": "novel"}', 'tags is "novel": use a list of strings or integers'),
    ('{"tags": {"a": 1}}', ": use a list"),
    ('{"tags": [true]}', ": use a list"),
    ("[" * 200_000, "stdin is not JSON"),
    ('{"tags": ' + "[" * 10_000 + "]" * 10_000 + "}", "stdin is not JSON"),
    ('{"tags": [' + "9" * 5_000 + "]}", "stdin is not JSON"),
])  # fmt: skip
def test_a_json_document_that_cannot_be_asked_for(library: str, query: str, reason: str) -> None:
    assert reason in one_line(run("search", library, "--json-document", "-", stdin=query, status=2))


@pytest.mark.parametrize("arguments, reason", [
    (["emma"], '{"title": ..., "tags": ...}: use --json-document'),
    (["--file", "a.txt"], "use --json-document"),
    (["--id", "emma", "--candidates", "--threshold", "0.5"], "are not compared"),
    (["--id", "emma", "--json-document", "-"], "give one of TEXT"),
    (["--json-document", "no.json"], "no.json"),
])  # fmt: skip
def test_a_question_that_does_not_fit_the_index(library: str, arguments: list[str], reason: str) -> None:
    assert reason in one_line(run("search", library, *arguments, status=2))


# compare and info


def test_compare_shows_each_field(books: str) -> None:
    found = answer("compare", "--from", books, *TITLES_AND_TAGS, "emma", "emma-2")
    assert {name: field["similarity"] for name, field in found["fields"].items()} == {
        "title": 1.0,
        "tags": 0.5,
    }
    assert found["fields"]["tags"]["shared"] == ["novel", "3"]
    shown = run("compare", "--from", books, *TITLES_AND_TAGS, "emma", "emma-2").stdout
    assert (
        "\ntags: 67 % of A appears in B, 67 % of B appears in A\nshared shingles, e.g.:\n  novel\n  3\n"
        in shown
    )


def test_compare_shows_the_whole_of_documents_that_share_no_field(books: str) -> None:
    arguments = ["compare", "--from", books, *TITLES_AND_TAGS, "emma", "none"]
    assert answer(*arguments)["similarity"] == 0
    heading, row = run(*arguments).stdout.splitlines()
    assert heading.split()[:2] == ["similarity", "estimate"]
    assert row.split() == ["0.000", "0.000", "all", "fields"]


def test_info_names_fields_and_counts_sets(books: str, library: str) -> None:
    found = answer("info", books, "--values", "tags")
    assert (found["documents"], found["short"], found["empty"]) == (4, 0, 1)
    shown = run("info", library).stdout
    assert "title: text, 3 words" in shown
    assert "tags: values, weight 1.0" in shown


# How texts are read


def test_frequencies_count_repeats(folder: Path) -> None:
    texts = [("a", "one two three one two three one two three"), ("b", "one two three one two three")]
    (folder / "texts.jsonl").write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in texts))
    arguments = ["compare", "--texts", texts[0][1], texts[1][1]]
    assert answer(*arguments)["similarity"] == 1.0
    # Of a: 123 three times, 231 and 312 twice; of b: 123 twice, the others once. 4 of 7 in common.
    assert answer(*arguments, "--frequencies")["similarity"] == pytest.approx(4 / 7)
    counts = answer("dedupe", "texts.jsonl", "--frequencies", "--output", "clean")["counts"]
    assert counts["kept"] == 2


def test_stop_words_come_by_language_or_from_a_file(folder: Path) -> None:
    (folder / "own.txt").write_text("the\nof a\n")
    arguments = ["compare", "--texts", "the lady of the lake sings", "lady lake sings"]
    assert answer(*arguments)["similarity"] < 1
    for given in ("own.txt", "./own.txt", "en", "english"):
        assert answer(*arguments, "--stop-words", given)["similarity"] == 1.0


def test_an_index_remembers_its_stop_words(folder: Path, books: str) -> None:
    arguments = ["index", "b.benzer", books, "--text", "title", "--stop-words"]
    run(*arguments, "en")
    assert answer(*arguments, "en")["new"] == 0
    assert "was created with --stop-words" in one_line(run(*arguments, "tr", status=2))
    assert "stop words" in run("info", "b.benzer").stdout


@pytest.mark.parametrize("arguments, reason", [
    (["--stop-words", "klingon"], "klingon"),
    (["--stop-words", "no.txt"], "no.txt: No such file"),
    (["--stop-words", "en", "--shingle", "char:5"], "stop_words require unit='word'"),
    (["--shingle-hash", "crc32"], "crc32"),
    (["--hash-bytes", "5"], "5"),
])  # fmt: skip
def test_rules_of_texts_that_cannot_be(folder: Path, arguments: list[str], reason: str) -> None:
    assert reason in one_line(run("compare", "a.txt", "b.txt", *arguments, status=2))


@pytest.mark.parametrize("arguments", [
    ["--shingle-hash", "djb2a"], ["--shingle-hash", "murmur3_32", "--hash-bytes", "4"], ["--hash-bytes", "4"],
])  # fmt: skip
def test_another_hash_of_shingles_finds_the_same(folder: Path, arguments: list[str]) -> None:
    assert answer("compare", "a.txt", "b.txt", *arguments)["similarity"] == pytest.approx(17 / 19)
