"""Labels and number formats are defined once, and every interface shows the same ones."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import benzer
from benzer import wording
from benzer.views.counts import counts_of
from benzer.views.recall import guaranteed, measured
from tools.prose_texts import texts

PACKAGE = Path(benzer.__file__).parent
INTERFACES = [PACKAGE / name for name in ("views", "report", "service/pages")]
NUMBER = re.compile(r"[,_%]|[defgn]$")
"""What a format of a number contains; only `wording` has such formats."""
MODULES = sorted(
    path
    for name in ("views", "report", "service", "cli", "client")
    for path in (PACKAGE / name).rglob("*.py")
)
ERRORS = ("Error", "Refusal", "BadParameter", "failure", "refused")
"""Ends of the names of calls that make an error message."""


def name_of(call: ast.Call) -> str:
    """The last part of the name of a called function."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def formats(tree: ast.AST) -> Iterator[str]:
    """The number formats of a module, with their line; doctests and log messages are not read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
            spec = "".join(part.value for part in parts if is_text(part))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_text(node.left):
            spec = "%"
        elif isinstance(node, ast.Call) and name_of(node) == "format":
            text = getattr(node.func, "value", None)
            spec = "".join(re.findall(r"{[^{}]*:([^{}]*)}", text.value)) if is_text(text) else ""
            spec += "%" * isinstance(node.func, ast.Name)
        else:
            continue
        if NUMBER.search(spec):
            yield f"line {node.lineno}: {spec}"


def is_text(node: object) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def labels(node: ast.AST, is_other: Callable[[ast.AST], bool] = lambda node: False) -> Iterator[str]:
    """The texts with at least two words, with {} for each value, without docstrings and what is something else."""
    if is_other(node) or (isinstance(node, ast.Expr) and is_text(node.value)):
        return
    if isinstance(node, ast.JoinedStr):
        yield from two_words("".join(str(part.value) if is_text(part) else "{}" for part in node.values))
    elif is_text(node):
        yield from two_words(node.value)
    inner = (
        part
        for part in ast.iter_child_nodes(node)
        if not isinstance(node, ast.JoinedStr) or not is_text(part)
    )
    for part in inner:
        yield from labels(part, is_other)


def two_words(text: str) -> list[str]:
    """A text without the signs at its ends, if it has two words."""
    text = text.strip(" .;,:")
    words = re.findall(r"[A-Za-z]{2,}", text)
    return [text] if len(words) >= 2 and " " in text and text.isprintable() and "<" not in text else []


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=names_of)
def test_an_interface_formats_no_number_itself(path: Path) -> None:
    assert list(formats(tree_of(path))) == []


@pytest.mark.parametrize("source", [
    'f"{size:,}"', 'f"{size:.3f}"', 'f"{size:g}"', 'f"{size:.{digits}e}"', '"%d rows" % size', '"{:.1%}".format(size)',
    'format(size, ".2f")',
])  # fmt: skip
def test_a_number_format_is_noticed(source: str) -> None:
    assert list(formats(ast.parse(source))) != []


def test_a_label_is_defined_once() -> None:
    paths = [path for folder in (*INTERFACES, PACKAGE / "cli") for path in folder.rglob("*.py")]
    found = Counter(text for path in paths for text in labels(tree_of(path)))
    assert [text for text, times in found.items() if times > 1] == []


def test_a_repeated_label_is_noticed() -> None:
    source = 'a = "two words"\nb = f"{x} is here"\n"a docstring"\nc = "one", "see: two words."'
    assert list(labels(ast.parse(source))) == ["two words", "{} is here", "see: two words"]


def printed(tree: ast.Module) -> Iterator[str]:
    """The texts in the functions of a command that are neither help nor an error."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for statement in function.body:
            yield from labels(statement, is_error_or_help)


def is_error_or_help(node: ast.AST) -> bool:
    help = isinstance(node, ast.Call) and name_of(node) in ("option", "Option", "argument", "partial", "cast")
    return (
        help or isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and name_of(node).endswith(ERRORS))
    )


MESSAGES = {
    "cli/asking.py": {"a list of strings or integers", "the path of an image"},
    "cli/check.py": {"benzer: error: {}"},
    "cli/columns.py": {"Parquet files"},
    "cli/compare.py": {"choose another file"},
    "cli/console.py": {"standard output", "redirect the output to another disk"},
    "cli/fields.py": {"not UTF-8", "no such field"},
}
"""Parts of error messages that the syntax does not show as such."""


@pytest.mark.parametrize("path", sorted((PACKAGE / "cli").glob("*.py")), ids=names_of)
def test_a_command_prints_only_texts_of_views(path: Path) -> None:
    if path.name != "group.py":  # which prints errors
        assert set(printed(tree_of(path))) == MESSAGES.get(names_of(path), set())


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


def test_a_label_of_a_template_is_defined_once() -> None:
    paths = [path for folder in INTERFACES for path in folder.rglob("*.html")]
    lines = (line for path in paths for text in texts(path) for line in re.split(r"\s{2,}|\n", text.content))
    found = Counter(label for line in lines for label in two_words(line))
    assert [label for label, times in found.items() if times > 1] == [], "use labels of benzer.views.html"


def test_a_sentence_of_a_script_is_defined_once() -> None:
    lines = (line for path in scripts() for text in texts(path) for line in text.content.split("\n"))
    found = Counter(line.strip() for line in lines if len(line.split()) >= 6)
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
