"""Labels and number formats are defined once, and every interface shows the same ones."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import benzer
from benzer import wording
from benzer.views.counts import counts_of
from benzer.views.recall import guaranteed, measured
from tools.prose_texts import texts

PACKAGE = Path(benzer.__file__).parent
INTERFACES = [PACKAGE / name for name in ("views", "report", "service/pages")]
NUMBER = re.compile(r"^(?:,|[,_]?\.\d+[feg%]|,\.\d+f|d|\.\{.*\}[feg])$")


def python_files() -> list[Path]:
    return sorted(path for folder in INTERFACES for path in folder.rglob("*.py"))


def formats(path: Path) -> Iterator[str]:
    """The number formats in f-strings of a module, with their line; doctests are not read."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            spec = ast.unparse(node.format_spec).strip("f'\"")
            if NUMBER.match(spec):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}: {spec}"


def sentences(path: Path) -> Iterator[str]:
    """The texts of a module with at least six words that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and node.body
                  and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            docstrings.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value.strip(" .;,:")
            if len(text.split()) >= 6 and text.isprintable() and "<" not in text:
                yield text


MODULES = [*python_files(), *sorted((PACKAGE / "cli").glob("*.py"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_an_interface_formats_no_number_itself(path: Path) -> None:
    assert list(formats(path)) == []


def test_a_sentence_is_defined_once() -> None:
    found = Counter(text for path in python_files() for text in sentences(path))
    assert [text for text, times in found.items() if times > 1] == []


def scripts() -> list[Path]:
    return sorted((PACKAGE / "service/pages/static").glob("*.js"))


def test_scripts_are_few_and_short() -> None:
    """The pages load fragments; their scripts upload, drag, toggle and remember decisions."""
    assert len(scripts()) <= 14
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in scripts()) <= 2400


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.name)
def test_a_script_formats_no_number(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"toFixed|toPrecision|toLocaleString\((?!\))|Intl\.|\+ ?\"s\"", text)


def test_a_sentence_of_a_template_or_a_script_is_defined_once() -> None:
    templates = [path for folder in INTERFACES for path in folder.rglob("*.html")]
    found = Counter(
        sentence
        for path in (*templates, *scripts())
        for text in texts(path)
        for sentence in re.split(r"\s{2,}|\n", text.content)
        if len(sentence.split()) >= 6
    )
    assert [sentence for sentence, times in found.items() if times > 1] == []


def test_the_report_and_the_terminal_show_the_same_counts() -> None:
    counts = {"documents": 8, "read": 9, "malformed": 1, "kept": 7, "removed": 1, "identical": 0, "near": 1}
    shown = {one.name: (one.number, one.remark) for one in counts_of(counts, 0.8, texts=True)}
    assert shown["removed"] == ("1", "12.5 %")
    assert shown["near"] == ("1", "similarity of at least 0.80 to a kept document")
    assert shown["identical"] == ("0", "")
    assert "known" not in shown


def test_a_new_count_of_a_run_is_shown_without_another_change() -> None:
    counts = {**benzer.find_duplicates({"a": "one two", "b": "One, two"}).counts, "new_count": 3}
    new = counts_of(counts, 0.8, texts=True)[-1]
    assert (new.label, new.number, new.remark, new.tile) == ("new count", "3", "", True)
    shown = {one.name for one in counts_of(counts, 0.8, texts=True)}
    assert shown >= {"read", "kept", "removed", "identical", "near", "short", "empty", "pairs", "clusters"}


def test_a_sentence_of_a_terminal_is_that_of_a_page_without_markup() -> None:
    said = guaranteed(0.8, 0.95, (10, 6))
    assert "<strong>0.80</strong>" in said
    assert "0.80 is found with probability 0.950 by 10 bands of 6 rows" in said.striptags()
    told = {"recall": 0.9999, "exhaustive": False, "low": 0.9, "high": 1.0, "confidence": 0.95}
    assert measured(told).striptags() == (
        "Measured recall: 0.999, between 0.900 and 1.000 with 95 % confidence."
    )


def test_an_id_cannot_reorder_the_text_around_it() -> None:
    assert wording.plain("\u202egnp.exe\u200b") == "\ufffdgnp.exe\ufffd"
