"""The batch flow: from sources to verified duplicates, on one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Literal

import numpy as np

from benzer.bands import Bands
from benzer.candidates import identical, propose
from benzer.checks import is_number
from benzer.clusters import Keep, decide
from benzer.errors import DuplicateIdError, SettingsError
from benzer.fields import Schema
from benzer.minhash import MinHash
from benzer.results import Duplicates, Reading, Settings
from benzer.sketcher import Sketcher
from benzer.sources import ReadOptions, open_sources
from benzer.verify import verify

MOST_THREADS = 4096
MOST_BUCKET_LIMIT = 2**32 - 1

Progress = Callable[[str, int, int | None], object]


def find_duplicates(
    source: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.95,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    keep: str | Keep = "first",
    minhash: str | MinHash = "fast",
    num_hashes: int | None = None,
    bands: Bands | None = None,
    seed: int = 0,
    bucket_limit: int = 1000,
    on_error: Literal["stop", "skip"] = "stop",
    format: str | None = None,
    encoding: str = "utf-8",
    threads: int = 0,
    progress: Progress | None = None,
) -> Duplicates:
    """Find near-duplicates: every pair reported is verified exactly, every removal names a kept document.

    source: paths, globs, folders, "-", tables, or documents (see `benzer.sources.open_sources`).
    threshold: the similarity from which two documents are duplicates, in (0, 1].
    recall: the probability with which a pair at the threshold is found, in (0, 1); pairs above it are found
        with a higher one. Bands are chosen for it unless `bands` is given.
    schema: the fields and how they are read; one text field by default.
    text: the column of the text field, or a mapping of fields to columns; by default the fields' own names.
    id: the column of ids; by default "id" where there is one, else ids are made as "name:row".
    keep: which document of a cluster stays, see `benzer.clusters.Keep`.
    minhash, num_hashes, seed: the signature, see `benzer.minhash.MinHash`; or a `MinHash` that says all three.
    bucket_limit: buckets of more documents are joined through a few of them, and counted.
    on_error: "stop" at the first malformed row, or "skip" and list them in the result.
    threads: 0 means all cores. The result does not depend on it.
    progress: called with (stage, done, total).

    Raises:
        SettingsError: a setting is out of range. InputError: the input cannot be read.
        MalformedRowError, DuplicateIdError: as their names say, with the place.

    >>> texts = {"a": "the quick brown fox jumps over the lazy dog tonight",
    ...          "b": "The quick brown fox jumps over the lazy dog, tonight!",
    ...          "c": "a completely different text about something else entirely"}
    >>> found = find_duplicates(texts)
    >>> found.kept, found.removed
    (['a', 'c'], {'b': Removal(kept_id='a', similarity=1.0)})
    """
    started = perf_counter()
    schema = schema if schema is not None else Schema()
    check_work(schema, threads, bucket_limit)
    keep = Keep.parse(keep)
    sketcher = plan(schema, threshold, recall, minhash, num_hashes, seed, bands)
    stage = Stages(progress)

    corpus, reading = read(source, sketcher, text, id, keep.column, on_error, format, encoding, threads)
    stage.end("read")
    sketches = sketcher.sketch(corpus, threads, stage.report("sketch"))
    stage.end("sketch")
    rank = keep.rank(corpus.lengths(), corpus.extras() if keep.column else ())
    stands_for = identical(sketches.content, sketches.empty, rank, threads)
    alone = stands_for == np.arange(len(corpus), dtype=np.uint32)
    proposed = propose(sketches.keys, sketches.content, alone, bucket_limit, threads)
    stage.end("candidates")
    similarity = verify(
        corpus, proposed.left, proposed.right, schema.weights, threads, stage.report("verify")
    )
    stage.end("verify")

    def compare(left: Any, right: Any) -> Any:
        return verify(corpus, left, right, schema.weights, threads)

    pairs = (proposed.left, proposed.right, similarity)
    decision = decide(rank, stands_for, pairs, threshold, compare)
    stage.end("clusters")
    return Duplicates(
        settings=Settings(
            threshold, recall, schema, sketcher.minhash, sketcher.bands, keep, bucket_limit, on_error
        ),
        reading=reading,
        corpus=corpus,
        empty=sketches.empty,
        short=sketcher.short(sketches),
        rank=rank,
        stands_for=stands_for,
        proposed=proposed,
        verified=similarity,
        decision=decision,
        compare=compare,
        timings={**stage.timings, "total": perf_counter() - started},
    )


def plan(
    schema: Schema,
    threshold: float,
    recall: float,
    minhash: str | MinHash,
    num_hashes: int | None,
    seed: int,
    bands: Bands | None,
) -> Sketcher:
    """What sketches the documents, by bands that keep the promise (or those given)."""
    check_promise(threshold, recall)
    if isinstance(minhash, MinHash):
        num_hashes = minhash.num_hashes
    bands = bands or Bands.for_recall(schema.band_threshold(threshold), recall, num_hashes)
    if not isinstance(minhash, MinHash):
        minhash = MinHash(minhash, num_hashes or bands.num_values, seed)
    return Sketcher(schema, minhash, bands)


def check_promise(threshold: float, recall: float) -> None:
    """Refuse a threshold or a recall that makes no sense."""
    if not is_number(threshold) or not 0 < threshold <= 1:
        raise SettingsError(f"threshold must be in (0, 1], got {threshold}")
    if not is_number(recall) or not 0 < recall < 1:
        raise SettingsError(f"recall must be in (0, 1), got {recall}: 0.999 finds all but one in a thousand")


def check_work(schema: Any, threads: Any, bucket_limit: Any) -> None:
    """Refuse what makes no run, before anything is read."""
    if not isinstance(schema, Schema):
        raise SettingsError(f"schema must be a Schema, got {schema!r}: as in Schema(text=Text())")
    if not isinstance(threads, int) or not 0 <= threads <= MOST_THREADS:
        raise SettingsError(f"threads must be 0 or more, got {threads}: 0 means all cores")
    if not isinstance(bucket_limit, int) or bucket_limit < 2:
        raise SettingsError(f"bucket_limit must be at least 2, got {bucket_limit}")
    if bucket_limit > MOST_BUCKET_LIMIT:
        raise SettingsError(f"bucket_limit must be at most {MOST_BUCKET_LIMIT}, got {bucket_limit}")


def read(
    source: Any,
    sketcher: Sketcher,
    text: str | Mapping[str, str] | None,
    id: str | None,
    extra: str | None,
    on_error: Literal["stop", "skip"],
    format: str | None,
    encoding: str,
    threads: int,
) -> tuple[Any, Reading]:
    """All documents of all sources in one corpus, and what was read."""
    sources = open_sources(source, format or folder_format(sketcher.schema, source))
    options = ReadOptions(
        fields=columns(sketcher.schema, text),
        kinds={name: field.kind for name, field in sketcher.schema.fields.items()},
        id_column=id,
        extra_column=extra,
        on_error=on_error,
        encoding=encoding,
        threads=threads,
    )
    corpus = sketcher.corpus(threads)
    reports = [one.read_into(corpus, number, options) for number, one in enumerate(sources)]
    pair = corpus.duplicate_id(threads)
    if pair is not None:
        raise duplicate_id(corpus, sources, pair)
    return corpus, Reading(sources, reports, options)


def folder_format(schema: Schema, source: Any) -> str | None:
    """Folders hold images where the schema has nothing but images.

    >>> folder_format(Schema(), "texts")
    """
    kinds = {field.kind for field in schema.fields.values()}
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    if kinds != {"image"} or not isinstance(given, list):
        return None
    folders = [isinstance(one, (str, os.PathLike)) and os.path.isdir(one) for one in given]
    return "images" if folders and all(folders) else None


def columns(schema: Schema, text: str | Mapping[str, str] | None) -> dict[str, str]:
    """The column of each field.

    >>> from benzer.fields import Text
    >>> columns(Schema(), "body"), columns(Schema(title=Text(), body=Text()), {"body": "content"})
    ({'text': 'body'}, {'title': 'title', 'body': 'content'})
    """
    names = list(schema.fields)
    if isinstance(text, str):
        if len(names) > 1:
            raise SettingsError(
                f"text names one column, but the fields are {', '.join(names)}: give a mapping"
            )
        return {names[0]: text}
    chosen = dict(text or {})
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise SettingsError(f"there is no field {unknown[0]!r}: the schema has {', '.join(names)}")
    return {name: chosen.get(name, name) for name in names}


def duplicate_id(corpus: Any, sources: Any, pair: tuple[int, int]) -> DuplicateIdError:
    """The error that names both places of an id."""
    numbers, rows = corpus.sources(), corpus.rows()
    places = " and ".join(f"{sources[numbers[at]].name} row {rows[at]}" for at in pair)
    found = corpus.ids(list(pair[:1]))[0]
    return DuplicateIdError(
        f"the id {found!r} stands in {places}: make ids unique, name another id column, or leave the column out"
    )


class Stages:
    """Measures the stages of a run and hands on their progress."""

    def __init__(self, progress: Progress | None) -> None:
        self.timings: dict[str, float] = {}
        self._progress = progress
        self._since = perf_counter()

    def end(self, name: str) -> None:
        """A stage is over."""
        now = perf_counter()
        self.timings[name] = now - self._since
        self._since = now
        if self._progress is not None:
            self._progress(name, 1, 1)

    def report(self, name: str) -> Callable[[int, int], object] | None:
        """What a stage calls with what is done."""
        if self._progress is None:
            return None
        progress = self._progress
        return lambda done, total: progress(name, done, total)
