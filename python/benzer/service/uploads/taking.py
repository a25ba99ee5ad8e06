"""Adds the documents of a request: images are described first, then all documents are written.

Describing images is expensive and needs no write lock, so it runs off the event loop and off the writing thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benzer.document import Document
from benzer.errors import InputError
from benzer.fields import Schema
from benzer.fields.base import described
from benzer.index import Index
from benzer.service.errors import Refusal
from benzer.service.pictures.copies import thumbnail_of
from benzer.service.pictures.thumbnails import Kept, digest_of
from benzer.storage import DocumentId

Result = TypeVar("Result")
FEW = 100


@dataclass(frozen=True)
class Prepared:
    """Documents with images replaced by descriptions, their thumbnails, and the faults of invalid documents."""

    documents: list[Document]
    thumbnails: list[Kept] = field(default_factory=list)
    faults: dict[int, InputError] = field(default_factory=dict)


def prepared(schema: Schema, documents: Sequence[Document], threads: int = 0) -> Prepared:
    """Prepare the documents of a request for writing. An invalid document is omitted and reported as a fault."""
    if not schema.foreign:
        return Prepared(list(documents))
    done, copies, faults = list(documents), [], dict[int, InputError]()
    for name, item in schema.foreign.items():
        present = [number for number, document in enumerate(done) if document.fields.get(name) is not None]
        contents = [done[number].fields[name] for number in present]
        for position, content, answer in zip(
            present, contents, described(item, contents, threads), strict=True
        ):
            if isinstance(answer, InputError):
                faults[position] = InputError(f"field {name}: {answer}")
                continue
            done[position] = Document(done[position].id, {**done[position].fields, name: item.decode(answer)})
            small = thumbnail_of(content) if isinstance(content, bytes) else None
            if small is not None:
                copies.append(Kept(done[position].id, name, digest_of(answer), small))
    gone = {id(done[number]) for number in faults}
    return Prepared(
        [document for document in done if id(document) not in gone], copies, dict(sorted(faults.items()))
    )


def all_prepared(schema: Schema, documents: Sequence[Document], alone: bool = False) -> Prepared:
    """The same, but an invalid document rejects the request. `alone`: the document is the whole body."""
    ready = prepared(schema, documents)
    for position, error in ready.faults.items():
        if alone:
            raise Refusal(422, str(error), field="body.fields")
        raise Refusal(
            422, f"document {documents[position].id!r}, {error}", field=f"body.documents.{position}.fields"
        )
    return ready


def without_copies(schema: Schema, documents: Sequence[Document], copies: Sequence[Kept]) -> list[DocumentId]:
    """The ids of documents without an image: an earlier document with such an id may have had one."""
    pictured = {copy.id for copy in copies}
    return [document.id for document in documents if document.id not in pictured] if schema.foreign else []


async def in_thread(schema: Schema, work: Callable[[], Result], documents: int = 1) -> Result:
    """Run `work`, off the event loop if images or many documents make it slow."""
    return await asyncio.to_thread(work) if schema.foreign or documents > FEW else work()


def add_sound(
    index: Index, documents: Sequence[Document], stop: bool, refused: Callable[[Document, InputError], object]
) -> int:
    """Add all valid documents and report each rejected one; returns the number of added documents.

    With `stop`, no document after the first rejected one is added. A batch without faults is added in one call.
    """
    if not documents:
        return 0
    try:
        return index.add(documents, batch_size=len(documents))
    except InputError as error:
        if len(documents) == 1:
            refused(documents[0], error)
            return 0
    half = len(documents) // 2
    added = add_sound(index, documents[:half], stop, refused)
    if stop and added < half:
        return added
    return added + add_sound(index, documents[half:], stop, refused)
