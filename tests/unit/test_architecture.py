"""Links point to files, and ARCHITECTURE.md names every module and only existing paths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "benzer"
CORE = ROOT / "crates" / "benzer-core" / "src"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
BELOW_NATIVE = ["errors", "document", "registry"]


def modules(folder: Path, suffix: str) -> Iterator[str]:
    """The names of the modules and packages of a folder."""
    for path in folder.iterdir():
        if path.suffix == suffix and path.stem not in {"__init__", "lib"}:
            yield path.stem
        elif path.is_dir() and any(path.glob(f"*{suffix}")):
            yield path.name


def links(page: Path) -> list[str]:
    """The targets of a page's links inside the project, without their anchors."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text)
    return [link.split("#")[0] for link in targets if not re.match(r"[a-z]+:|#", link)]


def named_in_architecture() -> set[str]:
    """The names in code marks in ARCHITECTURE.md, reduced to the last part of the path."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    names = re.findall(r"`([\w./-]+)`", text)
    return {Path(name).stem for name in names}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_point_to_files_of_the_project(page: Path) -> None:
    broken = [link for link in links(page) if not (page.parent / link).exists()]
    assert broken == []


def test_every_module_of_the_package_is_named_in_architecture() -> None:
    assert sorted(set(modules(PACKAGE, ".py")) - named_in_architecture()) == []


def test_every_module_of_the_core_is_named_in_architecture() -> None:
    assert sorted(set(modules(CORE, ".rs")) - named_in_architecture()) == []


def test_every_path_named_in_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", text)
    places = [ROOT, PACKAGE, CORE]
    missing = [path for path in paths if not any((place / path).exists() for place in places)]
    assert missing == []


def test_modules_below_the_native_core_do_not_import_it() -> None:
    """The import graph does not contain the extension module, so this test checks its layer."""
    importing = [name for name in BELOW_NATIVE if "benzer._native" in imported(PACKAGE / f"{name}.py")]
    assert importing == []


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return froms | {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
