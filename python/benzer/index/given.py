"""Converts user input to documents and queries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from benzer.document import Description, Document
from benzer.errors import InputError
from benzer.fields import Schema

ALONE = (str, bytes, os.PathLike, np.ndarray, Description)
"""What may be given without a name, where a schema has one field."""


_LONE = re.compile("[\ud800-\udfff]")


class Query(NamedTuple):
    """A document to find others for; `identified` when its id is one of the collection's."""

    document: Document
    identified: bool

    def is_itself(self, document_id: str | int) -> bool:
        return self.identified and document_id == self.document.id


def as_query(given: Any, schema: Schema) -> Query:
    """What is asked for, as a document: a `Document`, a text, or a mapping of fields."""
    if isinstance(given, Document):
        return Query(given, identified=True)
    if isinstance(given, (*ALONE, Mapping)):
        return Query(Document("", as_fields(given, schema)), identified=False)
    raise InputError(f"a query must be a text, a mapping of fields or a Document, got {type(given).__name__}")


def as_document(given: Any, schema: Schema) -> Document:
    """One of the things that `Index.add` takes, as a document.

    >>> as_document((7, "some text"), Schema())
    Document(id=7, fields={'text': 'some text'})
    >>> as_document({"id": 7, "text": "some text"}, Schema())
    Document(id=7, fields={'text': 'some text'})
    """
    if isinstance(given, Document):
        return given
    if isinstance(given, tuple) and len(given) == 2:
        return Document(given[0], as_fields(given[1], schema))
    if isinstance(given, Mapping) and "id" in given:
        return Document(given["id"], {name: value for name, value in given.items() if name != "id"})
    raise InputError(
        f'a document must be a Document, an (id, text) pair or a mapping with an "id", got {given!r:.80}'
    )


def check_id(document: Document) -> Document:
    """Refuse an id that a corpus, or UTF-8, cannot hold.

    >>> check_id(Document(2**70, "a text"))
    Traceback (most recent call last):
    benzer.errors.InputError: the id 1180591620717411303424 is beyond 64 bits: pass it as text
    """
    if isinstance(document.id, int) and not -(2**63) <= document.id < 2**63:
        raise InputError(f"the id {document.id} is beyond 64 bits: pass it as text")
    if isinstance(document.id, str) and not document.id.isascii() and _LONE.search(document.id):
        raise InputError(
            f"the id {document.id!r} contains a lone surrogate: use an id that can be encoded as UTF-8"
        )
    return document


def ids_of(text: str) -> Iterator[str | int]:
    """The ids that a text can mean, as in a path or on a command line: itself, then the integer written just so.

    >>> list(ids_of("7")), list(ids_of("-7")), list(ids_of("07"))
    (['7', 7], ['-7', -7], ['07'])
    """
    yield text
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 20 and str(int(text)) == text:
        yield int(text)


def as_fields(given: Any, schema: Schema) -> Mapping[str, Any]:
    """A text, or the path or array of a picture, as the one field of a schema; a mapping as it is."""
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, ALONE):
        raise InputError(f"content must be a text or a mapping of fields, got {type(given).__name__}")
    names = list(schema.fields)
    if len(names) > 1:
        raise InputError(f"a text is ambiguous for the fields {', '.join(names)}: use a mapping of fields")
    return {names[0]: given}
