"""How do the documents that a client sent come to be held? Pictures are described first, then all is written.

Describing is the costly part, and needs no turn: it is done off the event loop and off the thread that writes.
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
    """Documents with each picture as its description, the small copies, and which documents cannot be read."""

    documents: list[Document]
    thumbnails: list[Kept] = field(default_factory=list)
    faults: dict[int, InputError] = field(default_factory=dict)


def prepared(schema: Schema, documents: Sequence[Document], threads: int = 0) -> Prepared:
    """What a client sent, ready to be written. A document that cannot be read stays out, and is a fault."""
    if not schema.foreign:
        return Prepared(list(documents))
    done, copies, faults = list(documents), [], dict[int, InputError]()
    for name, one in schema.foreign.items():
        held = [at for at, document in enumerate(done) if document.fields.get(name) is not None]
        contents = [done[at].fields[name] for at in held]
        for at, content, answer in zip(held, contents, described(one, contents, threads), strict=True):
            if isinstance(answer, InputError):
                faults[at] = InputError(f"field {name}: {answer}")
                continue
            done[at] = Document(done[at].id, {**done[at].fields, name: one.decode(answer)})
            small = thumbnail_of(content) if isinstance(content, bytes) else None
            if small is not None:
                copies.append(Kept(done[at].id, name, digest_of(answer), small))
    gone = {id(done[at]) for at in faults}
    return Prepared(
        [document for document in done if id(document) not in gone], copies, dict(sorted(faults.items()))
    )


def all_prepared(schema: Schema, documents: Sequence[Document], alone: bool = False) -> Prepared:
    """The same, where a document that cannot be read refuses them all. `alone`: it is the body by itself."""
    ready = prepared(schema, documents)
    for at, error in ready.faults.items():
        if alone:
            raise Refusal(422, str(error), field="body.fields")
        raise Refusal(422, f"document {documents[at].id!r}, {error}", field=f"body.documents.{at}.fields")
    return ready


def without_copies(schema: Schema, documents: Sequence[Document], copies: Sequence[Kept]) -> list[DocumentId]:
    """The ids of documents without a picture: an earlier document of such an id may have had one."""
    pictured = {one.id for one in copies}
    return [document.id for document in documents if document.id not in pictured] if schema.foreign else []


async def in_thread(schema: Schema, work: Callable[[], Result], documents: int = 1) -> Result:
    """Run `work` off the event loop, where pictures, or many documents, make it long."""
    return await asyncio.to_thread(work) if schema.foreign or documents > FEW else work()


def add_sound(
    index: Index, documents: Sequence[Document], stop: bool, refused: Callable[[Document, InputError], object]
) -> int:
    """Add all documents that the index takes, and tell of each that it refuses; gives how many were added.

    With `stop` none is added behind the first that is refused. A batch without a fault is added at once.
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
