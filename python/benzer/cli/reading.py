"""How do commands that want the documents themselves, not the duplicates among them, read an input?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from benzer.errors import DuplicateIdError

if TYPE_CHECKING:
    from benzer._native import Corpus
    from benzer.document import Document
    from benzer.fields import Schema
    from benzer.sources import MalformedRow


@dataclass
class Reading:
    """One pass over an input: what to read, and afterwards what was found wrong."""

    inputs: tuple[str, ...]
    columns: str | dict[str, str]
    id_column: str | None
    format: str | None
    schema: Schema
    on_error: Literal["stop", "skip"] = "stop"
    rows: int = 0
    malformed: list[MalformedRow] = field(default_factory=list)

    def corpora(self) -> Iterator[Corpus]:
        """Read one file after another, so that no more than one is held in memory."""
        from benzer._native import Corpus
        from benzer.sources import ReadOptions, open_sources

        fields = {"text": self.columns} if isinstance(self.columns, str) else self.columns
        options = ReadOptions(fields=fields, id_column=self.id_column, on_error=self.on_error)
        for number, source in enumerate(open_sources(list(self.inputs), self.format)):
            corpus = Corpus(self.schema.readers())
            report = source.read_into(corpus, number, options)
            self.rows += report.rows_read
            self.malformed += report.malformed
            refuse_duplicate_id(corpus, source.name)
            yield corpus

    def documents(self) -> Iterator[Document]:
        """Yield every document, in the order of the input."""
        from benzer.document import Document

        names = list(self.schema.fields)
        for corpus in self.corpora():
            for position, id in enumerate(corpus.ids()):
                yield Document(id, {name: corpus.text(position, place) for place, name in enumerate(names)})


def refuse_duplicate_id(corpus: Corpus, name: str) -> None:
    """Refuse a file in which two rows carry the same id: one of them would silently vanish."""
    pair = corpus.duplicate_id()
    if pair is None:
        return
    first, second = pair
    rows = corpus.rows()
    raise DuplicateIdError(
        f"{name}: rows {rows[first]:,} and {rows[second]:,} carry the same id {corpus.ids()[first]!r}: "
        "make ids unique, or name the right column with --id"
    )
