"""Reads one JSON array of objects, element by element."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from benzer.errors import InputError
from benzer.sources.base import Keep, ReadOptions, chosen
from benzer.sources.jsonl import JsonlSource
from benzer.sources.rows import BadRow, check_columns
from benzer.sources.streams import create

CHUNK_BYTES = 1 << 20
SPACE = " \t\r\n"
DECODER = json.JSONDecoder()


class JsonArraySource(JsonlSource):
    """One JSON array of objects, plain or compressed. A row's number is that of its element, from 1.

    Elements are cut out of the array and read like JSON lines. A copy is an array of the chosen elements, byte for
    byte, one after the other on lines of their own. Cost: each element is parsed twice, once in Python; the array is
    never in memory as a whole.
    """

    unit = "element"
    in_place = False

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Write an array of the chosen elements (see `Source`)."""
        rows = chosen(self._report, keep, self.name)
        self._file.check_unchanged(self._stamp)
        separator = b"[\n"
        with create(destination, self._file.compression) as copy:
            for (_, element), wanted in zip(self._lines(), rows, strict=True):
                if wanted:
                    copy.write(separator + element)
                    separator = b",\n"
            copy.write(b"\n]\n" if separator == b",\n" else b"[]\n")
        return int(keep.sum())

    def _check(self, options: ReadOptions) -> None:
        rows = (row for row in self._shortened_rows() if not isinstance(row, BadRow))
        check_columns(self.name, options, rows, nested=True)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with self._file.open() as stream:
            yield from enumerate(elements(stream, self.name), start=1)

    def _pieces(self) -> Iterator[tuple[str | None, bytes | None, int]]:
        lines: list[bytes] = []
        first = size = 0
        for number, element in self._lines():
            first = first or number
            lines.append(element.replace(b"\r", b" ").replace(b"\n", b" "))
            size += len(element)
            if size > CHUNK_BYTES:
                yield None, b"\n".join(lines), first
                lines, first, size = [], 0, 0
        if lines:
            yield None, b"\n".join(lines), first


def elements(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The elements of an array as they are written; an `InputError` where it is not valid JSON.

    >>> import io
    >>> list(elements(io.BytesIO(b'[{"a": 1}, {"a": "]"}]'), "a.json"))
    [b'{"a": 1}', b'{"a": "]"}']
    """
    text, done, size = _whole(stream.read(CHUNK_BYTES), stream).removeprefix("\ufeff"), 0, CHUNK_BYTES
    at = _skipped(text, 0)
    opening = "["
    while True:
        end, mark = _element(text, at, opening)
        if end is None:  # the element goes on, or the array is broken
            more = _whole(stream.read(size), stream)
            if not more:
                raise _broken(name, done)
            text, at, size = text[at:] + more, 0, 2 * size
            continue
        element = text[at + 1 : end].strip(SPACE)
        if element:
            done += 1
            yield element.encode("utf-8", "surrogateescape")
        at, opening, size = end, ",", CHUNK_BYTES
        if mark == "]":
            _check_end(text[at + 1 :], stream, name)
            return


def _element(text: str, at: int, opening: str) -> tuple[int | None, str]:
    """Where the comma or bracket stands that follows the element after `opening`, and which; None where it is missing.

    >>> _element('[{"a": 1}, ...', 0, "["), _element("[ ]", 0, "["), _element('[{"a": 1', 0, "[")
    ((9, ','), (2, ']'), (None, ''))
    """
    start = _skipped(text, at + 1)
    if text[at : at + 1] != opening or start == len(text):
        return None, ""
    if opening == "[" and text[start] == "]":
        return start, "]"
    try:
        _, end = DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, ""
    end = _skipped(text, end)
    return (end, text[end]) if text[end : end + 1] in ("]", ",") else (None, "")


def _whole(chunk: bytes, stream: BinaryIO) -> str:
    """The text of some bytes, and of those that end its last character."""
    while chunk and not chunk[-1:].isascii() and (more := stream.read(1)):
        chunk += more
    return chunk.decode("utf-8", "surrogateescape")


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def _check_end(rest: str, stream: BinaryIO, name: str) -> None:
    while rest or (rest := stream.read(CHUNK_BYTES).decode("utf-8", "replace")):
        if rest.strip(SPACE):
            raise InputError(
                f"{name} contains more than one JSON array: write one array, or one object per line"
            )
        rest = ""


def _broken(name: str, done: int) -> InputError:
    where = f"after element {done}" if done else "at its beginning"
    return InputError(f"{name} is not a valid JSON array {where}: correct it, or write one object per line")
