"""The modules of the package form layers, and each class and each sentence is defined once."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "benzer"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
CLASSES = [
    (path, node)
    for path, tree in TREES.items()
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
]
SHORTEST_SENTENCE = 40
"""Shorter texts, such as labels, may be equal by chance."""
WORDS = 4
AVOIDED = {"arrived", "asked", "at", "found", "held", "one", "show", "shown", "taken", "told"}
"""Names that say neither what a value is nor what a function does."""
PUBLISHED = {
    ("benzer.index.upkeep", "Taken"),
    ("benzer.recall.estimate", "asked"),
    ("benzer.recall.estimate", "found"),
    ("benzer.results.duplicates", "told"),
    ("benzer.service.questions.asked", "Asked"),
    ("benzer.service.resources.duplicate_tables", "at"),
    ("benzer.service.resources.duplicates", "show"),
    ("benzer.service.resources.indexes", "show"),
    ("benzer.service.resources.seen", "held"),
    ("benzer.service.resources.similar", "asked"),
    ("benzer.service.resources.thumbnails", "show"),
}
"""Names of the public API, JSON keys, query parameters, and functions whose names are operation ids of OpenAPI."""


def module_of(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.Module, modules: Collection[str]) -> Iterator[str]:
    """The modules that a file imports anywhere in it, for type checkers only too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else str(node.module)


def test_no_modules_import_each_other_in_a_cycle() -> None:
    modules = {module_of(path) for path in TREES}
    graph = {
        module_of(path): modules.intersection(imports(tree, modules)) - {module_of(path)}
        for path, tree in TREES.items()
    }
    cycle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = error.args[1]
    assert cycle == [], "each module imports the one before it: move what they share below both"


def is_model(path: Path, node: ast.ClassDef) -> bool:
    """Whether a class is a model of `/v1`: its name is published as that of a schema of the OpenAPI document."""
    if PACKAGE / "service" not in path.parents:
        return False
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    return "BaseModel" in bases or any(is_model(*other) for other in CLASSES if other[1].name in bases)


def test_each_public_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, node in CLASSES:
        if not is_model(path, node):
            places[node.name].append(module_of(path))
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def sentences(tree: ast.Module) -> Iterator[str]:
    """The texts of a file that read as sentences, with {} for each value; docstrings are left out."""
    skipped = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            text = node.value
        else:
            continue
        if len(text) >= SHORTEST_SENTENCE and sum(word.isalpha() for word in text.split()) >= WORDS:
            yield " ".join(text.split())


def test_each_sentence_for_users_is_defined_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in TREES.items():
        for sentence in sentences(tree):
            places[sentence].append(module_of(path))
    repeated = {sentence: modules for sentence, modules in places.items() if len(modules) > 1}
    assert repeated == {}, "define the sentence once, and use that definition"


def definitions(tree: ast.Module) -> Iterator[str]:
    """Yield the names of all functions, classes, parameters, variables and attributes that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ExceptHandler | ast.alias):
            yield node.name or "" if isinstance(node, ast.ExceptHandler) else node.asname or ""


def test_values_are_named_by_nouns_and_functions_by_verbs() -> None:
    avoided = {
        (module_of(path), name)
        for path, tree in TREES.items()
        if PACKAGE / "sources" not in path.parents
        for name in definitions(tree)
        if name.strip("_").lower() in AVOIDED
    }
    assert avoided - PUBLISHED == set(), "use the terms of the field: matches, query, stored, report"
    assert PUBLISHED - avoided == set(), "remove names that are no longer used"
