"""Descriptors that make each call available in blocking and asynchronous classes.

A class of calls defines them with `call` (one result), `paged` (many results, as an iterator) and `value` (an
attribute). A subclass that also inherits `Blocking` gets plain methods; one that inherits `Awaiting` gets coroutines.
Type checkers see this through `__get__`; at run time they are real functions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from benzer.client.connection import AsyncConnection, ServiceConnection
from benzer.client.steps import Pages, Steps

P = ParamSpec("P")
Result = TypeVar("Result")


class Blocking:
    """A class with a blocking connection."""

    _connection: ServiceConnection

    def __init_subclass__(cls) -> None:
        for name, one in calls_of(cls):
            setattr(cls, name, one.blocking())


class Awaiting:
    """A class with an asynchronous connection."""

    _connection: AsyncConnection

    def __init_subclass__(cls) -> None:
        for name, one in calls_of(cls):
            setattr(cls, name, one.awaiting())


def calls_of(kind: type) -> Iterator[tuple[str, Any]]:
    """The calls that a class inherits, by name."""
    for parent in kind.__mro__:
        for name, one in vars(parent).items():
            if isinstance(one, (call, paged, value)):
                yield name, one


def told(method: Any) -> Any:
    """A method whose signature has the result type instead of the steps."""
    shown = re.fullmatch(r"(Steps|Pages)\[(.*)\]", method.__annotations__["return"])
    if shown:
        gives = shown[2] if shown[1] == "Steps" else f"Iterator[{shown[2]}]"
        signature = inspect.signature(method.__wrapped__)
        method.__signature__ = signature.replace(return_annotation=gives)
    return method


class call(Generic[P, Result]):  # noqa: N801 (reads as a decorator)
    """A method whose steps return one result."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Steps[Result]]) -> None:
        self.steps = steps

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Callable[P, Result]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Callable[P, Awaitable[Result]]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        raise AttributeError("inherit Blocking or Awaiting")

    def blocking(self) -> Any:
        """The method of a blocking client."""

        @wraps(self.steps)
        def method(owner: Blocking, *args: P.args, **kwargs: P.kwargs) -> Result:
            return owner._connection.run(self.steps(owner, *args, **kwargs))

        return told(method)

    def awaiting(self) -> Any:
        """The method of an asynchronous client."""

        @wraps(self.steps)
        async def method(owner: Awaiting, *args: P.args, **kwargs: P.kwargs) -> Result:
            return await owner._connection.run(self.steps(owner, *args, **kwargs))

        return told(method)


class paged(Generic[P, Result]):  # noqa: N801
    """A method whose steps return many items in pages."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Pages[Result]]) -> None:
        self.steps = steps

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Callable[P, Iterator[Result]]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Callable[P, AsyncIterator[Result]]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        raise AttributeError("inherit Blocking or Awaiting")

    def blocking(self) -> Any:
        """The method of a blocking client."""

        @wraps(self.steps)
        def method(owner: Blocking, *args: P.args, **kwargs: P.kwargs) -> Iterator[Result]:
            return owner._connection.pages(self.steps(owner, *args, **kwargs))

        return told(method)

    def awaiting(self) -> Any:
        """The method of an asynchronous client."""

        @wraps(self.steps)
        def method(owner: Awaiting, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Result]:
            return owner._connection.pages(self.steps(owner, *args, **kwargs))

        return told(method)


class value(Generic[Result]):  # noqa: N801
    """An attribute that needs steps; in an asynchronous client it is awaited: `await index.settings`."""

    def __init__(self, steps: Callable[[Any], Steps[Result]]) -> None:
        self.steps = steps

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Result: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Awaitable[Result]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        raise AttributeError("inherit Blocking or Awaiting")

    def blocking(self) -> Any:
        """The attribute of a blocking client."""
        return property(call(self.steps).blocking())

    def awaiting(self) -> Any:
        """The attribute of an asynchronous client."""
        return property(call(self.steps).awaiting())
