"""The views of a threshold: expected pairs, charts, and settings as code that gives the same settings."""

from __future__ import annotations

import ast
import json
import re
import shlex
from itertools import pairwise
from urllib.parse import unquote_plus

import pytest

import benzer
from benzer.bands import Bands
from benzer.cli.dedupe import command
from benzer.fields import Schema, Text, ValueSet
from benzer.views import rerun
from benzer.views.tuning import bin_rows, divided, histogram, histogram_note, reading, settings_html

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
EDGES = [at / 100 for at in range(101)]


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.505, 0.99, 1.0])
def test_pairs_are_divided_at_the_threshold_and_none_is_lost(threshold: float) -> None:
    bins = [(low, high, float(at)) for at, (low, high) in enumerate(pairwise(EDGES))]
    parts = divided(bins, threshold)
    assert sum(pairs for _, _, pairs in parts) == pytest.approx(4950)
    above = sum(pairs for low, _, pairs in parts if low >= threshold - 1e-9)
    whole = sum(at for at in range(100) if at / 100 >= threshold - 1e-9)
    assert whole <= above + 1e-6 <= whole + 100


def test_the_expected_result_is_each_bin_by_its_probability() -> None:
    bins = [(low, high, 10.0 if low in (0.3, 0.85) else 0.0) for low, high in pairwise(EDGES)]
    tuned = {"read": 5, "documents": 5, "prices": [1]}
    said = histogram_note(tuned, bins, Bands(10, 6), 0.8).striptags()
    assert said.startswith(
        "About 10 pairs are at least 0.80 similar; 0.993 of them would be found, with about 0"
    )
    assert [row[0] for row in bin_rows(bins, Bands(10, 6), 0.8)] == ["0.30 to 0.31", "0.85 to 0.86"]
    assert reading(0.855, Bands(10, 6), bins).endswith("about 10 pairs from 0.85 to 0.86")


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_histogram_has_a_bar_for_each_bin_with_pairs(logarithmic: bool) -> None:
    bins = [(0.0, 0.5, 1e6), (0.5, 0.8, 0.0), (0.8, 1.0, 3.0)]
    drawing = histogram(bins, Bands(10, 6), 0.8, logarithmic=logarithmic)
    assert re.findall(r'class="bar (\w+)"', drawing) == ["passed", "compared", "missed", "found"]


def test_the_curve_of_the_page_is_that_of_the_library() -> None:
    page = settings_html(0.8, 0.95, Schema(), "http://localhost")
    bands = Bands.choose(0.8, 0.95)
    assert f"{bands.bands} bands of {bands.rows} rows" in page
    assert f"0.50: found with probability {bands.probability(0.5):.3f}" in page


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_python_code_of_a_page_has_the_same_settings(schema: Schema) -> None:
    tree = ast.parse(rerun.search_code(0.75, 0.99, schema))
    (call,) = (
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("find_duplicates")
    )
    given = {one.arg: one.value for one in call.keywords}
    assert (ast.unparse(given["threshold"]), ast.unparse(given["recall"])) == ("0.75", "0.99")
    read = eval(ast.unparse(given["schema"]), {"benzer": benzer}) if "schema" in given else Schema()  # noqa: S307
    if "text" in given:
        read = Schema(**{ast.literal_eval(given["text"]): Text()})
    assert read == schema


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_command_line_of_a_page_is_understood(schema: Schema) -> None:
    line = rerun.search_command(0.75, 0.99, schema)
    says_more = line.startswith("# this command line does not show all field settings")
    assert says_more == (rerun.plain_text(schema) is None)
    words = shlex.split(line.partition("\n")[2] if says_more else line.replace("\\\n", " "))
    words = shlex.split(" ".join(words).replace("\\", " ")) if says_more else words
    assert words[:2] == ["benzer", "dedupe"]
    context = command.make_context("dedupe", words[2:])
    assert (context.params["threshold"], context.params["recall"]) == (0.75, 0.99)


def test_the_request_of_a_page_asks_for_the_index_or_for_the_same_fields() -> None:
    line = rerun.search_request(0.75, 0.99, Schema(), "it's", "http://localhost:1")
    words = shlex.split(line.replace("\\\n", " "))
    assert json.loads(words[words.index("-d") + 1]) == {"index": "it's", "threshold": 0.75, "recall": 0.99}
    line = rerun.search_request(0.75, 0.99, SCHEMAS[1], "", "http://localhost:1")
    words = shlex.split(line.replace("\\\n", " "))
    fields = dict(pair.split("=") for pair in words[1].partition("?")[2].split("&"))["fields"]
    assert Schema.from_dict(json.loads(unquote_plus(fields))) == SCHEMAS[1]
