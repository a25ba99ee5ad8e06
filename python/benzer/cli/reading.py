"""Reads the documents of an input, for commands that do not search for duplicates in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from benzer.errors import InputError

if TYPE_CHECKING:
    from benzer.corpora import DocumentCorpus
    from benzer.document import Document, FieldValue
    from benzer.fields import Field, Schema
    from benzer.sources import MalformedRow, ReadOptions, ReadReport
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
    on_duplicate_id: Literal["number", "skip", "stop"] = "number"
    id_scope: Literal["all", "file"] = "all"
    rows: int = 0
    repeated: int = 0
    malformed: list[MalformedRow] = field(default_factory=list)

    def corpora(self) -> Iterator[Any]:
        """Read one file after another into a corpus, to keep only one file in memory."""
        from benzer.corpus import corpus_of
        from benzer.pipeline import ids

        for source in self._sources():
            corpus = corpus_of(self.schema)
            report = self._read(source, corpus)
            if self.id_scope == "file":
                corpus.scope_ids()
            settled = ids.settle(corpus, [source], [report], self.on_duplicate_id)
            self.malformed += settled.reports[0].malformed
            self.repeated += settled.repeated.rows
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
            sink = HandOn(self.schema, take, self.on_error == "stop", self.on_duplicate_id, self.id_scope)
            self.malformed += self._read(source, sink).malformed + sink.skipped
            self.repeated += sink.repeated

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

    def _read(self, source: Source, sink: DocumentSink) -> ReadReport:
        report = source.read_into(sink, 0, self._options())
        self.rows += report.rows_read
        return report

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

    def __init__(
        self,
        schema: Schema,
        take: Take,
        stop: bool,
        on_duplicate_id: Literal["number", "skip", "stop"] = "number",
        id_scope: Literal["all", "file"] = "all",
    ) -> None:
        self._schema = schema
        self._take = take
        self._stop = stop
        self._on_duplicate_id = on_duplicate_id
        self._id_scope = id_scope
        self.repeated = 0
        self.skipped: list[MalformedRow] = []
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
            own = self._id_of(row, id)
            if own is None:
                continue
            documents.append(Document(own, dict(zip(self._schema.fields, contents, strict=True))))
        self._take(documents)
        return refused

    def _id_of(self, row: int, given: str | int | None) -> str | int | None:
        """Return the id of a row, or None if the row is skipped."""
        from benzer.pipeline.ids import repeated_error
        from benzer.sources import MalformedRow

        made = f"{self._name}:{row}"
        scoped = f"{self._name}:{given}" if self._id_scope == "file" else given
        own = made if given is None or scoped is None else scoped
        before = self._rows.setdefault(own, row)
        if before == row:
            return own
        self.repeated += 1
        if self._on_duplicate_id == "skip":
            reason = f"the id {own!r} is that of {self._name} row {before}"
            self.skipped.append(MalformedRow(self._name, row, reason))
            return None
        if self._on_duplicate_id == "stop" or made in self._rows:
            raise repeated_error(own, f"{self._name} row {before} and {self._name} row {row}")
        self._rows[made] = row
        return made


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
