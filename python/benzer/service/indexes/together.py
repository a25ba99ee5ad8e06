"""Batches small queries: those that arrive while others run wait and then run in one call.

A search releases and reacquires the interpreter lock about ten times, for native work and for SQLite, and each time
may wait for the thread that reads requests. A call with many queries does this once and looks up all bands at once. A
single query runs at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from itertools import groupby
from typing import Any, NamedTuple

from benzer.errors import BenzerError
from benzer.index import Index, Match

MOST = 32


class Question(NamedTuple):
    """A queued query: how to derive the document from the index, and the future of its result."""

    query: Callable[[Index], Any]
    limit: int
    threshold: float | None
    answer: asyncio.Future[list[Match]]


Outcome = list[Match] | BaseException


class Together:
    """The queue of small queries of one index, which belongs to an event loop."""

    def __init__(self, index: Index, threads: Executor) -> None:
        self._index, self._threads = index, threads
        self._waiting: list[Question] = []
        self._running = False

    async def find_similar(
        self, query: Callable[[Index], Any], limit: int, threshold: float | None
    ) -> list[Match]:
        """`Index.find_similar` for the document that `asked` derives from the index."""
        question = Question(query, limit, threshold, asyncio.get_running_loop().create_future())
        self._waiting.append(question)
        if not self._running:
            self._start()
        return await question.answer

    def _start(self) -> None:
        """Run the queued queries that were not cancelled."""
        wanted = [question for question in self._waiting if not question.answer.done()]
        questions, self._waiting = wanted[:MOST], wanted[MOST:]
        self._running = bool(questions)
        if not questions:
            return
        try:
            running = asyncio.get_running_loop().run_in_executor(
                self._threads, answers, self._index, questions
            )
        except RuntimeError as error:  # the index is closing
            give(questions, [error] * len(questions))
            self._running = False
            return
        running.add_done_callback(lambda done: self._go_on(questions, done))

    def _go_on(self, queries: list[Question], done: asyncio.Future[list[Outcome]]) -> None:
        if done.cancelled():
            give(queries, [asyncio.CancelledError()] * len(queries))
        else:
            error = done.exception()
            give(queries, [error] * len(queries) if error is not None else done.result())
        self._start()


def give(queries: list[Question], outcomes: list[Outcome]) -> None:
    """Set the result or the error of each query that was not cancelled."""
    for question, outcome in zip(queries, outcomes, strict=True):
        if question.answer.done():
            continue
        if isinstance(outcome, asyncio.CancelledError):
            question.answer.cancel()
        elif isinstance(outcome, BaseException):
            question.answer.set_exception(outcome)
        else:
            question.answer.set_result(outcome)


def answers(index: Index, queries: list[Question]) -> list[Outcome]:
    """The result or error of each query; queries with the same limit and threshold run in one call."""
    documents: dict[int, Any] = {}
    outcomes: dict[int, Outcome] = {}
    for place, question in enumerate(queries):
        try:
            documents[place] = question.query(index)
        except Exception as error:
            outcomes[place] = error

    def alike(place: int) -> tuple[int, float]:
        threshold = queries[place].threshold
        return queries[place].limit, -1.0 if threshold is None else threshold

    for _, places in groupby(sorted(documents, key=alike), alike):
        outcomes |= similar_documents(index, queries, {place: documents[place] for place in places})
    return [outcomes[place] for place in range(len(queries))]


def similar_documents(index: Index, queries: list[Question], documents: dict[int, Any]) -> dict[int, Outcome]:
    """The results of queries with the same limit and threshold, by position; an invalid one does not affect others."""
    first = queries[next(iter(documents))]
    try:
        matches = index.find_similar_batch(documents.values(), first.limit, first.threshold, threads=1)
        return dict(zip(documents, matches, strict=True))
    except BenzerError as error:
        if len(documents) == 1:
            return dict.fromkeys(documents, error)
    except Exception as error:
        return dict.fromkeys(documents, error)
    except BaseException as panic:  # of the native core
        return dict.fromkeys(documents, RuntimeError(f"the native core failed: {panic}"))
    outcomes: dict[int, Outcome] = {}
    for place, document in documents.items():
        outcomes |= similar_documents(index, queries, {place: document})
    return outcomes
