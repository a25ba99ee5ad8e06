"""The interface of sources, and their reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from benzer.checks import check_on_error
from benzer.document import FieldValue
from benzer.errors import InputError, MalformedRowError, SettingsError
from benzer.sources.dialects import checked_delimiter
from benzer.sources.encodings import checked_encoding
from benzer.sources.nested import is_path

Kind = Literal["text", "values", "image"]
OnError = Literal["stop", "skip"]
Keep = npt.NDArray[np.bool_]

MOST_COLUMNS_SHOWN = 20
NO_IDS = "none"
"""The name of a column of ids that stands for generated ids."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Which columns of a source make a document, and what happens to rows that make none.

    `fields` maps field names to column names, in the order of the corpus' fields; a field that is not in
    `kinds` is text. A column may be a place inside of another one (see `benzer.sources.nested`). A column of images
    holds the paths of files (relative to the folder of the file that
    names them), their content, or arrays.
    `id_column=None`: the column "id" is used when the first row has it (a row without an id gets a made one), else
    ids are made as `name:row`. A column "id" that is also a field must begin with a string or an integer to be used.
    Where the column was named, a row without an id is malformed.
    `id_plan` is what the first row has decided, where only a part of a source is read: the column of ids, or none, and
    whether each row must have one.
    `extra_column` is handed on as JSON, a value for each document. `encoding` is that of text files, CSV and TSV (None:
    detected); all other formats are UTF-8. `delimiter` parts the cells of CSV and TSV (None: detected). `html`:
    texts are HTML, of which the main text is taken. `progress`
    hears how many bytes of the file at hand are read, of all, where that is known.

    >>> options = ReadOptions(fields={"text": "body"}, extra_column="date")
    >>> options.columns, options.all_text
    (('body', 'date'), True)
    >>> ReadOptions(fields={"text": "body"}, on_error="ignore")
    Traceback (most recent call last):
    benzer.errors.SettingsError: on_error must be "stop" or "skip", got "ignore"
    """

    fields: Mapping[str, str] = field(default_factory=lambda: {"text": "text"})
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    id_column: str | None = None
    id_plan: tuple[str | None, bool] | None = None
    extra_column: str | None = None
    on_error: OnError = "stop"
    encoding: str | None = None
    delimiter: str | None = None
    html: bool = False
    threads: int = 0
    progress: Callable[[int, int], object] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_on_error(self.on_error)
        object.__setattr__(self, "encoding", checked_encoding(self.encoding))
        object.__setattr__(self, "delimiter", checked_delimiter(self.delimiter))
        if self.id_column == NO_IDS:
            object.__setattr__(self, "id_column", None)
            object.__setattr__(self, "id_plan", (None, False))
        if not self.fields:
            raise SettingsError("fields must name at least one column, got none")

    @property
    def all_text(self) -> bool:
        """Whether every field is text."""
        return all(self.kinds.get(name, "text") == "text" for name in self.fields)

    @property
    def as_written(self) -> bool:
        """Whether every field is the whole text of a column, as it is written."""
        return self.all_text and not self.html and not any(map(is_path, self.columns))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were asked for by name, each once."""
        named = [*self.fields.values(), self.id_column, self.extra_column]
        return tuple(dict.fromkeys(column for column in named if column is not None))


@dataclass(frozen=True, slots=True)
class MalformedRow:
    """A row that cannot be read as a document; `row` counts from 1, and `unit` is the source's word for it.

    >>> print(MalformedRow("corpus.jsonl", 17, "unterminated string", unit="line"))
    corpus.jsonl line 17: unterminated string
    """

    source: str
    row: int
    reason: str
    unit: str = "row"

    def __str__(self) -> str:
        return f"{self.source} {self.unit} {self.row}: {self.reason}"


@dataclass(frozen=True, slots=True)
class RepeatedIds:
    """Documents with the id of an earlier one, and how many of them have the same content as that one.

    >>> RepeatedIds(rows=3, identical=1).rows
    3
    """

    rows: int = 0
    identical: int = 0


NO_REPEATS = RepeatedIds()


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What one source gave: `rows_read == documents + len(malformed)`; blank lines are no rows.

    `encodings` counts the texts that are not in UTF-8 by their encoding, given or detected: files of a folder, or the
    one file of a table.
    """

    rows_read: int
    documents: int
    malformed: list[MalformedRow] = field(default_factory=list)
    encodings: Mapping[str, int] = field(default_factory=dict)


class DocumentSink(Protocol):
    """The part of `benzer._native.Corpus` that sources write to."""

    def __len__(self) -> int: ...

    def name_source(self, source: int, name: str) -> None:
        """Say what made ids begin with."""
        ...

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Sequence[str | int | None],
        fields: Sequence[Sequence[FieldValue]],
        extras: Sequence[bytes | None] | None = None,
    ) -> Sequence[tuple[int, str]] | None:
        """Add documents; an id that is None is made. Gives the rows that could not be read, each with why."""
        ...

    def add_jsonl(
        self,
        *,
        source: int,
        name: str,
        path: str | None,
        data: bytes | None,
        columns: Sequence[str],
        id_column: str | None,
        id_required: bool,
        extra_column: str | None,
        first_row: int,
        stop_on_error: bool,
        threads: int,
        progress: Callable[[int, int], object] | None,
    ) -> tuple[int, list[tuple[int, str]]]:
        """Add JSON lines; gives the number of rows, and (line, reason) of those that are malformed."""
        ...


class Source(Protocol):
    """Where documents come from; read once with `read_into`, then written back as often as wanted.

    `name` is what the user gave: it stands in made ids (`name:row`) and messages. `path` is the file or
    folder that is read (None for tables and iterables in memory). `suffix` ends the name of a copy in the
    same format ("" for a folder).
    """

    name: str
    suffix: str
    path: Path | None

    def read_into(self, corpus: DocumentSink, number: int, options: ReadOptions) -> ReadReport:
        """Add each row as a document of source `number`."""
        ...

    def write_rows(self, keep: Keep, destination: Path) -> int:
        """Copy the chosen rows to a new file (or folder) and return how many they are.

        `keep` (bool) is over the rows that were read as documents, in order. Format, order, compression and
        all other columns stay as they are; malformed rows are left out.
        """
        ...


@dataclass(slots=True)
class MalformedRows:
    """Collects malformed rows, or raises at the first, as `on_error` says."""

    source: str
    on_error: OnError
    unit: str = "row"
    found: list[MalformedRow] = field(default_factory=list)

    def add(self, row: int, reason: str) -> None:
        """Note one malformed row."""
        malformed = MalformedRow(self.source, row, reason, self.unit)
        if self.on_error == "stop":
            cure = f"Correct the {self.unit}, or skip malformed {self.unit}s with --on-error skip (on_error='skip')."
            raise MalformedRowError(f"{malformed}. {cure}")
        self.found.append(malformed)


def listed(names: Collection[str]) -> str:
    """Column names for a message, shortened when there are many.

    >>> listed(["id", "text"]), listed([])
    ('id, text', 'none')
    """
    shown = ", ".join(list(names)[:MOST_COLUMNS_SHOWN]) or "none"
    left_out = len(names) - MOST_COLUMNS_SHOWN
    return f"{shown} and {left_out} more" if left_out > 0 else shown


def missing_column(name: str, column: str, present: Collection[str]) -> InputError:
    """The error for a column that no row of the source has.

    >>> print(missing_column("a.csv", "text", ["id", "body"]))
    a.csv has no column "text": use one of (id, body)
    """
    return InputError(f'{name} has no column "{column}": use one of ({listed(present)})')


def check_repeated(name: str, column: str, present: Collection[str]) -> None:
    """Refuse a column whose name occurs several times."""
    count = list(present).count(column)
    if count > 1:
        raise InputError(f'{name} has {count} columns "{column}": rename all but one')


def chosen(report: ReadReport | None, keep: Keep, name: str) -> npt.NDArray[np.bool_]:
    """From documents to rows: a mask over all rows (bool, rows_read), malformed rows unchosen.

    >>> report = ReadReport(3, 2, [MalformedRow("a.csv", 2, "too short")])
    >>> chosen(report, np.array([False, True]), "a.csv").tolist()
    [False, False, True]
    """
    documents = check_keep(report, keep, name)
    mask = np.ones(documents.rows_read, dtype=np.bool_)
    mask[[malformed.row - 1 for malformed in documents.malformed]] = False
    mask[mask] = keep
    return mask


def check_keep(report: ReadReport | None, keep: Keep, name: str) -> ReadReport:
    """The report that `keep` belongs to; an `InputError` where the source is unread or the lengths differ."""
    if report is None:
        raise InputError(f"{name} has not been read yet: call read_into before rows are chosen")
    if len(keep) != report.documents:
        raise InputError(f"{name} gave {report.documents} documents, but keep has {len(keep)} entries")
    return report


def noun_of(content: Any) -> str:
    """What a wrong value is, in the words of the data: "a number", not "int".

    >>> noun_of(1.5), noun_of(True), noun_of({}), noun_of(None)
    ('a number', 'true or false', 'an object', 'null')
    """
    if content is None:
        return "null"
    if isinstance(content, bool):
        return "true or false"
    if isinstance(content, (int, float)):
        return "a number"
    if isinstance(content, (str, bytes)):
        return "text"
    if isinstance(content, Mapping):
        return "an object"
    return "a list" if isinstance(content, (list, tuple)) else f"a {type(content).__name__}"
