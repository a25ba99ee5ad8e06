"""What scripts of pages work out is what the library does: curves, numbers, settings as code, decisions as files."""

from __future__ import annotations

import ast
import csv
import io
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benzer import wording
from benzer.bands import Bands
from benzer.cli.dedupe import command
from benzer.fields import Schema, Text, ValueSet
from benzer.index import Index
from tests.doors.browsing import chromium
from tests.doors.service import serving

Run = Callable[..., Any]
NUMBERS = [0.0, 1e-9, 0.0004, 0.2999, 0.5, 0.8, 0.875, 0.95, 0.9996, 0.99999, 1.0]
SCHEMAS = [
    Schema(),
    Schema(text=Text(unit="char")),
    Schema(text=Text(shingle_size=7)),
    Schema(body=Text()),
    Schema(**{"the body": Text(unit="char", shingle_size=3)}),
    Schema(text=Text(stop_words=["it's", 'a "b"'], case="keep")),
    Schema(text=Text(frequencies=True)),
    Schema(title=Text(weight=2.5), tags=ValueSet()),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Call a function that a script exports: `run("curve.js", "probability", 0.8, 10, 6)`."""
    folder: Path = tmp_path_factory.mktemp("modules")
    Index.open(folder / "demo.benzer").close()
    with serving("--home", folder) as (client, _), chromium() as browser:
        page = browser.new_page()
        page.goto(f"{client.base_url}/tune")

        def called(script: str, name: str, *arguments: Any) -> Any:
            source = (
                "([script, name, args]) => import(`/static/0/${script}`).then((all) => all[name](...args))"
            )
            return page.evaluate(source, [script, name, list(arguments)])

        yield called


@pytest.mark.parametrize("bands", [Bands(1, 1), Bands(10, 6), Bands(95, 5), Bands(3, 40)])
def test_the_s_curve_of_a_page_is_that_of_the_library(run: Run, bands: Bands) -> None:
    drawn = np.array(run("curve.js", "curve", bands.bands, bands.rows))
    np.testing.assert_allclose(drawn, bands.curve(), atol=1e-12)


def test_pairs_are_divided_at_the_threshold_and_none_is_lost(run: Run) -> None:
    told = {"edges": [at / 100 for at in range(101)], "counts": list(range(100))}
    for threshold in (0.05, 0.5, 0.505, 0.99, 1.0):
        parts = run("curve.js", "divided", told, threshold)
        assert parts["above"] + parts["below"] == pytest.approx(4950)
        whole = sum(at for at in range(100) if at / 100 >= threshold - 1e-9)
        assert whole <= parts["above"] + 1e-6 <= whole + 100


def test_what_would_be_found_is_each_bin_by_its_probability(run: Run) -> None:
    edges = [at / 100 for at in range(101)]
    counts = [10.0 if at in (30, 85) else 0.0 for at in range(100)]
    found = run("curve.js", "expected", {"edges": edges, "counts": counts}, 0.8, 10, 6)
    high, low = (10 * Bands(10, 6).probability(at) for at in (0.855, 0.305))
    assert found == pytest.approx({"found": high, "compared": high + low})


def test_numbers_are_written_as_the_reports_write_them(run: Run) -> None:
    for value in NUMBERS:
        assert run("numbers.js", "ratio", value) == wording.ratio(value), value
    for value in (0.05, 0.5, 0.8, 0.875, 0.999, 1.0):
        assert run("numbers.js", "setting", value) == wording.setting(value), value
    for seconds in (0.0421, 0.9, 12.34, 185, 3599.6):
        assert run("numbers.js", "duration", seconds) == wording.duration(seconds)
    for part, whole in ((1, 8), (99_999, 100_000), (1, 100_000), (0, 5), (5, 5), (0, 0)):
        assert run("numbers.js", "share", part, whole) == wording.share(part, whole)


def test_the_marks_of_an_axis_are_round_and_reach_the_top(run: Run) -> None:
    for most in (1, 3, 7, 42, 99.5, 1000, 123_456):
        marks = run("scale.js", "ticks", most)
        assert (marks[0], len(marks) <= 7) == (0, True)
        assert marks[-2] < most <= marks[-1]
    assert run("scale.js", "powers", 250) == [0, 1, 10, 100]
    assert len(run("scale.js", "powers", 1e12)) <= 8


def asked(schema: Schema, **more: Any) -> dict[str, Any]:
    return {"threshold": 0.75, "recall": 0.99, "schema": schema.to_dict(), **more}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_python_code_of_a_page_has_the_same_settings(run: Run, schema: Schema) -> None:
    tree = ast.parse(run("recipe.js", "python", asked(schema)))
    (call,) = (
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("find_duplicates")
    )
    given = {one.arg: one.value for one in call.keywords}
    assert (ast.unparse(given["threshold"]), ast.unparse(given["recall"])) == ("0.75", "0.99")
    import benzer

    read = eval(ast.unparse(given["schema"]), {"benzer": benzer}) if "schema" in given else Schema()  # noqa: S307
    if "text" in given:
        read = Schema(**{ast.literal_eval(given["text"]): Text()})
    assert read == schema


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_command_line_of_a_page_is_understood(run: Run, schema: Schema) -> None:
    line = run("recipe.js", "commandLine", asked(schema))
    says_more = line.startswith("# this command line does not show all field settings")
    assert says_more == (run("recipe.js", "plainText", schema.to_dict()) is None)
    words = shlex.split(line.partition("\n")[2] if says_more else line.replace("\\\n", " "))
    words = shlex.split(" ".join(words).replace("\\", " ")) if says_more else words
    assert words[:2] == ["benzer", "dedupe"]
    context = command.make_context("dedupe", words[2:])
    assert (context.params["threshold"], context.params["recall"]) == (0.75, 0.99)


def test_the_request_of_a_page_asks_for_the_index_or_for_the_same_fields(run: Run) -> None:
    line = run("recipe.js", "request", asked(Schema(), index="it's"), "http://localhost:1")
    words = shlex.split(line.replace("\\\n", " "))
    assert json.loads(words[words.index("-d") + 1]) == {"index": "it's", "threshold": 0.75, "recall": 0.99}
    words = shlex.split(
        run("recipe.js", "request", asked(SCHEMAS[1]), "http://localhost:1").replace("\\\n", " ")
    )
    fields = dict(pair.split("=") for pair in words[1].partition("?")[2].split("&"))["fields"]
    from urllib.parse import unquote_plus

    assert Schema.from_dict(json.loads(unquote_plus(fields))) == SCHEMAS[1]


def test_decisions_as_csv_keep_every_id_and_start_no_formula(run: Run) -> None:
    ids = ["=1+1", "a,b", 'say "x"', "two\nlines", "@me", 7]
    made = [
        {"cluster": 0, "kept_id": "=k", "decision": "split", "members": ids},
        {"cluster": 3, "kept_id": 9, "decision": "keep", "members": None},
    ]
    rows = list(csv.reader(io.StringIO(run("decisions.js", "asCsv", made), newline="")))
    assert rows[0] == ["cluster", "kept_id", "decision", "member"]
    assert [row[3] for row in rows[1:-1]] == ["'=1+1", "a,b", 'say "x"', "two\nlines", "'@me", "7"]
    assert rows[1][1] == "'=k"
    assert rows[-1] == ["3", "9", "keep", ""]


def test_a_line_of_a_file_is_renamed_and_what_cannot_be_is_sent_as_it_is(run: Run) -> None:
    columns = {"id": "key", "text": "body", "field": "text"}

    def renamed(line: str, **more: str) -> str:
        return str(run("uploads.js", "renamedLine", line, {**columns, **more}, "a.jsonl:7"))

    assert json.loads(renamed('{"key": 4, "body": "one"}')) == {"id": 4, "text": "one"}
    assert json.loads(renamed('{"body": "one"}', id="")) == {"id": "a.jsonl:7", "text": "one"}
    for kept in ("no json", "[1]", "null", '{"key": 9007199254740993, "body": "one"}'):
        assert renamed(kept) == kept
