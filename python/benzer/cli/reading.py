"""Reads the documents of an input, for commands that do not search for duplicates in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from benzer.errors import DuplicateIdError, InputError

if TYPE_CHECKING:
    from benzer.corpora import DocumentCorpus
    from benzer.document import Document, FieldValue
    from benzer.fields import Field, Schema
    from benzer.sources import MalformedRow, ReadOptions
    from benzer.sources.base import DocumentSink, Source

BATCH_SIZE = 5_000
SEEN_AT_ONCE = 64  # images per batch, to update the progress and stop soon at a broken image
Take = Callable[["list[Document]"], object]


@dataclass
class DocumentReader:
    """One pass over an input: the options, and afterwards the counts and malformed rows."""

    inputs: tuple[str, ...]
    columns: dict[str, str]
    id_column: str | None
    format: str | None
    schema: Schema
    on_error: Literal["stop", "skip"] = "stop"
    layout: Mapping[str, Any] = field(default_factory=dict)
    rows: int = 0
    malformed: list[MalformedRow] = field(default_factory=list)

    def corpora(self) -> Iterator[Any]:
        """Read one file after another into a corpus, to keep only one file in memory."""
        from benzer.corpus import corpus_of
        from benzer.pipeline import reading

        for source in self._sources():
            corpus = corpus_of(self.schema)
            self._read(source, corpus)
            pair = corpus.duplicate_id()
            if pair is not None:
                raise reading.duplicate_id(corpus, [source], pair)
            yield corpus

    def each(self, take: Take) -> None:
        """Call `take` with batches of documents, in the order of the input.

        Texts are scanned by the native core, one file at a time. Sets and images are passed on while they are
        read, images as their descriptions.
        """
        if {item.kind for item in self.schema.fields.values()} == {"text"}:
            for corpus in self.corpora():
                documents = self._documents(corpus)
                while batch := list(islice(documents, BATCH_SIZE)):
                    take(batch)
            return
        for source in self._sources():
            self._read(source, HandOn(self.schema, take, self.on_error == "stop"))

    def texts(self) -> Iterator[str]:
        """Yield the texts of the first field, in the order of the input."""
        for corpus in self.corpora():
            for position in range(len(corpus)):
                yield corpus.text(position, 0) or ""

    def _documents(self, corpus: DocumentCorpus) -> Iterator[Document]:
        from benzer.document import Document

        names = list(self.schema.fields)
        for position, id in enumerate(corpus.ids()):
            yield Document(id, {name: corpus.text(position, place) for place, name in enumerate(names)})

    def _sources(self) -> list[Source]:
        from benzer.pipeline import reading
        from benzer.sources import Files, open_sources

        inputs = Files(self.inputs)
        return open_sources(inputs, self.format or reading.folder_format(self.schema, inputs))

    def _read(self, source: Source, sink: DocumentSink) -> None:
        report = source.read_into(sink, 0, self._options())
        self.rows += report.rows_read
        self.malformed += report.malformed

    def _options(self) -> ReadOptions:
        from benzer.pipeline import reading
        from benzer.sources import ReadOptions

        return ReadOptions(
            fields=reading.columns(self.schema, self.columns),
            kinds={name: item.kind for name, item in self.schema.fields.items()},
            id_column=self.id_column,
            on_error=self.on_error,
            **self.layout,
        )


class HandOn:
    """A replacement for a corpus that passes the documents of a file on while they are read."""

    def __init__(self, schema: Schema, take: Take, stop: bool) -> None:
        self._schema = schema
        self._take = take
        self._stop = stop
        self._name = ""
        self._rows: dict[str | int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def name_source(self, source: int, name: str) -> None:
        """Set the prefix of generated ids."""
        self._name = name

    def add(
        self,
        source: int,
        rows: Sequence[int],
        ids: Iterable[str | int | None],
        fields: Sequence[Sequence[FieldValue]],
        extras: Sequence[bytes | None] | None = None,
    ) -> list[tuple[int, str]]:
        """Pass documents on; returns the unreadable rows with the reason, or only the first ones if it stops."""
        listed = list(ids)
        refused: list[tuple[int, str]] = []
        step = SEEN_AT_ONCE if self._schema.foreign else len(rows)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            refused += self._add(rows[part], listed[part], [column[part] for column in fields])
            if refused and self._stop:
                break
        return refused

    def add_jsonl(self, **options: Any) -> NoReturn:
        """Raise an error: sources scan natively only for texts, which are read into a corpus."""
        raise InputError("the native core scans texts only")

    def _add(
        self, rows: Sequence[int], ids: Sequence[str | int | None], fields: Sequence[Sequence[FieldValue]]
    ) -> list[tuple[int, str]]:
        from benzer.document import Document

        columns = [
            seen(item, column) for item, column in zip(self._schema.fields.values(), fields, strict=True)
        ]
        documents: list[Document] = []
        refused: list[tuple[int, str]] = []
        for row, id, *contents in zip(rows, ids, *columns, strict=True):
            fault = next((content for content in contents if isinstance(content, InputError)), None)
            if fault is not None:
                refused.append((row, str(fault)))
                continue
            document = Document(
                f"{self._name}:{row}" if id is None else id,
                dict(zip(self._schema.fields, contents, strict=True)),
            )
            self._note(document.id, row)
            documents.append(document)
        self._take(documents)
        return refused

    def _note(self, id: str | int, row: int) -> None:
        before = self._rows.setdefault(id, row)
        if before != row:
            raise DuplicateIdError(
                f"the id {id!r} appears in {self._name} row {before} and {self._name} row {row}: make ids unique, "
                "name another id column, or omit the column"
            )


def seen(field: Field, contents: Sequence[FieldValue]) -> Sequence[FieldValue | InputError]:
    """Convert contents to their form in an index: images to descriptions or read errors; others are unchanged."""
    from benzer.fields.base import described, is_seen

    if not is_seen(field):
        return contents
    present = [content for content in contents if content is not None]
    answers = iter(described(field, present, threads=0))
    contents_seen: list[FieldValue | InputError] = []
    for content in contents:
        answer = None if content is None else next(answers)
        contents_seen.append(field.decode(answer) if isinstance(answer, bytes) else answer)
    return contents_seen
