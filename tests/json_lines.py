"""Hostile JSON lines, and what the `json` module reads of them by the rules of Benzer's JSONL sources."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from tests.reference.text import replace_surrogates
from tests.texts import PIECES

BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r"
DEEPEST = 300  # `json` reads by recursion
STRANGE_BYTES = (
    b"\x00", b"\x1f", b"\x7f", b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xff", BOM,
    b"\n", b"\r", b"\r\n", b"\\", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\xe2\x80\xa8", b"\xc2\x85", b"//",
)  # fmt: skip
ESCAPES = (
    r"\"", r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r"\u0000", r"\u00e9", r"\u2028", r"\ud83d\udc0c",
    r"\ud83d", r"\udc0c", r"\ud83d\ud83d\udc0c", r"\uD83D\n", r"\ud83d\u0041", r"\uFFFF", r"\u0022", r"\ufeff",
)  # fmt: skip
BROKEN_ESCAPES = (r"\x41", r"\u12", r"\u12g4", r"\U0041", r"\'", "\\", r"\ud83d\u12", "\t", "\x01")
NUMBERS = (
    "0", "-0", "7", "-12", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1" * 400, "1.0",
    "-0.0", "1e5", "1E-7", "1e400", "-1e-400", "0.1e+01", "123456789.000001",
)  # fmt: skip
BROKEN_NUMBERS = (
    "01",
    "+1",
    ".5",
    "5.",
    "1e",
    "1e+",
    "-",
    "--1",
    "0x1f",
    "1_000",
    "NaN",
    "Infinity",
    "-Infinity",
)
KEYS = ("text", "id", "a", "", "Text", "text ", r"te\u0078t", r"\u0069d", r"\u0061", r"\ud83d")


@dataclass(frozen=True)
class Document:
    """What a row is read as: its number, id (None: to be made) and text (None: null)."""

    row: int
    id: str | int | None
    text: str | None


class _Float(str):
    """A number with a fraction or an exponent, as written."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def expected(data: bytes) -> tuple[list[Document], list[int]]:
    """The documents of some lines with the columns "text" and "id" (not required), and the malformed rows."""
    documents, malformed = [], []
    for row, line in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        if not line.strip(BLANK):
            continue
        try:
            documents.append(_document(row, line))
        except ValueError:
            malformed.append(row)
    return documents, malformed


def _document(row: int, line: bytes) -> Document:
    content = json.loads(
        line.decode(), parse_constant=_no_constant, parse_float=_Float, parse_int=_Integer, strict=True
    )
    if type(content) is not dict:
        raise ValueError("not an object")
    if "text" not in content or type(content["text"]) not in (str, type(None)):
        raise ValueError("no text")
    text = content["text"]
    return Document(row, _id(content.get("id")), None if text is None else replace_surrogates(text))


class _Integer(str):
    """A number without fraction and exponent, as written: Python limits the digits of an `int`."""


def _id(given: Any) -> str | int | None:
    if given is None:
        return None
    if type(given) is _Integer:
        number = int(given) if len(given) < 30 else 2**70
        if -(2**63) <= number < 2**63:
            return number
    if type(given) is not str:
        raise ValueError("no id")
    return replace_surrogates(given)


class Lines:
    """Makes lines that are the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def data(self) -> bytes:
        """Some lines with any ends; about half of them are damaged, and some data begin with a byte order mark."""
        chance = self._random
        data = b"".join(
            self._line() + chance.choice([b"\n"] * 5 + [b"\r\n", b"\n\n", b" \r\n", b"\t\n"])
            for _ in range(chance.randint(1, 8))
        )
        if chance.random() < 0.2:
            data = data.rstrip(b"\r\n")
        return BOM + data if chance.random() < 0.15 else data

    def text(self) -> str:
        """A text in many scripts."""
        return "".join(self._random.choices(PIECES, k=self._random.randint(0, 12)))

    def _line(self) -> bytes:
        line = self._object(3).encode("utf-8", "surrogatepass")
        if self._random.random() < 0.4:
            line = self._damaged(line)
        return line

    def _damaged(self, line: bytes) -> bytes:
        data = bytearray(line)
        for _ in range(self._random.randint(1, 3)):
            place = self._random.randint(0, len(data))
            stop = min(len(data), place + self._random.choice([0, 0, 1, 3]))
            data[place:stop] = self._random.choice(STRANGE_BYTES)
        return bytes(data)

    def _object(self, depth: int) -> str:
        members = [
            f"{self._space()}{self._key()}{self._space()}:{self._value(depth)}"
            for _ in range(self._random.randint(0, 4))
        ]
        if depth == 3 and self._random.random() < 0.85:
            members.insert(self._random.randint(0, len(members)), f'"text": {self._string()}')
        return "{" + ",".join(members) + self._space() + "}"

    def _key(self) -> str:
        return f'"{self._random.choice(KEYS)}"' if self._random.random() < 0.9 else self._string()

    def _value(self, depth: int) -> str:
        makers: list[tuple[int, Callable[[], str]]] = [
            (4, self._string),
            (3, lambda: self._random.choice(NUMBERS)),
            (2, lambda: self._random.choice(("null", "true", "false"))),
            (1, lambda: self._random.choice((*BROKEN_NUMBERS, "nul", "True", "undefined", "", "'a'"))),
            (1, self._nested),
        ]
        if depth:
            makers += [(2, lambda: self._object(depth - 1)), (2, lambda: self._array(depth - 1))]
        weights, functions = zip(*makers, strict=True)
        return self._space() + self._random.choices(functions, weights)[0]() + self._space()

    def _array(self, depth: int) -> str:
        values = [self._value(depth) for _ in range(self._random.randint(0, 3))]
        return "[" + ",".join(values) + self._random.choice(["]"] * 12 + [",]", "", "}"])

    def _nested(self) -> str:
        depth = self._random.choice([1, 2, 63, 64, 65, 128, DEEPEST])
        inner = self._random.choice(["", "1", '"]"', "{}"])
        if self._random.random() < 0.5:
            return "[" * depth + inner + "]" * (depth - (self._random.random() < 0.1))
        return '{"a":' * depth + (inner or "0") + "}" * depth

    def _string(self) -> str:
        chance = self._random
        pieces = []
        for _ in range(chance.choice([0, 1, 2, 3, 8, 30])):
            kind = chance.random()
            if kind < 0.5:
                pieces.append(json.dumps(chance.choice(PIECES), ensure_ascii=chance.random() < 0.4)[1:-1])
            elif kind < 0.985:
                pieces.append(chance.choice(ESCAPES))
            else:
                pieces.append(chance.choice(BROKEN_ESCAPES))
        return '"' + "".join(pieces) + '"'

    def _space(self) -> str:
        return self._random.choice([""] * 6 + [" ", "  ", "\t", "\r", " " * 70])
