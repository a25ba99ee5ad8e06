"""Coroutines that never wait are run by plain methods, also inside a running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from benzer.client.methods import Awaiting, Blocking, call, each, finish, paged


class Counting:
    """Calls that never wait; `ended` counts how often `numbers` was left."""

    ended = 0

    @call
    async def double(self, number: int) -> int:
        """Return twice the number."""
        return 2 * number

    @paged
    async def numbers(self, below: int) -> AsyncIterator[int]:
        """Iterate over numbers."""
        try:
            for number in range(below):
                yield number
        finally:
            self.ended += 1


class Plain(Blocking, Counting):
    pass


class Awaited(Awaiting, Counting):
    pass


def test_a_blocking_class_has_plain_methods_and_iterators() -> None:
    counting = Plain()
    assert counting.double(4) == 8
    assert list(counting.numbers(3)) == [0, 1, 2]
    assert counting.ended == 1


def test_an_awaiting_class_has_coroutines_and_asynchronous_iterators() -> None:
    async def run() -> tuple[int, list[int]]:
        counting = Awaited()
        return await counting.double(4), [number async for number in counting.numbers(3)]

    assert asyncio.run(run()) == (8, [0, 1, 2])


def test_blocking_methods_work_inside_a_running_event_loop() -> None:
    async def run() -> tuple[int, list[int], int]:
        counting = Plain()
        return counting.double(4), list(counting.numbers(3)), counting.ended

    assert asyncio.run(run()) == (8, [0, 1, 2], 1)


@pytest.mark.parametrize("inside", [False, True])
def test_an_iterator_that_is_left_early_ends_its_generator(inside: bool) -> None:
    counting = Plain()

    async def run() -> None:
        for _ in counting.numbers(3):
            break

    if inside:
        asyncio.run(run())
    else:
        finish(run())
    assert counting.ended == 1


def test_an_error_passes_through() -> None:
    async def broken() -> AsyncIterator[int]:
        yield 1
        raise ValueError("broken")

    found = each(broken())
    assert next(found) == 1
    with pytest.raises(ValueError, match="broken"):
        next(found)


def test_a_coroutine_that_waits_is_an_error() -> None:
    async def run() -> None:
        with pytest.raises(RuntimeError, match="use AsyncClient"):
            finish(asyncio.sleep(0))

    asyncio.run(run())
