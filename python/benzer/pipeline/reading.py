"""Reads all documents of all sources into one corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

from benzer.corpora import DocumentCorpus
from benzer.corpus import corpus_of
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.pipeline import ids
from benzer.pipeline.options import Options
from benzer.sketcher import Sketcher
from benzer.sources import ReadOptions, ReadReport, Source, open_sources
from benzer.sources.base import NO_REPEATS, RepeatedIds

Progress = Callable[[int, int], object] | None
DEFAULTS = Options()


class Read(NamedTuple):
    """The corpus, its sources, a report on each, and how they were read."""

    corpus: DocumentCorpus
    sources: Sequence[Source]
    reports: Sequence[ReadReport]
    options: ReadOptions
    repeated: RepeatedIds = NO_REPEATS


def read(
    source: Any,
    schema: Schema,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    options: Options = DEFAULTS,
    extra: str | None = None,
    threads: int = 0,
    progress: Progress = None,
    sketcher: Sketcher | None = None,
) -> Read:
    """Read all documents of all sources; other arguments are those of `benzer.find_duplicates`.

    Args:
        extra: A column to store with the documents.
        progress: Called with the number of bytes read, and of all bytes.
        sketcher: The sketcher of the run, if it is known already and its sketches fit into memory.

    >>> read({"a": "some text"}, Schema()).corpus.ids()
    ['a']
    """
    sources = open_sources(source, options.format or folder_format(schema, source))
    reading = ReadOptions(
        fields=columns(schema, text),
        kinds={name: field.kind for name, field in schema.fields.items()},
        id_column=id,
        extra_column=extra,
        on_error=options.on_error,
        encoding=options.encoding,
        delimiter=options.delimiter,
        html=options.html,
        threads=threads,
    )
    corpus = corpus_of(schema, threads)
    if sketcher is not None:
        sketcher.announce(corpus)
    options_by_source = [replace(reading, progress=share) for share in shares(sources, progress)]
    reports = [
        source.read_into(corpus, number, options_by_source[number]) for number, source in enumerate(sources)
    ]
    if options.id_scope == "file":
        corpus.scope_ids()
    settled = ids.settle(corpus, sources, reports, options.on_duplicate_id, threads)
    return Read(corpus, settled.sources, settled.reports, reading, settled.repeated)


def shares(sources: Sequence[Source], progress: Progress) -> list[Progress]:
    """Return a progress function for each source, so that `progress` is called with the sum over all sources.

    >>> class OfBytes:
    ...     path = None
    >>> shares([OfBytes()], None)
    [None]
    """
    if progress is None:
        return [None] * len(sources)
    paths = [source.path for source in sources]
    sizes = [path.stat().st_size if path is not None and path.is_file() else 0 for path in paths]
    total = sum(sizes)

    def share(before: int) -> Progress:
        return lambda done, _: progress(before + done, total)

    return [share(before) for before in accumulate(sizes[:-1], initial=0)]


def folder_format(schema: Schema, source: Any) -> str | None:
    """Return the format "images" for folders if the schema has only image fields.

    >>> folder_format(Schema(), "texts")
    """
    kinds = {field.kind for field in schema.fields.values()}
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    if kinds != {"image"} or not isinstance(given, (list, tuple)):
        return None
    folders = [isinstance(item, (str, os.PathLike)) and os.path.isdir(item) for item in given]
    return "images" if folders and all(folders) else None


def columns(schema: Schema, text: str | Mapping[str, str] | None) -> dict[str, str]:
    """Return the column of each field.

    >>> from benzer.fields import Text
    >>> columns(Schema(), "body"), columns(Schema(title=Text(), body=Text()), {"body": "content"})
    ({'text': 'body'}, {'title': 'title', 'body': 'content'})
    """
    names = list(schema.fields)
    if isinstance(text, str):
        if len(names) > 1:
            raise SettingsError(
                f"text is one column, but the schema has the fields {', '.join(names)}: "
                f"use a mapping of fields to columns"
            )
        return {names[0]: text}
    chosen = dict(text or {})
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise SettingsError(f"there is no field {unknown[0]!r}: the schema has {', '.join(names)}")
    return {name: chosen.get(name, name) for name in names}
