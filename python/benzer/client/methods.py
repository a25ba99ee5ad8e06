"""How is each call written once, and there for programs that block and for those that await?

A class of calls names them by `call` (one result), `paged` (many, as an iterator) and `value` (an attribute). The class
that inherits it and `Blocking` gets plain methods; the one that inherits it and `Awaiting` gets the same to be awaited.
Type checkers see that through `__get__`, and people and programs see real functions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from benzer.client.connection import AsyncConnection, Connection
from benzer.client.steps import Pages, Steps

P = ParamSpec("P")
Result = TypeVar("Result")


class Blocking:
    """What has a connection that blocks."""

    _connection: Connection

    def __init_subclass__(cls) -> None:
        for name, one in calls_of(cls):
            setattr(cls, name, one.blocking())


class Awaiting:
    """What has a connection that is awaited."""

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
    """A method that says in its signature what it gives, not by which steps."""
    shown = re.fullmatch(r"(Steps|Pages)\[(.*)\]", method.__annotations__["return"])
    if shown:
        gives = shown[2] if shown[1] == "Steps" else f"Iterator[{shown[2]}]"
        signature = inspect.signature(method.__wrapped__)
        method.__signature__ = signature.replace(return_annotation=gives)
    return method


class call(Generic[P, Result]):  # noqa: N801 (reads as a decorator)
    """A method whose steps give one result."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Steps[Result]]) -> None:
        self.steps = steps

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Callable[P, Result]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Callable[P, Awaitable[Result]]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        raise AttributeError("inherit Blocking or Awaiting")

    def blocking(self) -> Any:
        """The method of a client that blocks."""

        @wraps(self.steps)
        def method(owner: Blocking, *args: P.args, **kwargs: P.kwargs) -> Result:
            return owner._connection.run(self.steps(owner, *args, **kwargs))

        return told(method)

    def awaiting(self) -> Any:
        """The method of a client that is awaited."""

        @wraps(self.steps)
        async def method(owner: Awaiting, *args: P.args, **kwargs: P.kwargs) -> Result:
            return await owner._connection.run(self.steps(owner, *args, **kwargs))

        return told(method)


class paged(Generic[P, Result]):  # noqa: N801
    """A method whose steps give many things, a page at a time."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Pages[Result]]) -> None:
        self.steps = steps

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Callable[P, Iterator[Result]]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Callable[P, AsyncIterator[Result]]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        raise AttributeError("inherit Blocking or Awaiting")

    def blocking(self) -> Any:
        """The method of a client that blocks."""

        @wraps(self.steps)
        def method(owner: Blocking, *args: P.args, **kwargs: P.kwargs) -> Iterator[Result]:
            return owner._connection.pages(self.steps(owner, *args, **kwargs))

        return told(method)

    def awaiting(self) -> Any:
        """The method of a client that is awaited."""

        @wraps(self.steps)
        def method(owner: Awaiting, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Result]:
            return owner._connection.pages(self.steps(owner, *args, **kwargs))

        return told(method)


class value(Generic[Result]):  # noqa: N801
    """An attribute that takes steps; of a client that is awaited, `await index.settings`."""

    def __init__(self, steps: Callable[[Any], Steps[Result]]) -> None:
        self.steps = steps

    @overload
    def __get__(self, owner: Blocking, kind: Any = None) -> Result: ...
    @overload
    def __get__(self, owner: Awaiting, kind: Any = None) -> Awaitable[Result]: ...
    def __get__(self, owner: Any, kind: Any = None) -> Any:
        raise AttributeError("inherit Blocking or Awaiting")

    def blocking(self) -> Any:
        """The attribute of a client that blocks."""
        return property(call(self.steps).blocking())

    def awaiting(self) -> Any:
        """The attribute of a client that is awaited."""
        return property(call(self.steps).awaiting())
