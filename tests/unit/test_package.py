"""The names of the package: listed once for people, once for type checkers, once for the import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name

import pytest

import benzer


def test_every_listed_name_is_there_and_no_other() -> None:
    for name in benzer.__all__:
        assert getattr(benzer, name) is not None
    assert set(benzer._MODULE_OF) == set(benzer.__all__)
    assert dir(benzer) == sorted([*benzer.__all__, "spark"])


def test_the_root_has_at_most_23_names() -> None:
    assert len(benzer.__all__) <= 23


def test_find_duplicates_shows_twelve_parameters_and_options() -> None:
    names = list(signature(benzer.find_duplicates).parameters)
    assert (len(names), names[-1]) == (13, "options")
    others = [
        benzer.price,
        benzer.find_contained,
        benzer.spark.find_duplicates,
        benzer.Client.find_duplicates,
    ]
    for function in others:
        shown = signature(function).parameters
        assert "options" in shown
        assert not shown.keys() & {field.name for field in fields(benzer.Options)}


def test_type_checkers_see_the_names_that_users_import() -> None:
    tree = ast.parse(Path(benzer.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (alias.name, f"{statement.module}")
        for statement in guarded.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == {
        ("spark", "benzer"),
        *((name, f"benzer.{module}") for name, module in benzer._MODULE_OF.items()),
    }


def test_a_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'find_dupes'"):
        benzer.find_dupes  # noqa: B018


def test_spark_needs_no_import_of_its_own_and_loads_no_pyspark(tmp_path: Path) -> None:
    script = "import benzer\nassert benzer.spark.__name__ == 'benzer.spark' and 'spark' in dir(benzer)"
    assert loaded(script, ["numpy", "pyspark", *HEAVY], tmp_path) == []


HEAVY = (
    "asyncio", "cv2", "concurrent", "email", "hashlib", "http", "importlib.metadata", "jinja2", "logging", "mmap",
    "multiprocessing", "pandas", "PIL", "pkg_resources", "plotext", "pyarrow", "redis", "rich", "scipy", "sqlite3",
    "starlette", "subprocess", "tempfile", "unittest", "zipfile", "zstandard",
)  # fmt: skip
"""What takes milliseconds to import, and is not needed to compare the texts of a file."""


def loaded(script: str, names: Sequence[str], folder: Path) -> list[str]:
    """Those modules that are there when a script has run in a process of its own."""
    tell = f"print([one for one in {tuple(names)!r} if one in sys.modules], file=sys.stderr)"
    child = f"import atexit, sys\natexit.register(lambda: {tell})\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", child], capture_output=True, text=True, timeout=60, check=True, cwd=folder
    )
    found: list[str] = ast.literal_eval(done.stderr.splitlines()[-1])
    return found


def test_the_import_alone_loads_no_heavy_room(tmp_path: Path) -> None:
    assert (
        loaded("import benzer", ["numpy", "click", "json", "pathlib", "dataclasses", *HEAVY], tmp_path) == []
    )


@pytest.mark.parametrize(
    "script",
    [
        "import benzer",
        "import benzer\nbenzer.find_duplicates({'a': 'one two three', 'b': 'One two three'}, method='auto')",
        "import benzer\nbenzer.Index.open('memory:').add([benzer.Document('a', {'text': 'one'})])",
        "import benzer\nbenzer.MinHash('kmins', family='modular').signature([1, 2, 3])",
    ],
)
def test_no_run_loads_the_experiments(tmp_path: Path, script: str) -> None:
    assert loaded(script, ["benzer.experiments", "matplotlib"], tmp_path) == []


@pytest.mark.parametrize("arguments", [["--help"], ["dedupe", "--help"]])
def test_help_loads_neither_arrays_nor_tables(tmp_path: Path, arguments: list[str]) -> None:
    script = f"from benzer.cli import main\nmain({arguments})"
    assert loaded(script, ["numpy", "benzer._native", *HEAVY], tmp_path) == []


def test_a_short_run_loads_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(
        '{"text": "one two three"}\n{"text": "One two three!"}\n', encoding="utf-8"
    )
    script = "from benzer.cli import main\nmain(['dedupe', 'docs.jsonl', '--output', 'out'])"
    others = ["benzer.index", "benzer.planner", "benzer.report", "benzer.fields.image", "benzer.cli.search"]
    assert loaded(script, [*others, *HEAVY], tmp_path) == []
    assert (tmp_path / "out" / "summary.json").exists()


def test_every_public_name_is_documented_with_an_example() -> None:
    others = [f"{module}.{name}" for module, name in names_of_modules() if name not in NO_EXAMPLE]
    bare = [
        name
        for name in [*(f"benzer.{name}" for name in benzer.__all__ if name not in NO_EXAMPLE), *others]
        if ">>>" not in (resolve_name(name).__doc__ or "")
    ]
    assert bare == []


NO_EXAMPLE = {
    "__version__", "Alarm", "Cluster", "Field", "InputError", "Pair", "Price", "Prices", "SettingsError",
    "StorageError",
}  # fmt: skip
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"


def names_of_modules() -> list[tuple[str, str]]:
    """The modules and their names in the second table of the page."""
    rows = re.findall(r"^\| `(benzer\.[\w.]+)` \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(module, name) for module, names in rows for name in re.findall(r"`(\w+)`", names)]


def test_the_reference_names_the_package_and_existing_names_of_modules() -> None:
    first = PAGE.read_text(encoding="utf-8").split("## Modules")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", first, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(benzer.__all__)
    assert [name for name in names_of_modules() if not hasattr(import_module(name[0]), name[1])] == []


@pytest.mark.parametrize("given, expected", [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_the_command_line_starts_no_threads_for_linear_algebra(given: dict[str, str], expected: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    code = "import os, sys, benzer.cli; print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], env=inherited | given, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [expected, "False"]
