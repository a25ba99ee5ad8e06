"""The batch flow: from sources to verified duplicates, on one page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from benzer._native import __version__
from benzer.candidates import identical
from benzer.checks import check_threads
from benzer.clusters import Keep, decide_unknown
from benzer.corpora import DocumentCorpus
from benzer.fields import Schema
from benzer.fields.schema import check_schema
from benzer.pipeline import against as older
from benzer.pipeline.checkpoint import Checkpoint, NoCheckpoint
from benzer.pipeline.memory import Memory
from benzer.pipeline.options import Options, chosen
from benzer.pipeline.promise import Promise, Way, method_of
from benzer.pipeline.reading import Read, read
from benzer.pipeline.work import BatchWork
from benzer.results import Duplicates, Reading, Settings

Progress = Callable[[str, int, int | None], object]


def find_duplicates(
    source: Any,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    keep: str | Keep = "first",
    against: Any = (),
    method: str | None = None,
    threads: int = 0,
    memory: str | int | None = None,
    progress: Progress | None = None,
    options: Options | None = None,
) -> Duplicates:
    """Find near-duplicates. Each reported pair is verified exactly, and each removed document has a kept match.

    Args:
        source: Paths, globs, folders, "-", tables, or documents (see `benzer.sources.open_sources`).
        threshold: Minimum similarity of duplicates, in (0, 1]. Defaults to that of the first index of `against`, to
            the one advised for the method of images if all fields are images (see `benzer.Image`), or to 0.8.
        recall: Minimum probability of finding a pair at the threshold, in (0, 1]. Pairs above the threshold are
            found with a higher probability. Bands are chosen for it unless `options` contains some; 1 selects the
            exact method. Defaults to 0.95, or the lowest recall of `against` if that is lower.
        schema: Fields and how they are read. Defaults to the schema of the first index of `against`, or one text
            field.
        text: Column of the text field, or a mapping of fields to columns. Defaults to the names of the fields.
        id: Column of ids. Defaults to "id" if it exists; otherwise, and for "none", ids are generated as "name:row".
        keep: Which document of a cluster to keep, see `benzer.clusters.Keep`.
        against: One or several open indexes. Documents that match one of theirs are removed; the others are compared
            with each other. The indexes are not changed. A document does not match an old document with the same id.
        method: "lsh" uses bands (the default), "exact" a join that finds all pairs, "auto" whichever is cheaper for
            a sample of the documents.
        threads: Number of threads; 0 uses all cores. Does not affect the result.
        memory: Upper bound for memory allocated by this run, e.g. "2GB" (see `benzer.pipeline.memory`). Does not
            affect the result.
        progress: Function called with (stage, done, total).
        options: Rarely changed settings: signatures, bands, malformed rows, formats, interrupted runs (see
            `benzer.Options`).

    Returns:
        The pairs, clusters, kept and removed documents and counts.

    Raises:
        SettingsError: A setting is out of range, or the checkpoint belongs to another run.
        SettingsMismatchError: An index has another schema.
        InputError: The input cannot be read.
        MalformedRowError: A row is malformed and `on_error` is "stop".
        DuplicateIdError: Two documents have the same id and `on_duplicate_id` is "stop".

    >>> texts = {"a": "the quick brown fox jumps over the lazy dog tonight",
    ...          "b": "The quick brown fox jumps over the lazy dog, tonight!",
    ...          "c": "a completely different text about something else entirely"}
    >>> found = find_duplicates(texts)
    >>> found.kept, found.removed
    (['a', 'c'], {'b': Removal(kept_id='a', similarity=1.0)})
    """
    started = perf_counter()
    indexes = older.as_collections(against)
    if schema is None:
        schema = indexes[0].settings.schema if indexes else Schema()
    check_schema(schema)
    check_threads(threads)
    threshold = older.default_threshold(schema, indexes) if threshold is None else threshold
    recall = older.default_recall(indexes) if recall is None else recall
    keep, bound, options = Keep.parse(keep), Memory.parse(memory), chosen(options)
    promise = Promise(schema, threshold, recall, options)
    way = promise.by(method_of(method, recall, options.bands, schema))
    older.check(indexes, schema, threshold, recall)
    stage = StageClock(progress, bound)

    with opened(options.checkpoint) as saved:
        report = stage.report("read")
        ahead = way.sketcher if way and bound.bytes is None and not isinstance(saved, Checkpoint) else None
        reading = read(source, schema, text, id, options, keep.column, threads, report, ahead)
        stage.end("read")
        way = way or promise.cheapest(reading.corpus, threads)
        settings = Settings(
            threshold, promise.kept_by(way, bool(indexes)), schema, way.sketcher.minhash, way.bands, keep,
            options.bucket_limit, options.on_error, way.method, way.reason, older.names_of(indexes),
            options.on_duplicate_id, options.id_scope,
        )  # fmt: skip
        if isinstance(saved, Checkpoint):
            saved.begin(run_of(settings, reading.corpus, threads, indexes))
        result = search(
            reading, settings, way, indexes, BatchWork(reading.corpus, schema, threads, bound, saved), stage
        )
        if saved is not options.checkpoint:
            saved.discard()
    return replace(result, timings={**stage.timings, "total": perf_counter() - started})


def search(
    reading: Read,
    settings: Settings,
    way: Way,
    indexes: Sequence[older.OlderCollection],
    work: BatchWork,
    stage: StageClock,
) -> Duplicates:
    """Sketch documents, find candidate pairs, verify them, and decide which documents to keep."""
    corpus, threshold = reading.corpus, settings.threshold
    rank = ranked(settings.keep, reading, work.threads)
    sketches = work.sketch(way.sketcher, stage.report("sketch"))
    empty, short = sketches.empty, sketches.short
    stage.end("sketch")
    stands_for = identical(corpus, sketches.content, empty, rank, work.threads)
    alone = stands_for == np.arange(len(corpus), dtype=np.uint32)
    matches = older.look_up(work, indexes, threshold, stands_for)
    stage.end("against", ran=bool(indexes))
    if way.bands is None:
        proposed, similarity = work.join(sketches, alone & ~empty, threshold, stage.report("candidates"))
    else:
        proposed, similarity = work.propose(
            sketches, alone, settings.bucket_limit, stage.report("candidates")
        )
    del sketches  # band keys use the most memory
    stage.end("candidates")
    if similarity is None:
        similarity = work.verify(proposed.left, proposed.right, stage.report("verify"))
    stage.end("verify")
    known = matches.mask(len(corpus)) if matches else np.zeros(len(corpus), dtype=bool)
    pairs = (proposed.left, proposed.right, similarity)
    decision = decide_unknown(
        known, rank, stands_for, pairs, threshold, work.compare, proposed.large, work.families
    )
    corpus.check_files()  # files of texts that were not read again may have changed
    stage.end("clusters")
    return Duplicates(
        settings=replace(settings, bucket_limit=proposed.limit),
        reading=Reading(reading.sources, reading.reports, reading.options, reading.repeated),
        corpus=corpus,
        empty=empty,
        short=short,
        rank=rank,
        stands_for=stands_for,
        proposed=proposed,
        verified=similarity,
        decision=decision,
        compare=work.compare,
        families=work.families,
        timings={},
        matches=matches,
    )


def ranked(keep: Keep, reading: Read, threads: int = 0) -> Any:
    """Return the position of each document in the keep order (uint32, n)."""
    corpus = reading.corpus
    if keep.rule == "first":
        return np.arange(len(corpus), dtype=np.uint32)
    places = np.array(keep.source_places([source.name for source in reading.sources]))
    extras = corpus.extras() if keep.column else ()
    everyone = np.arange(len(corpus), dtype=np.uint32)
    lengths = corpus.text_lengths(everyone, threads) if keep.rule == "longest" else corpus.lengths()
    return keep.rank(lengths, extras, places[corpus.sources()])


def opened(checkpoint: str | os.PathLike[str] | Checkpoint | None) -> Any:
    """Return the checkpoint of a run as a context manager, which does not close an open one."""
    if checkpoint is None:
        return nullcontext(NoCheckpoint())
    return nullcontext(checkpoint) if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)


def run_of(settings: Settings, corpus: DocumentCorpus, threads: int, indexes: Any) -> dict[str, Any]:
    """Return the description of a run for its checkpoint: version, settings, documents and older collections."""
    return {
        "version": __version__,
        "settings": settings.to_dict(),
        "documents": {"count": len(corpus), "digest": corpus.digest(threads).hex()},
        "against": list(older.facts(indexes)),
    }


class StageClock:
    """Measures the stages of a run, forwards their progress, and keeps a run within its memory limit."""

    def __init__(self, progress: Progress | None, memory: Memory) -> None:
        self.timings: dict[str, float] = {}
        self._progress = progress
        self._memory = memory
        self._since = perf_counter()

    def end(self, name: str, ran: bool = True) -> None:
        """End a stage; a stage that did not run has no time."""
        if not ran:
            return
        self._memory.trim()
        now = perf_counter()
        self.timings[name] = now - self._since
        self._since = now
        if self._progress is not None:
            self._progress(name, 1, 1)

    def report(self, name: str) -> Callable[[int, int], object] | None:
        """Return the progress function of a stage."""
        if self._progress is None:
            return None
        progress = self._progress
        return lambda done, total: progress(name, done, total)
