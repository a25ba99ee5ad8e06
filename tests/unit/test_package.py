"""The names of the package: listed once for people, once for type checkers, once for the import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import benzer


def test_every_listed_name_is_there_and_no_other() -> None:
    for name in benzer.__all__:
        assert getattr(benzer, name) is not None
    assert set(benzer._ROOMS) == set(benzer.__all__)
    assert dir(benzer) == sorted(benzer.__all__)


def test_type_checkers_see_the_names_that_users_import() -> None:
    tree = ast.parse(Path(benzer.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (alias.name, f"{statement.module}")
        for statement in guarded.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == {(name, f"benzer.{room}") for name, room in benzer._ROOMS.items()}


def test_a_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'find_dupes'"):
        benzer.find_dupes  # noqa: B018


def test_the_import_alone_loads_no_heavy_room() -> None:
    script = (
        "import sys, benzer; print([name for name in ('numpy', 'sqlite3', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_documented_with_an_example() -> None:
    bare = [
        name
        for name in benzer.__all__
        if name != "__version__" and ">>>" not in (getattr(benzer, name).__doc__ or "")
    ]
    assert bare == []
