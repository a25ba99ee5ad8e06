"""Recognizes tables of separated values, and finds their delimiter."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from benzer.errors import SettingsError

DELIMITERS = (",", "\t", ";", "|")
"""The delimiters that are recognized, of equally likely ones the first."""
COLUMN_NAME = re.compile(r"\w[\w .:/()#-]{0,59}")
"""What looks like the name of a column: prose with a comma does not."""
NAMED = {"tab": "\t", r"\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def checked_delimiter(given: str | None) -> str | None:
    r"""A delimiter as the user may write it; None stays None.

    >>> checked_delimiter("tab"), checked_delimiter(";"), checked_delimiter(None)
    ('\t', ';', None)
    >>> checked_delimiter("::")
    Traceback (most recent call last):
    benzer.errors.SettingsError: delimiter must be one ASCII character or "tab", got "::"
    """
    if given is None:
        return None
    delimiter = NAMED.get(given.lower(), given)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise SettingsError(f'delimiter must be one ASCII character or "tab", got "{given}"')
    return delimiter


def table_delimiter(rows: Sequence[str]) -> str | None:
    r"""The delimiter that parts all rows into as many cells as the header has; None where they are no table.

    >>> table_delimiter(["id;text", "1;one, two"]), table_delimiter(["Dear Sir, thanks", "for this, that"])
    (';', None)
    """
    return next((delimiter for delimiter in DELIMITERS if _is_table(rows, delimiter)), None)


def found_delimiter(rows: Sequence[str], usual: str) -> str:
    """The delimiter of a file that is known to be a table: that of all rows, or the one that the header has most of.

    >>> found_delimiter(["id;text", "1;one"], ","), found_delimiter(["text"], ",")
    (';', ',')
    >>> found_delimiter(["id|text", "1|one", "2", "3|a, b"], ",")
    '|'
    """
    found = table_delimiter(rows)
    if found is not None:
        return found
    header = re.sub(r'"[^"]*"', "", rows[0]) if rows else ""
    counts = {delimiter: header.count(delimiter) for delimiter in (usual, *DELIMITERS)}
    best = max(counts, key=lambda delimiter: counts[delimiter])
    return best if counts[best] and not counts[usual] else usual


def _is_table(rows: Sequence[str], delimiter: str) -> bool:
    if len(rows) < 2 or delimiter not in rows[0]:
        return False
    try:
        header, *records = csv.reader([f"{row}\n" for row in rows], delimiter=delimiter, strict=True)
    except csv.Error:  # such as a quote that is closed on a line that was not looked at
        header, records = rows[0].split(delimiter), []
        cells = [name.strip('"') for name in header]
        return all(map(COLUMN_NAME.fullmatch, cells)) and '"' in "".join(rows[1:])
    names = all(COLUMN_NAME.fullmatch(name) for name in header)
    return names and len(set(header)) == len(header) and all(len(one) == len(header) for one in records)
