"""Read the user-facing texts of a file, with the line of each.

Markdown without its code, help texts, docstrings and error messages of Python modules, the visible text of HTML
templates, the strings of JavaScript, and the comments of Rust. Code inside a text is blanked, so that positions and
lines stay the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARKDOWN_BLOCK = re.compile(r"^(```|~~~).*?^\1|<!--.*?-->", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"``[^`]*``|`[^`\n]*`|\]\([^)\s]*\)|<https?:[^>]*>")
HTML_CODE = re.compile(
    r"<(script|style|code|pre)\b.*?</\1>|<!--.*?-->|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}",
    re.DOTALL | re.IGNORECASE,
)
HTML_TAG = re.compile(r"<[^<>]*>", re.DOTALL)
HTML_TEXT_ATTRIBUTE = re.compile(r'\b(?:alt|title|placeholder|aria-label)="([^"]*)"')
JAVASCRIPT_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.DOTALL
)
RUST_COMMENT = re.compile(r"(?:^[ \t]*//[/!]? ?.*\n?)+", re.MULTILINE)
RUST_PREFIX = re.compile(r"^[ \t]*//[/!]? ?", re.MULTILINE)
DOCTEST = re.compile(r"^[ \t]*>>>.*?(?=^[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
TEXT_ARGUMENTS = {"help", "short_help", "epilog", "description", "summary"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Text:
    """A text of a file: its kind, its first line, and its content, with blocks of code blanked."""

    kind: str
    line: int
    content: str

    @property
    def prose(self) -> str:
        """The content with code inside sentences and the targets of links blanked, too."""
        return blank(INLINE_CODE, self.content)


def texts(path: Path) -> list[Text]:
    """The user-facing texts of a file; none if its type has none."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [Text("markdown", 1, blank(MARKDOWN_BLOCK, content))]
    if path.suffix == ".html":
        return [Text("page", 1, html_text(content))]
    if path.suffix == ".js":
        return list(javascript_strings(content))
    if path.suffix == ".rs":
        return list(rust_comments(content))
    if path.suffix == ".py":
        return sorted(python_texts(ast.parse(content)), key=lambda text: text.line)
    return []


def blank(pattern: re.Pattern[str], content: str) -> str:
    """Replace each match by spaces of the same length; line ends stay.

    >>> blank(INLINE_CODE, "run `a b` now")
    'run       now'
    """
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), content)


def html_text(content: str) -> str:
    """The visible text of a template: between tags, and in attributes such as `title`."""
    content = blank(HTML_CODE, content)
    return HTML_TAG.sub(lambda match: attribute_text(match[0]), content)


def attribute_text(tag: str) -> str:
    """A tag with everything blanked but the values of the attributes that are read aloud or shown."""
    result = list(re.sub(r"[^\n]", " ", tag))
    for match in HTML_TEXT_ATTRIBUTE.finditer(tag):
        result[match.start(1) : match.end(1)] = match[1]
    return "".join(result)


def javascript_strings(content: str) -> Iterator[Text]:
    """The strings of a script that hold at least two words."""
    for match in JAVASCRIPT_TOKEN.finditer(content):
        token = match[0]
        string = re.sub(r"\$\{[^{}]*\}", " … ", token[1:-1])
        if not token.startswith("/") and " " in string.strip():
            yield Text("script", content.count("\n", 0, match.start()) + 1, string)


def rust_comments(content: str) -> Iterator[Text]:
    """Yield the blocks of comment lines of a Rust file, without the slashes."""
    for match in RUST_COMMENT.finditer(content):
        yield Text("comment", content.count("\n", 0, match.start()) + 1, RUST_PREFIX.sub("", match[0]))


def python_texts(tree: ast.Module) -> Iterator[Text]:
    """The public docstrings, the help texts and the error messages of a module."""
    for node in public_nodes(tree):
        if isinstance(node, DOCUMENTED) and (docstring := docstring_node(node)):
            content = blank(DOCTEST, str(docstring.value))
            yield Text("docstring", docstring.lineno, content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from call_texts(node)


def public_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """A module, its public functions and classes, and their public methods."""
    yield tree
    for node in tree.body:
        if isinstance(node, DOCUMENTED[1:]) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (
                    inner
                    for inner in node.body
                    if isinstance(inner, DOCUMENTED[1:]) and not inner.name.startswith("_")
                )


def docstring_node(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> ast.Constant | None:
    """The docstring of a module, class or function."""
    first = node.body[0] if node.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first.value
    return None


def call_texts(call: ast.Call) -> Iterator[Text]:
    """The message of an error that a call makes, or the help text among its arguments."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name.endswith(("Error", "Exception", "Parameter", "Refusal")):
        yield from (Text("error", node.lineno, string(node)) for node in call.args if string(node))
    for keyword in call.keywords:
        if keyword.arg in TEXT_ARGUMENTS and (content := string(keyword.value)):
            yield Text("help", keyword.value.lineno, content)


def string(node: ast.expr) -> str:
    """The text of a string or f-string, with a placeholder for each value; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(string(part) or "…" for part in node.values)
    if isinstance(node, ast.BinOp):
        return string(node.left) + string(node.right)
    return ""
