"""Text of a documentation file, without its markup."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

MARKUP = frozenset({".html", ".htm", ".xhtml", ".page"})
SUFFIXES = MARKUP | {".txt", ".pod", ".md", ".rst", ".gz", ".dz"}
_BLOCK = re.compile(rb"<(?=(?:p|li|h[1-6]|div|tr|pre|dt|dd|br|table|section|ul|ol|title)\b)", re.IGNORECASE)
_UNREAD = ["script", "style", "nav", "head", "form", "svg", "noscript", "button"]
_SPACE = re.compile(r"[^\S\n]+")
_ROFF_COMMAND = re.compile(r"^[.'].*$", re.MULTILINE)
_MANUAL = re.compile(r"\.\d\w*\.gz$")
_LONG_LINE = re.compile(r".{1,2000}(?:\s|$)|.{2000}")


def lines(path: Path) -> Iterator[str]:
    """The text lines of one file: stripped, with single spaces, not empty, and at most 2,001 characters long."""
    for line in _SPACE.sub(" ", _read(path)).split("\n"):
        stripped = line.strip()
        if len(stripped) > 2000:
            yield from (part.strip() for part in _LONG_LINE.findall(stripped))
        elif stripped:
            yield stripped


def _read(path: Path) -> str:
    if path.suffix in {".gz", ".dz"}:
        return _read_compressed(path)
    data = path.read_bytes()
    return _strip_markup(data) if path.suffix in MARKUP else data.decode("utf-8", "replace")


def _read_compressed(path: Path) -> str:
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error):
        return ""
    if b"\0" in data[:4096]:
        return ""
    if data[:1] == b"<":
        return _strip_markup(data)
    text = data.decode("utf-8", "replace")
    return _ROFF_COMMAND.sub("", text) if _MANUAL.search(path.name) else text


def _strip_markup(data: bytes) -> str:
    tree = LexborHTMLParser(_BLOCK.sub(b"\n<", data))
    tree.strip_tags(_UNREAD)
    return tree.body.text(separator="") if tree.body is not None else ""
