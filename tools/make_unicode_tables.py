"""Write crates/benzer-core/src/text/tables.rs: the properties of code points that the tokenizer needs.

`python tools/make_unicode_tables.py` needs `pip install unicodedata2` in the version named in the header of the
table, because the Unicode version of Python's own `unicodedata` depends on the version of Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

import unicodedata2 as ucd

BLOCK = 128
TARGET = Path(__file__).parents[1] / "crates/benzer-core/src/text/tables.rs"
UNSPACED = [
    (0x0E00, 0x0E7F),
    (0x0E80, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x19E0, 0x19FF),
    (0x3005, 0x3007),
    (0x303B, 0x303B),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
]
# Classes, as in text/class.rs.
OTHER, WORD, UNSPACED_WORD, MARK, FORMAT, SYMBOL, SPACE = range(7)
INERT, SIMPLE, COMPLEX = range(3)


def unspaced(code: int) -> bool:
    return any(low <= code <= high for low, high in UNSPACED)


def general_class(char: str) -> int:
    category = ucd.category(char)
    if category[0] in "LN":
        return UNSPACED_WORD if unspaced(ord(char)) else WORD
    if category[0] == "M":
        return MARK
    if category == "Cf":
        return FORMAT
    if char.isspace():
        return SPACE
    return SYMBOL if category[0] in "PS" else OTHER


def composing_seconds() -> set[str]:
    """Characters that may merge with the one before them under canonical composition."""
    seconds = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for code in range(0x110000):
        parts = ucd.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (chr(int(part, 16)) for part in parts)
            if ucd.normalize("NFC", first + second) == chr(code):
                seconds.add(second)
                if general_class(first) not in (WORD, UNSPACED_WORD):
                    assert general_class(chr(code)) not in (WORD, UNSPACED_WORD), hex(code)
    return seconds


def folded(char: str) -> str:
    return str(ucd.normalize("NFKC", ucd.normalize("NFKC", char).casefold()))


def run_class(char: str, seconds: set[str]) -> int:
    general = general_class(char)
    if general in (MARK, FORMAT):
        return COMPLEX
    starts = ucd.normalize("NFKD", char)[0]
    if starts in seconds or char in seconds or ucd.combining(starts):
        return COMPLEX
    words = any(general_class(part) in (WORD, UNSPACED_WORD) for part in folded(char))
    if general in (WORD, UNSPACED_WORD):
        fold = char.casefold()
        simple = len(fold) == 1 and folded(char) == fold and ucd.normalize("NFKC", char) == char
        return SIMPLE if simple and general_class(fold) == general else COMPLEX
    return COMPLEX if words else INERT


def entries() -> tuple[list[int], list[tuple[int, str]]]:
    seconds, many, table = composing_seconds(), [], []
    for code in range(0x110000):
        char = chr(code)
        if 0xD800 <= code <= 0xDFFF:
            table.append(0)
            continue
        category = ucd.category(char)
        if category != "Cn":
            assert char.isalnum() == (category[0] in "LN") or ucd.unidata_version != "15.1.0"
        fold = char.casefold() if category != "Cn" else char
        delta = ord(fold) - code if len(fold) == 1 else 0
        if len(fold) > 1:
            many.append((code, fold))
        table.append((delta << 5) | (run_class(char, seconds) << 3) | general_class(char))
    return table, many


def rows(values: list[int], width: int = 16) -> str:
    lines = [
        ", ".join(str(value) for value in values[at : at + width]) for at in range(0, len(values), width)
    ]
    return "".join(f"    {line},\n" for line in lines)


def main() -> None:
    table, many = entries()
    blocks: dict[tuple[int, ...], int] = {}
    index = [
        blocks.setdefault(tuple(table[at : at + BLOCK]), len(blocks)) for at in range(0, len(table), BLOCK)
    ]
    assert len(blocks) < 65536
    flat = [value for block in blocks for value in block]
    folds = "".join(f"    (0x{code:X}, {rust_string(fold)}),\n" for code, fold in many)
    TARGET.write_text(
        "//! Made by tools/make_unicode_tables.py; do not edit.\n\n"
        "/// The Unicode version of the tables.\n"
        f'pub const UNICODE_VERSION: &str = "{ucd.unidata_version}";\n'
        "/// Block number of each 128 code points.\n"
        f"#[rustfmt::skip]\npub static INDEX: [u16; {len(index)}] = [\n{rows(index)}];\n"
        "/// Case-folding difference << 5 | run class << 3 | general class.\n"
        f"#[rustfmt::skip]\npub static ENTRIES: [i32; {len(flat)}] = [\n{rows(flat)}];\n"
        "/// Case foldings to several code points, by code point.\n"
        f"#[rustfmt::skip]\npub static FOLDS: [(u32, &str); {len(many)}] = [\n{folds}];\n",
        encoding="utf-8",
    )
    print(
        f"Unicode {ucd.unidata_version}, Python {sys.version.split()[0]}: {len(blocks)} blocks, {len(many)} folds"
    )


def rust_string(text: str) -> str:
    return '"' + "".join(f"\\u{{{ord(char):X}}}" for char in text) + '"'


if __name__ == "__main__":
    main()
