"""docs/reference/sources.md tells the truth: every number is there, and all that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benzer.cli.group import COMMANDS
from benzer.experiments import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "sources.md"
COUNTS = {"R": 19, "G": 19, "E": 8, "W": 14}
NUMBERS = [f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)]
TEST = re.compile(r"(?:(tests/[\w/]+\.py)::)?(test_\w+)")
ROW = re.compile(r"\| ([RGEW]\d+) \|(.*)\|")
HOME = re.compile(r"Tests without a path are in `(tests/[\w/]+\.py)`")


class Line(NamedTuple):
    """A line of a table: the number, what it is, the public names, the tests and commands; where tests stand."""

    number: str
    what: str
    names: str
    proofs: str
    home: str


def lines() -> list[Line]:
    found, home = [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if said := HOME.search(line):
            home = said[1]
        elif row := ROW.fullmatch(line):
            found.append(Line(row[1], *(cell.strip() for cell in row[2].split(" | ")), home=home))
    return found


def code(cell: str) -> list[str]:
    """What stands in code marks."""
    return re.findall(r"`([^`]+)`", cell)


def resolved(name: str) -> Any:
    """What a dotted name stands for: the longest part that is a module, then attributes; a cell may call it."""
    parts = name.partition("(")[0].split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            value = getattr(value, attribute)
        return value
    raise ModuleNotFoundError(name)


@cache
def collected(path: str) -> frozenset[str]:
    """The names of the tests that pytest collects from a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return frozenset(name for name in functions if name.startswith("test_"))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The ids that links to a page may name: those given in it, and those of its headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = (heading.lower() for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    slugs = {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}
    return frozenset(slugs | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)))


def test_every_number_stands_there_once_and_in_order() -> None:
    assert [line.number for line in lines()] == NUMBERS


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.number)
def test_what_a_line_names_exists(line: Line) -> None:
    assert line.what
    assert code(line.names)
    for name in code(line.names):
        assert resolved(name) is not None
    proofs = code(line.proofs)
    assert proofs
    for proof in proofs:
        path_and_test = TEST.fullmatch(proof)
        if path_and_test:
            path = path_and_test[1] or line.home
            assert Path(path).name.startswith("test_")
            assert path_and_test[2] in collected(path)
        else:
            program, command, *rest = proof.split()
            assert (program, command) == ("benzer", "experiments")
            assert command in COMMANDS
            assert set(rest) <= set(EXPERIMENTS.names)


def test_every_line_is_proved_by_a_test() -> None:
    untested = [line.number for line in lines() if not any(map(TEST.fullmatch, code(line.proofs)))]
    assert untested == []


def test_every_experiment_names_its_own_command() -> None:
    experiments = {line.number: code(line.proofs) for line in lines() if line.number.startswith("E")}
    assert [
        number for number, proofs in experiments.items() if f"benzer experiments {number}" not in proofs
    ] == []


def test_every_link_leads_to_a_page_and_a_place_in_it() -> None:
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", PAGE.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            page = (PAGE.parent / path).resolve() if path else PAGE
            assert page.exists(), target
            assert not anchor or anchor in anchors(page), target


def test_every_mistake_links_to_its_explanation() -> None:
    mistakes = [line for line in lines() if line.number.startswith("W")]
    assert [line.number for line in mistakes if f"#{line.number.lower()}" not in line.what] == []
