"""The commands do what they say, answer programs in JSON, and refuse in one line what cannot be done."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from benzer.cli.group import COMMANDS
from benzer.index import Index
from tests.doors.shell import DOCUMENTS, FOX, FOX_AGAIN, OTHER, answer, one_line, rows, run

# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_teaches_by_example(name: str) -> None:
    help_text = run(name, "--help").stdout
    assert "Examples:\n  # " in help_text
    assert help_text.index("Examples:") < help_text.index("Options:")


EXAMPLES = [
    (name, line)
    for name, command in COMMANDS.items()
    for one in [command, *getattr(command, "commands", {}).values()]
    for line in one.examples.splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("name, line", EXAMPLES)
def test_each_example_is_a_valid_command_line(name: str, line: str) -> None:
    words = shlex.split(line.replace('"$(', "").replace(')"', ""), comments=True)
    start = words.index("benzer")
    arguments = words[start + 2 :]
    if ">" in arguments:
        arguments = arguments[: arguments.index(">")]
    command = COMMANDS[words[start + 1]]
    if isinstance(command, click.Group):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    assert command.make_context(words[start + 1], arguments).params
    assert name == words[start + 1] or name in ("index", "serve", "keys")


def test_benzer_alone_shows_the_commands() -> None:
    listed = run().stdout
    assert all(f"\n  {name} " in listed for name in COMMANDS)
    assert listed == run("--help").stdout == run("-h").stdout


def test_closed_standard_output_discards_what_is_printed(tmp_path: Path) -> None:
    (tmp_path / "two.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    command = f"{sys.executable} -m benzer dedupe {tmp_path}/two.jsonl --output {tmp_path}/out >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out" / "kept.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_version_is_printed() -> None:
    assert run("--version").stdout.startswith("benzer 0.")


def test_help_starts_without_the_heavy_rooms() -> None:
    heavy = ["numpy", "pyarrow", "rich", "plotext", "zstandard", "sqlite3", "benzer._native"]
    script = f"import sys, benzer.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


# dedupe


def test_dedupe_writes_what_stays_and_why_the_rest_goes(folder: Path) -> None:
    summary = answer("dedupe", "docs.jsonl", "--output", "clean", "--threshold", "0.7")
    kept = rows(folder / "clean" / "kept.jsonl")
    assert kept == [DOCUMENTS[0], DOCUMENTS[1], DOCUMENTS[4], DOCUMENTS[5]]
    counts = summary["counts"]
    assert (counts["read"], counts["kept"], counts["removed"]) == (6, 4, 2)
    assert (counts["identical"], counts["near"], counts["short"], counts["empty"]) == (1, 1, 1, 1)
    assert all(Path(path).exists() for path in summary["files"].values())


def test_dedupe_prints_counts_and_the_promise(folder: Path) -> None:
    result = run("dedupe", "docs.jsonl", "--output", "clean")
    assert result.stderr == ""
    for word in (
        "read",
        "kept",
        "removed",
        "identical",
        "near",
        "short",
        "empty",
        "pairs",
        "clusters",
        "time",
    ):
        assert f"\n{word}" in f"\n{result.stdout}".replace("\n  ", "\n")
    assert "A pair at 0.80 is found with probability 0.9" in result.stdout
    assert "\nwritten to clean/\n  kept.jsonl " in result.stdout


@pytest.mark.parametrize(
    "rule, stays",
    [("first", "fox"), ("last", "fox-loud"), ("largest:stars", "fox-loud"), ("smallest:stars", "fox"),
     ("priority:id=fox-again,fox", "fox-again")],
)  # fmt: skip
def test_the_keep_rule_decides_who_stays(folder: Path, rule: str, stays: str) -> None:
    run("dedupe", "docs.jsonl", "--output", "clean", "--threshold", "0.7", "--keep", rule)
    kept = {row["id"] for row in rows(folder / "clean" / "kept.jsonl")}
    assert {"fox", "fox-again", "fox-loud"} & kept == {stays}


def test_a_malformed_row_stops_the_run_with_its_place_and_the_cure(folder: Path) -> None:
    error = one_line(run("dedupe", "broken.jsonl", "--output", "clean", status=2))
    assert "broken.jsonl line 2" in error
    assert "--on-error skip" in error
    assert not (folder / "clean").exists()


def test_malformed_rows_that_are_set_aside_end_with_1(folder: Path) -> None:
    result = run("dedupe", "broken.jsonl", "--output", "clean", "--on-error", "skip", status=1)
    assert "1 malformed row skipped" in result.stderr
    assert "broken.jsonl line 2" in result.stderr
    assert len(rows(folder / "clean" / "kept.jsonl")) == 4


def test_an_existing_output_is_refused_before_the_work(folder: Path) -> None:
    (folder / "clean").mkdir()
    (folder / "clean" / "mine.txt").write_text("mine")
    error = one_line(run("dedupe", "docs.jsonl", "--output", "clean", status=2))
    assert "clean exists" in error
    assert "--replace" in error
    assert [path.name for path in (folder / "clean").iterdir()] == ["mine.txt"]


def test_replace_replaces_an_output(folder: Path) -> None:
    run("dedupe", "docs.jsonl", "--output", "clean", "--threshold", "1")
    run("dedupe", "docs.jsonl", "--output", "clean", "--threshold", "0.7", "--replace")
    assert len(rows(folder / "clean" / "kept.jsonl")) == 4


@pytest.mark.parametrize("output", [".", "docs.jsonl", "in"])
def test_the_input_is_never_overwritten(folder: Path, output: str) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "docs.jsonl").write_bytes((folder / "docs.jsonl").read_bytes())
    before = (folder / "docs.jsonl").read_bytes()
    error = one_line(run("dedupe", "docs.jsonl", "in/*.jsonl", "--output", output, "--replace", status=2))
    assert "contains the input" in error
    assert (folder / "docs.jsonl").read_bytes() == (folder / "in" / "docs.jsonl").read_bytes() == before


def test_dedupe_reads_stdin_and_other_columns(folder: Path) -> None:
    lines = "".join(json.dumps({"url": d["id"], "body": d["text"]}) + "\n" for d in DOCUMENTS)
    arguments = ["dedupe", "-", "--text", "body", "--id", "url", "--output", "clean", "--threshold", "0.7"]
    assert answer(*arguments, stdin=lines)["counts"]["removed"] == 2


def test_several_text_columns_are_several_fields(folder: Path) -> None:
    table = "id,title,body\n1,one two three,x y z\n2,one two three,x y z\n3,four five six,x y z\n"
    (folder / "books.csv").write_text(table)
    summary = answer("dedupe", "books.csv", "--text", "title", "--text", "content=body", "--output", "clean")
    assert (summary["counts"]["kept"], summary["counts"]["identical"]) == (2, 1)


def test_character_shingles_find_what_words_do_not(folder: Path) -> None:
    (folder / "names.csv").write_text("id,name\n1,Chateau Margaux 1996\n2,ChateauMargaux 1996\n3,Opus One\n")
    arguments = ["dedupe", "names.csv", "--text", "name", "--threshold", "0.5"]
    assert answer(*arguments, "--output", "words")["counts"]["removed"] == 0
    assert answer(*arguments, "--shingle", "char:3", "--output", "characters")["counts"]["removed"] == 1


# index and search


def test_an_index_is_made_and_added_to(folder: Path) -> None:
    made = answer("index", "docs.benzer", "docs.jsonl")
    assert (made["read"], made["new"], made["documents"], made["malformed"]) == (6, 6, 6, 0)
    (folder / "more.jsonl").write_text(
        json.dumps(DOCUMENTS[0]) + "\n" + json.dumps({"id": "new", "text": OTHER})
    )
    again = answer("index", "docs.benzer", "more.jsonl")
    assert (again["read"], again["new"], again["documents"]) == (2, 1, 7)
    assert "replaced" in run("index", "docs.benzer", "more.jsonl").stdout


def test_other_settings_than_those_of_the_index_are_refused(index: str) -> None:
    error = one_line(run("index", index, "docs.jsonl", "--shingle", "char:5", status=2))
    assert "was created with --shingle word:3, got char:5" in error
    assert answer("index", index, "docs.jsonl", "--threshold", "0.5")["new"] == 0


def test_an_index_of_several_fields_keeps_their_names(folder: Path) -> None:
    (folder / "books.csv").write_text("id,title,body\n1,one two three,x y z\n")
    (folder / "more.csv").write_text("id,title,content\n2,four five six,x y z\n3,one two three,x y z\n")
    run("index", "books.benzer", "books.csv", "--text", "title", "--text", "body")
    run("index", "books.benzer", "books.csv")
    again = answer("index", "books.benzer", "more.csv", "--text", "title", "--text", "body=content")
    assert again["documents"] == 3
    match = answer("search", "books.benzer", "--id", "1")["matches"][0]
    assert (match["id"], match["fields"]) == ("3", {"title": 1.0, "body": 1.0})


def test_a_failed_first_call_leaves_no_index(folder: Path) -> None:
    one_line(run("index", "docs.benzer", "broken.jsonl", status=2))
    assert not list(folder.glob("docs.benzer*"))
    assert answer("index", "docs.benzer", "broken.jsonl", "--on-error", "skip", status=1)["malformed"] == 1


def test_a_failed_later_call_leaves_the_index_as_it_was(folder: Path, index: str) -> None:
    (folder / "more.jsonl").write_text('{"id": "new", "text": "some new text here"}\n{"text": ')
    one_line(run("index", index, "more.jsonl", status=2))
    assert answer("info", index)["documents"] == 6


def test_search_answers_best_first(index: str) -> None:
    matches = answer("search", index, FOX)["matches"]
    assert [match["id"] for match in matches[:2]] == ["fox", "fox-loud"] or matches[0]["similarity"] == 1.0
    assert matches[-1]["id"] == "fox-again"
    assert matches[-1]["similarity"] == pytest.approx(17 / 19)
    assert len(answer("search", index, FOX, "--limit", "1")["matches"]) == 1
    assert len(answer("search", index, FOX, "--threshold", "0.95")["matches"]) == 2


def test_search_takes_a_text_a_file_stdin_or_an_id(folder: Path, index: str) -> None:
    by_text = answer("search", index, FOX)["matches"]
    assert answer("search", index, "--file", "a.txt")["matches"] == by_text
    assert answer("search", index, "-", stdin=FOX)["matches"] == by_text
    assert [match["id"] for match in answer("search", index, "--id", "fox")["matches"]] == [
        "fox-loud",
        "fox-again",
    ]


@pytest.mark.parametrize("arguments", [[], ["text", "--id", "fox"], ["--file", "a.txt", "--id", "fox"]])
def test_search_wants_exactly_one_question(index: str, arguments: list[str]) -> None:
    assert "give one of TEXT" in one_line(run("search", index, *arguments, status=2))


def test_search_shows_similarity_id_and_text(index: str) -> None:
    table = run("search", index, FOX).stdout.splitlines()
    assert table[0].split() == ["similarity", "id", "text"]
    assert table[1].startswith("     1.000  fox")
    assert "the quick brown fox" in table[-1]


def test_nothing_similar_is_an_answer(index: str) -> None:
    result = run("search", index, "something else altogether, of no kind that is here")
    assert result.stdout == ""
    assert "no document reaches the threshold" in result.stderr


@pytest.mark.parametrize("arguments, reason", [
    (["search", "no.benzer", "text"], "no such index"),
    (["search", "docs.jsonl", "text"], "docs.jsonl"),
    (["info", "no.benzer"], "no such file"),
])  # fmt: skip
def test_what_is_no_index_is_said_to_be_none(folder: Path, arguments: list[str], reason: str) -> None:
    assert reason in one_line(run(*arguments, status=2))
    assert not (folder / "no.benzer").exists()


def test_an_unknown_id_is_said_to_be_unknown(index: str) -> None:
    assert "'nobody'" in one_line(run("search", index, "--id", "nobody", status=2))


NUMBERED = [(7, FOX), (-5, FOX_AGAIN), ("007", OTHER), ("1", FOX), (1, OTHER)]


@pytest.fixture
def numbered(folder: Path) -> str:
    """A file of documents whose ids are numbers and texts that look like numbers."""
    rows = [json.dumps({"id": id, "text": text}) for id, text in NUMBERED]
    (folder / "numbered.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return "numbered.jsonl"


def test_an_id_is_taken_as_it_is_written(numbered: str) -> None:
    """As the service takes it: the text itself, then the integer that is written just so."""
    run("index", "n.benzer", numbered, "--threshold", "0.5")
    for asked, found in (("7", ["1", -5]), ("-5", [7, "1"]), ("007", [1]), ("1", [7, -5])):
        matches = answer("search", "n.benzer", f"--id={asked}")["matches"]
        assert [match["id"] for match in matches] == found
    for asked in ("07", "+7", "7.0", "٧", "--5", "-0", "9" * 19, "9" * 5_000):
        error = one_line(run("search", "n.benzer", f"--id={asked}", status=2))
        assert f"no document has the id '{asked[:50]}" in error
        assert len(error) < 200


def test_compare_takes_an_id_as_it_is_written(numbered: str) -> None:
    found = json.loads(run("compare", "--from", numbered, "--json", "--", "7", "-5").stdout)
    assert (found["a"], found["b"]) == (7, -5)
    assert answer("compare", "--from", numbered, "007", "7")["a"] == "007"
    for asked in ("07", "9" * 5_000):
        error = one_line(run("compare", "--from", numbered, "7", asked, status=2))
        assert f"no document has the id '{asked[:50]}" in error
        assert len(error) < 200


def test_compare_refuses_an_id_that_is_both_a_number_and_a_text(numbered: str) -> None:
    for asked in (("1", "7"), ("7", "1")):
        error = one_line(run("compare", "--from", numbered, *asked, status=2))
        assert "numbered.jsonl has a document with the id '1' and one with the id 1" in error


# compare


def test_compare_two_files(folder: Path) -> None:
    found = answer("compare", "a.txt", "b.txt")
    text = found["fields"]["text"]
    assert found["similarity"] == pytest.approx(17 / 19)
    assert (text["shingles_a"], text["shingles_b"], len(text["shared"])) == (18, 18, 17)
    assert (text["coverage_a"], text["coverage_b"], text["unit"]) == (19 / 20, 19 / 20, "word")
    assert text["passages"] == [
        {
            "a": [0, FOX.index(" comes")],
            "b": [0, FOX.index(" comes")],
            "tokens": 19,
            "shared": 19,
            "differences": [],
        }
    ]
    shown = run("compare", "a.txt", "b.txt").stdout
    assert "0.894" in shown
    assert "\ntext: 95 % of A appears in B, 95 % of B appears in A\n" in shown
    assert "\n  Passage 1: 19 words equal: the quick brown fox" in shown


def test_compare_without_a_passage_names_shingles_that_both_have(folder: Path) -> None:
    texts = "one two three " + " ".join(f"a{i}" for i in range(20)), "one two three " + "b " * 20
    shown = run("compare", "--texts", *texts).stdout
    assert (
        "\ntext: 0 % of A appears in B, 0 % of B appears in A\nshared shingles, e.g.:\n  one two three\n"
        in shown
    )


def test_compare_counts_the_passages_that_it_does_not_show(folder: Path) -> None:
    notice = "to whom it may concern, this is the usual notice"
    shown = run(
        "compare", "--texts", "".join(f"{notice} {i} {i * 7} {i * 11}. " for i in range(9)), notice
    ).stdout
    assert shown.count("10 words equal") == 5
    assert "and 4 more passages, none of them longer" in shown


def test_compare_writes_a_page_whole_or_not_at_all(folder: Path) -> None:
    done = run("compare", "a.txt", "b.txt", "--html", "page.html")
    assert "written to page.html" in done.stderr
    page = (folder / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert (
        page.count('<mark class="equal">the quick brown') == 4
    )  # each side, in its passage and in the whole text
    assert "page.html exists" in one_line(run("compare", "b.txt", "a.txt", "--html", "page.html", status=2))
    assert (folder / "page.html").read_text() == page
    run("compare", "b.txt", "a.txt", "--html", "page.html", "--replace", "--json")
    assert (folder / "page.html").read_text() != page


@pytest.mark.parametrize("arguments", [
    ("a.txt", "b.txt", "--html", "a.txt"), ("a.txt", "b.txt", "--html", "./b.txt"),
    ("fox", "fox-again", "--from", "docs.jsonl", "--html", "docs.jsonl"),
])  # fmt: skip
def test_a_page_never_takes_the_place_of_what_is_compared(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "a.txt").write_text("one two three")
    (folder / "b.txt").write_text("one two three four")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    said = one_line(run("compare", *arguments, "--replace", status=2))
    assert "would replace the input" in said
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_compare_two_texts_and_two_documents_of_a_file(folder: Path) -> None:
    by_file = answer("compare", "a.txt", "b.txt")["fields"]
    assert answer("compare", "--texts", FOX, FOX_AGAIN)["fields"] == by_file
    assert answer("compare", "--from", "docs.jsonl", "fox", "fox-again")["fields"] == by_file
    assert answer("compare", "-", "b.txt", stdin=FOX)["fields"] == by_file


@pytest.mark.parametrize("arguments, reason", [
    (["a.txt", "no.txt"], "no.txt"),
    (["a.txt", "binary.txt"], "byte 2 is not UTF-16"),
    (["--from", "docs.jsonl", "fox", "nobody"], "'nobody'"),
    (["--from", "docs.jsonl", "--texts", "a", "b"], "exclude"),
    (["--text", "body", "a.txt", "b.txt"], "--texts"),
    (["a.txt"], "Missing argument 'B'"),
])  # fmt: skip
def test_compare_says_what_it_cannot_compare(folder: Path, arguments: list[str], reason: str) -> None:
    (folder / "binary.txt").write_bytes(b"\xff\xfe\x00")
    assert reason in one_line(run("compare", *arguments, status=2))


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_compare_reads_files_in_other_encodings(folder: Path, encoding: str) -> None:
    text = f"{FOX} Größe, Straße, Übermut und Äpfel fallen über die Brücke."
    (folder / "plain.txt").write_text(text, encoding="utf-8")
    (folder / "other.txt").write_text(text, encoding=encoding)
    assert answer("compare", "plain.txt", "other.txt")["similarity"] == 1


def test_dissimilar_documents_are_no_error(folder: Path) -> None:
    assert answer("compare", "--texts", FOX, OTHER)["similarity"] < 0.1


# tune


def test_tune_keeps_the_promise() -> None:
    found = answer("tune", "--threshold", "0.8", "--recall", "0.95")
    probability = 1 - (1 - 0.8 ** found["rows"]) ** found["bands"]
    assert found["probability_at_threshold"] == pytest.approx(probability)
    assert probability >= 0.95
    assert [point["similarity"] for point in found["curve"]][:2] == [0.0, 0.01]


def test_tune_draws_the_curve() -> None:
    shown = run("tune").stdout
    assert "A pair at 0.80 is found with probability 0.9" in shown
    assert "← threshold" in shown
    assert any("\u2800" < character <= "\u28ff" for character in shown)
    assert max(map(len, shown.splitlines())) <= 80


def test_tune_shows_a_choice_that_is_not_ours() -> None:
    assert answer("tune", "--bands", "9", "--rows", "13")["num_values"] == 117
    assert answer("tune", "--rows", "4", "--num-hashes", "128")["bands"] == 32
    assert "below the recall of 0.95" in run("tune", "--rule", "area").stdout


@pytest.mark.parametrize("arguments", [
    ["--threshold", "1.4"], ["--recall", "1"], ["--bands", "4"], ["--rule", "area", "--rows", "4"],
    ["--bands", "20", "--rows", "20", "--num-hashes", "128"], ["--threshold", "0.1", "--num-hashes", "4"],
])  # fmt: skip
def test_tune_refuses_what_cannot_be(arguments: list[str]) -> None:
    assert one_line(run("tune", *arguments, status=2))


@pytest.mark.parametrize("unit, sizes", [("char", range(2, 13)), ("word", range(1, 9))])
def test_tune_advises_a_shingle_size_for_documents(folder: Path, unit: str, sizes: range) -> None:
    arguments = ["tune", "--documents", "docs.jsonl", "--unit", unit]
    found = answer(*arguments)
    assert [one["size"] for one in found["sizes"]] == list(sizes)
    assert found["documents"] == 5  # one is empty
    within = [one["size"] for one in found["sizes"] if one["background"] <= found["limit"]]
    assert found["size"] == min(within)
    shown = run(*arguments).stdout
    assert f"Suggested shingle size: {found['size']} " in shown
    assert f"--shingle {unit}:{found['size']}" in shown


@pytest.mark.parametrize("arguments, reason", [
    (["--documents", "docs.jsonl", "--threshold", "0.5"], "omit the band options"),
    (["--documents", "docs.jsonl", "--text", "body"], 'no column "body"'),
    (["--documents", "no.jsonl"], "no.jsonl"),
    (["--unit", "word"], "--unit requires --documents"),
])  # fmt: skip
def test_tune_advises_on_documents_alone(folder: Path, arguments: list[str], reason: str) -> None:
    assert reason in one_line(run("tune", *arguments, status=2))


# info


def test_info_describes_a_file(folder: Path) -> None:
    found = answer("info", "docs.jsonl")
    assert (found["rows"], found["documents"], found["short"], found["empty"]) == (6, 6, 1, 1)
    assert found["columns"] == ["id", "text", "stars"]
    assert answer("info", "broken.jsonl", status=1)["malformed"] == 1


def test_info_describes_an_index(index: str) -> None:
    assert answer("info", index)["documents"] == 6
    assert "A pair at 0.50 is found with probability 0.95" in run("info", index).stdout
    with Index.open(index, mode="read") as opened:
        assert dict(answer("info", index, "--buckets")["buckets"]) == opened.bucket_sizes()
    assert "the largest has" in run("info", index, "--buckets").stdout


def test_columns_are_told_of_a_file_that_nests_too_deep_for_python(folder: Path) -> None:
    deep = '{"id": 1, "text": "", "deep": ' + "[" * 20_000 + "]" * 20_000 + "}"
    lines = [json.dumps(DOCUMENTS[0]), "[" * 200_000, deep]
    (folder / "deep.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = answer("info", "deep.jsonl", status=1)
    assert (found["rows"], found["malformed"]) == (3, 1)
    assert found["columns"] == ["id", "text", "stars"]
