"""Cuts blocks of comma-separated values into records and cells, by array operations on their bytes.

A block whose quotes do not enclose whole cells is left to Python's `csv`, which defines what such records mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from benzer.columns import TextArrays
from benzer.sources.encodings import Utf8Blocks
from benzer.sources.rows import BadRow

BLOCK_BYTES = 1 << 20
"""Bytes that are cut at once: array operations on them stay in the cache of a core."""
LONGEST_FIELD = 2**31 - 1
QUOTE, NEWLINE, RETURN = b'"'[0], b"\n"[0], b"\r"[0]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def nowhere() -> Ints:
    """No places."""
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class RecordBlock:
    """Whole records of a file, in UTF-8.

    spans: where each record lies in `data`, with its line end (int64, records x 2). widths: the number of its cells.
    cells: the cells of each record, or what is wrong with it, where `csv` has parsed the block. first_line: the line of
    the file at which the block begins; line_feeds: how many it has. commas: where the delimiters between cells are.
    doubled: where the second quotes of doubled ones are.
    """

    data: bytes
    spans: Ints
    widths: Ints
    first_line: int
    line_feeds: int
    cells: list[list[str] | BadRow] | None = None
    commas: Ints = field(default_factory=nowhere)
    doubled: Ints = field(default_factory=nowhere)

    def __len__(self) -> int:
        return len(self.spans)

    def lines(self, records: Ints) -> list[int]:
        """The lines of the file at which some records begin."""
        ends = np.flatnonzero(np.frombuffer(self.data, dtype=np.uint8) == NEWLINE)
        lines: list[int] = (np.searchsorted(ends, self.spans[records, 0]) + self.first_line).tolist()
        return lines

    def part(self, start: int, end: int) -> RecordBlock:
        """Some of the records."""
        cells = None if self.cells is None else self.cells[start:end]
        return replace(self, spans=self.spans[start:end], widths=self.widths[start:end], cells=cells)

    def column(self, place: int) -> TextArrays:
        """The offsets and bytes of a column, where all records have as many cells."""
        content = np.frombuffer(self.data, dtype=np.uint8)
        starts, ends = self._cells(content, place)
        data, view = self.data, zip(starts.tolist(), ends.tolist(), strict=True)
        pieces = [
            data[start:end] for start, end in view
        ]  # a slice for each cell is cheaper than a mask of all bytes
        lengths = ends - starts
        if len(self.doubled):
            first, after = np.searchsorted(self.doubled, starts), np.searchsorted(self.doubled, ends)
            lengths -= after - first
            for cell in np.flatnonzero(after > first).tolist():
                pieces[cell] = pieces[cell].replace(b'""', b'"')
        return np.append(0, np.cumsum(lengths)), np.frombuffer(b"".join(pieces), dtype=np.uint8), None

    def _cells(self, content: NDArray[np.uint8], place: int) -> tuple[Ints, Ints]:
        """Where the cells of a column begin and end, without the quotes around them."""
        first, width = np.searchsorted(self.commas, self.spans[0, 0]), int(self.widths[0])
        commas = self.commas[first : first + len(self) * (width - 1)].reshape(len(self), width - 1)
        starts = self.spans[:, 0] if place == 0 else commas[:, place - 1] + 1
        if place < width - 1:
            ends = commas[:, place]
        else:
            ends = self.spans[:, 1] - (content[self.spans[:, 1] - 1] == NEWLINE)
            ends = ends - ((ends > starts) & (content[ends - 1] == RETURN))
        quoted = (ends > starts) & (content[np.minimum(starts, len(content) - 1)] == QUOTE)
        return starts + quoted, ends - quoted

    def joined(self, records: Mask) -> bytes:
        """The bytes of the chosen records; those of neighbours in one piece."""
        view = memoryview(self.data)
        chosen = self.spans[records]
        if not len(chosen):
            return b""
        breaks = np.flatnonzero(chosen[1:, 0] != chosen[:-1, 1])
        starts, ends = chosen[np.append(0, breaks + 1), 0], chosen[np.append(breaks, -1), 1]
        return b"".join(view[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))


def record_blocks(stream: Utf8Blocks, delimiter: str) -> Iterator[RecordBlock]:
    """All records of a file in blocks, the header first; blank lines are no records."""
    pending, line, size = b"", 1, BLOCK_BYTES
    while True:
        chunk = stream.read(size)
        data = pending + chunk
        block, done = cut(data, delimiter, line, final=not chunk)
        if done:
            if len(block):
                yield block
            line += block.line_feeds
            pending, size = data[done:], BLOCK_BYTES
        else:
            pending, size = data, max(BLOCK_BYTES, len(data))
        if not chunk:
            return


def cut(data: bytes, delimiter: str, line: int, final: bool) -> tuple[RecordBlock, int]:
    """The whole records at the beginning of some bytes, and where they end.

    >>> block, done = cut(b'id,text\\n1,"a\\nb"\\n2,"c', ",", 1, final=False)
    >>> block.spans.tolist(), block.widths.tolist(), done
    ([[0, 8], [8, 16]], [2, 2], 16)
    """
    regular = _regular(data, delimiter, line, final)
    return _parsed(data, delimiter, line, final) if regular is None else regular


def _regular(data: bytes, delimiter: str, line: int, final: bool) -> tuple[RecordBlock, int] | None:
    """The records of a block whose quotes enclose whole cells; None for any other block."""
    content = np.frombuffer(data, dtype=np.uint8)
    comma = ord(delimiter)
    special = (content == NEWLINE) | (content == comma)
    quotes = b'"' in data
    if quotes:
        special |= content == QUOTE
    at = np.flatnonzero(special)
    byte = content[at]
    is_quote = byte == QUOTE
    open_after = np.cumsum(is_quote, dtype=np.int64) & 1 == 1
    ends = at[(byte == NEWLINE) & ~open_after] + 1
    done = len(data) if final else int(ends[-1]) if len(ends) else 0
    if final and done and (not len(ends) or ends[-1] != done):
        if len(open_after) and open_after[-1]:
            return None
        ends = np.append(ends, done)
    doubled = _doubled_quotes(content[:done], at[is_quote & (at < done)], comma) if quotes else nowhere()
    if doubled is None:
        return None
    feeds = at[(byte == NEWLINE) & (at < done)]
    returns = b"\r" in data
    if returns and not _returns_end_lines(content[:done], feeds, at[is_quote]):
        return None
    if not data.isascii() and not _is_utf8(data[:done]):
        return None
    starts = np.append(0, ends[:-1])[: len(ends)]
    commas = at[(byte == comma) & ~open_after]
    widths = np.diff(np.searchsorted(commas, ends), prepend=0) + 1
    lengths = ends - starts
    blank = (lengths == 1) & (content[starts] == NEWLINE) if len(ends) else np.zeros(0, np.bool_)
    if returns and len(ends):
        blank |= (lengths == 2) & (content[starts] == RETURN)
    spans = np.column_stack((starts, ends)).astype(np.int64)
    if blank.any():
        spans, widths = spans[~blank], widths[~blank]
    return RecordBlock(data[:done], spans, widths, line, len(feeds), None, commas, doubled), done


def _doubled_quotes(content: NDArray[np.uint8], quotes: Ints, comma: int) -> Ints | None:
    """The second of each doubled quote; None unless all other quotes begin or end a cell."""
    if len(quotes) % 2 or not len(quotes):
        return None if len(quotes) else nowhere()
    opening, closing = quotes[::2], quotes[1::2]
    before = content[np.maximum(opening - 1, 0)]
    begins = (before == comma) | (before == NEWLINE) | (opening == 0)
    doubled = np.append(False, opening[1:] == closing[:-1] + 1)
    after = content[np.minimum(closing + 1, len(content) - 1)]
    finishes = (after == comma) | (after == NEWLINE) | (after == RETURN) | (closing + 1 == len(content))
    continues = np.append(doubled[1:], False)
    enclose = (begins | doubled).all() and (finishes | continues).all()
    return opening[doubled] if enclose else None


def _returns_end_lines(content: NDArray[np.uint8], feeds: Ints, quotes: Ints) -> bool:
    """Whether each carriage return outside of quotes stands before a line feed."""
    is_return = content == RETURN
    if np.count_nonzero(is_return) == np.count_nonzero(is_return[feeds[feeds > 0] - 1]):
        return True
    is_return[feeds[feeds > 0] - 1] = False
    return bool((np.searchsorted(quotes, np.flatnonzero(is_return)) % 2 == 1).all())


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parsed(data: bytes, delimiter: str, line: int, final: bool) -> tuple[RecordBlock, int]:
    """The records as Python's `csv` reads them."""
    whole = data if final else data[: data.rfind(b"\n") + 1]
    spans: list[tuple[int, int]] = []
    cells: list[list[str] | BadRow] = []
    done = 0
    with long_fields():
        for raw, found, ended in read_records(io.StringIO(text_of(whole), newline=""), delimiter):
            end = done + len(bytes_of(raw))
            if not ended and not final:
                break
            if found or not ended:
                spans.append((done, end))
                cells.append(_valid(raw, found))
            done = end
    widths = [0 if isinstance(one, BadRow) else len(one) for one in cells]
    places = np.array(spans, np.int64).reshape(-1, 2)
    feeds = data.count(b"\n", 0, done)
    block = RecordBlock(data[:done], places, np.array(widths, np.int64), line, feeds, cells)
    return block, done


def read_records(text: Iterable[str], delimiter: str) -> Iterator[tuple[str, list[str] | BadRow, bool]]:
    """The raw text of each record, its cells, and whether the record is complete; a blank line has no cells.

    >>> list(read_records(["id,text\\n", '1,"a\\n', 'b"\\n'], ","))
    [('id,text\\n', ['id', 'text'], True), ('1,"a\\nb"\\n', ['1', 'a\\nb'], True)]
    """
    taken: list[str] = []
    reader = csv.reader(_noted(text, taken), delimiter=delimiter, strict=True)
    while True:
        taken.clear()
        ended = True
        try:
            cells: list[str] | BadRow = next(reader)
        except csv.Error as error:
            ended = "unexpected end of data" not in str(error)
            cells = BadRow(str(error) if ended else f"a quote is not closed within {len(taken)} lines")
        except StopIteration:
            return
        yield "".join(taken), cells, ended


def _noted(text: Iterable[str], taken: list[str]) -> Iterator[str]:
    for line in text:
        taken.append(line)
        yield line


def _valid(raw: str, cells: list[str] | BadRow) -> list[str] | BadRow:
    if raw.isascii():
        return cells
    try:
        raw.encode()
    except UnicodeEncodeError as error:
        position, byte = len(bytes_of(raw[: error.start])), ord(raw[error.start]) & 0xFF
        return BadRow(f"invalid utf-8 at byte {position} of the record (0x{byte:02x})")
    return cells


def text_of(data: bytes) -> str:
    """The text of some bytes; invalid bytes as lone surrogates (see `bytes_of`)."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(raw: str) -> bytes:
    """The very bytes that `raw` was read from."""
    return raw.encode("utf-8", "surrogateescape")


@contextmanager
def long_fields() -> Iterator[None]:
    """Let fields be as long as documents are; the parser's own limit is 128 KiB."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
