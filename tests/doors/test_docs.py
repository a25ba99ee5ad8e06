"""The examples in the documents run, and print what the documents say.

A `python` block runs as a doctest if it has prompts, and as a script if it has none; a `console` block runs
its `$` lines in a shell. `...` in an expected output stands for anything. The blocks of one page run in order,
in one folder that holds `examples`, and Python blocks share their names. Those of the pages about Spark need a
session, and run in tests/spark.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_SPARK = [ROOT / "docs" / "how-to" / name for name in ("run-on-spark.md", "find-similar-on-spark.md")]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One example of a page: its language, its text, and the line it starts at."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2) for found in BLOCK.finditer(text)
    ]


def python_failures(block: Block, page: Path, names: dict[str, Any]) -> str:
    """Run a Python block; returns what went wrong, empty if nothing did."""
    if ">>>" not in block.text:
        exec(compile(block.text, f"{page}:{block.line}", "exec"), names)
        return ""
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    return "".join(report)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The (command, expected output) pairs of a console block; a line that ends in a backslash goes on."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        found = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, flags=re.DOTALL)
        assert found
        yield found[1], found[2]


def console_failures(block: Block, folder: Path) -> str:
    """Run a console block; returns what went wrong, empty if nothing did."""
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    report = ""
    for command, expected in commands(block.text):
        ran = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
        )  # fmt: skip
        if not doctest.OutputChecker().check_output(expected, ran.stdout, FLAGS):
            report += (
                f"$ {command}\nexpected:\n{expected}\ngot (exit status {ran.returncode}):\n{ran.stdout}\n"
            )
    return report


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_of_the_documents_print_what_they_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {"__name__": "__example__"}
    for block in blocks(page):
        python = block.language == "python"
        if python and page in OF_SPARK:
            continue
        failures = python_failures(block, page, names) if python else console_failures(block, tmp_path)
        assert failures == "", f"{page}:{block.line}\n{failures}"


def test_command_line_reference_is_up_to_date() -> None:
    # In a process of its own: a command that another test called without its group keeps the help that it had there.
    tool = [sys.executable, str(ROOT / "tools" / "make_cli_reference.py"), "--check"]
    said = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "cli.md is up to date\n"), said.stderr
