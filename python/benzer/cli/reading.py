"""How do commands that want the documents themselves, not the duplicates among them, read an input?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from benzer.errors import InputError

if TYPE_CHECKING:
    from benzer._native import Corpus
    from benzer.document import Document
    from benzer.fields import Schema
    from benzer.sources import MalformedRow


@dataclass
class DocumentReader:
    """One pass over an input: what to read, and afterwards what was read and what was wrong with it."""

    inputs: tuple[str, ...]
    columns: str | dict[str, str] | None
    id_column: str | None
    format: str | None
    schema: Schema
    on_error: Literal["stop", "skip"] = "stop"
    rows: int = 0
    malformed: list[MalformedRow] = field(default_factory=list)

    def corpora(self) -> Iterator[Corpus]:
        """Read one file after another, so that no more than one is held in memory."""
        from benzer import pipeline
        from benzer._native import Corpus
        from benzer.sources import ReadOptions, open_sources

        self._check_fields()
        fields = pipeline.columns(self.schema, self.columns)
        options = ReadOptions(fields=fields, id_column=self.id_column, on_error=self.on_error)
        for source in open_sources(list(self.inputs), self.format):
            corpus = Corpus(self.schema.readers())
            report = source.read_into(corpus, 0, options)
            self.rows += report.rows_read
            self.malformed += report.malformed
            pair = corpus.duplicate_id()
            if pair is not None:
                raise pipeline.duplicate_id(corpus, [source], pair)
            yield corpus

    def documents(self) -> Iterator[Document]:
        """Yield every document, in the order of the input."""
        from benzer.document import Document

        names = list(self.schema.fields)
        for corpus in self.corpora():
            for position, id in enumerate(corpus.ids()):
                yield Document(id, {name: corpus.text(position, place) for place, name in enumerate(names)})

    def _check_fields(self) -> None:
        for name, rules in self.schema.fields.items():
            if rules.kind != "text":
                raise InputError(
                    f"field {name} is a set of values, and the command line reads text: use Python"
                )
