"""Formats numbers for people: the only place with number formats, for messages, the terminal and web pages."""

from __future__ import annotations

import math
import re

HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def count(number: int) -> str:
    """Format a count with separators.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def decimal(value: float) -> str:
    """Format a number with all its digits.

    >>> decimal(90.0), decimal(0.875)
    ('90', '0.875')
    """
    return f"{value:g}"


def counted(number: int, item: str, many: str | None = None) -> str:
    """Format a count with its noun.

    >>> counted(1, "document"), counted(2000, "document"), counted(2, "copy", "copies")
    ('1 document', '2,000 documents', '2 copies')
    """
    return f"{number:,} {item if number == 1 else many or item + 's'}"


def others(number: int) -> str:
    """Format the number of things that are not listed.

    >>> others(2000)
    'and 2,000 more'
    """
    return f"and {number:,} more"


def amount(size: int) -> str:
    """Format a number of bytes.

    >>> amount(1_234_000_000), amount(5_300)
    ('1.2 GB', '5.3 kB')
    """
    power = min((len(str(size)) - 1) // 3, 4)
    return f"{size / 1000**power:.{min(power, 1)}f} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def brief(text: object, length: int = 200) -> str:
    """Format a name or a value of any length in few letters.

    >>> brief("x" * 7, 5), brief(12)
    ('xxxx…', '12')
    """
    written = str(text)
    return written if len(written) <= length else f"{written[: length - 1]}…"


def snippet(text: str, length: int = 80) -> str:
    """Format the beginning of a text in one line, without lines such as "=====".

    >>> snippet("=====\\nA title\\n=====\\nand more")
    'A title and more'
    >>> snippet("one two\\n  three", 9)
    'one two …'
    """
    text = re.sub(r"([^\w\s])\1{3,}", " ", text[: 8 * length])
    return brief(" ".join(text.split()), length)


def plain(id: object) -> str:
    """Format an id; characters that would reorder, hide or break the surrounding text are shown as �.

    >>> plain("\u202egnp.exe"), plain(7)
    ('�gnp.exe', '7')
    """
    return HIDDEN.sub("�", str(id))


def share(part: float, whole: float) -> str:
    """Format a part of a whole in per cent; only the whole gives 100 and only nothing gives 0.

    >>> [share(*one) for one in ((1, 8), (99999, 100000), (1, 100000), (0, 0))]
    ['12.5 %', '99.9 %', '0.1 %', '–']
    """
    if not whole:
        return "–"
    rounded = round(100 * part / whole, 1)
    if 0 < part < whole:
        rounded = min(max(rounded, 0.1), 99.9)
    return f"{rounded:.1f} %"


def whole_percent(part: float) -> str:
    """Format a share in whole per cent, so that only all reads as 100 and only nothing as 0.

    >>> whole_percent(0.999), whole_percent(1.0), whole_percent(0.001), whole_percent(0.786)
    ('99 %', '100 %', '1 %', '79 %')
    """
    return f"{min(max(round(100 * part), part > 0), 99 if part < 1 else 100):d} %"


def percentage(value: float) -> str:
    """Format a requested probability in per cent, with all its digits.

    >>> percentage(0.95), percentage(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * value:.6g} %"


def about(number: float) -> str:
    """Format an estimate with two significant digits.

    >>> about(1234567.0), about(87.0), about(0.0)
    ('1,200,000', '87', '0')
    """
    size = max(len(str(int(number))) - 2, 0)
    return f"{round(int(number), -size):,}"


def about_seconds(seconds: float) -> str:
    """Format a predicted time.

    >>> about_seconds(0.00002), about_seconds(0.0421), about_seconds(3.14159), about_seconds(421.0)
    ('0.001 s', '0.042 s', '3.1 s', '420 s')
    """
    if seconds < 10:
        return f"{max(float(f'{seconds:.2g}'), 0.001):g} s"
    return f"{about(seconds)} s"


def short(number: float) -> str:
    """Format a number in a few characters, for axes and progress bars.

    >>> short(950), short(1500), short(2000000), short(1.2e10)
    ('950', '1.5k', '2M', '12G')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def ratio(value: float, digits: int = 3) -> str:
    """Format a probability so that only a true 1 reads as 1.

    >>> ratio(0.99999), ratio(1.0), ratio(0.8, 2)
    ('0.999', '1.000', '0.80')
    """
    top = 1 - 10**-digits
    return f"{min(round(value, digits), top) if value < 1 else value:.{digits}f}"


def rounded(value: float) -> str:
    """Format an upper bound of a probability.

    >>> rounded(0.98999), rounded(1.0)
    ('0.990', '1.000')
    """
    return f"{value:.3f}"


def likeness(similarity: float) -> str:
    """Format a similarity, rounded down, so that only 1 is shown as 1 and none below the threshold as the threshold.

    >>> likeness(0.99999), likeness(1.0), likeness(0.8), likeness(0.29), likeness(0.7997)
    ('0.999', '1.000', '0.800', '0.290', '0.799')
    """
    return f"{math.floor(1000 * similarity + 1e-9) / 1000:.3f}"


def setting(value: float) -> str:
    """Format a threshold or recall with all its digits, at least two.

    >>> setting(0.8), setting(0.875)
    ('0.80', '0.875')
    """
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


def duration(seconds: float) -> str:
    """Format a time.

    >>> duration(0.0421), duration(12.34), duration(185)
    ('42 ms', '12.3 s', '3 min 05 s')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def without_passwords(command: str) -> str:
    """Format a command without the passwords that its URLs may hold.

    >>> without_passwords("benzer dedupe a.jsonl --against redis://reader:secret@localhost/0")
    'benzer dedupe a.jsonl --against redis://reader:***@localhost/0'
    >>> without_passwords("--against 'redis://localhost?password=secret&db=1'")
    "--against 'redis://localhost?password=***&db=1'"
    """
    # up to the last @ of a word, because a password may contain an unescaped @
    command = re.sub(r"(?<=://)([^/@:\s]*):\S*@", r"\1:***@", command)
    return re.sub(r"(?<=[?&]password=)[^&\s'\"]*", "***", command)
