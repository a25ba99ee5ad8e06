"""Methods that are written once, as coroutines, for blocking and asynchronous classes.

`call` marks a coroutine and `paged` an asynchronous iterator. A subclass that also inherits `Awaiting` has them as they
are; one that inherits `Blocking` has plain methods and iterators, whose connection never waits.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from inspect import signature
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

P = ParamSpec("P")
Result = TypeVar("Result")


class Blocking:
    """A class with a `BlockingConnection`."""


class Awaiting:
    """A class with an `AsyncConnection`."""


def finish(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never waits.

    >>> async def double(number: int) -> int:
    ...     return 2 * number
    >>> finish(double(4))
    8
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine of a blocking client waited: use AsyncClient")


def each(items: AsyncIterator[Result]) -> Iterator[Result]:
    """Iterate over an asynchronous generator that never waits."""
    generator = cast("AsyncGenerator[Result, None]", items)
    try:
        while True:
            try:
                item = finish(generator.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        finish(generator.aclose())


class call(Generic[P, Result]):  # noqa: N801 (reads as a decorator)
    """A method that returns one result."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, Result]]) -> None:
        self.awaiting = method

        @wraps(method)
        def blocking(owner: Any, *args: P.args, **kwargs: P.kwargs) -> Result:
            return finish(method(owner, *args, **kwargs))

        self.blocking = blocking

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Callable[P, Result]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Callable[P, Coroutine[Any, Any, Result]]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return method_of(self, owner, kind)


class paged(Generic[P, Result]):  # noqa: N801
    """A method that returns an iterator over many results."""

    def __init__(self, method: Callable[Concatenate[Any, P], AsyncIterator[Result]]) -> None:
        self.awaiting = method

        @wraps(method)
        def blocking(owner: Any, *args: P.args, **kwargs: P.kwargs) -> Iterator[Result]:
            return each(method(owner, *args, **kwargs))

        written = signature(method)
        iterator = written.return_annotation.removeprefix("Async")
        blocking.__signature__ = written.replace(return_annotation=iterator)  # type: ignore[attr-defined]
        self.blocking = blocking

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Callable[P, Iterator[Result]]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Callable[P, AsyncIterator[Result]]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return method_of(self, owner, kind)


def method_of(item: call[Any, Any] | paged[Any, Any], owner: Any, kind: type) -> Any:
    """The function of a class, or the method of an instance."""
    function = item.blocking if issubclass(kind, Blocking) else item.awaiting
    return function if owner is None else MethodType(function, owner)
