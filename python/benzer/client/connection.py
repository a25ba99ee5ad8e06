"""Connections that run the steps of a call, blocking or asynchronous."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from benzer.client import failures
from benzer.client.retrying import FOR_NOW, Patience, Transient, policy, seconds_of
from benzer.client.steps import Draw, Pages, Request, Sleep, Step, Steps, SuccessfulResponse
from benzer.errors import InputError
from benzer.registry import require

if TYPE_CHECKING:
    import httpx

EXAMPLE = "http://127.0.0.1:8000"
Result = TypeVar("Result")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Address:
    """The address of a service and its key."""

    url: str
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        from httpx import URL, InvalidURL

        try:
            url = URL(self.url)
        except (InvalidURL, TypeError) as error:
            raise no_address(self.url) from error
        if url.scheme not in ("http", "https") or not url.host:
            raise no_address(self.url)
        if self.key is not None and not re.fullmatch("[!-~]+", self.key):
            raise InputError("the key has characters other than printable ASCII: copy it again")
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def settings(self, timeout: float) -> dict[str, Any]:
        """The options of the httpx client; no proxy is used for this machine."""
        from httpx import URL

        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        local = is_local(URL(self.url).host)
        return {"base_url": self.url, "headers": headers, "timeout": timeout, "trust_env": not local}


def no_address(url: object) -> InputError:
    """Return the error for text that is not the address of a service."""
    return InputError(f"{url!r} is not the address of a service: use one such as {EXAMPLE}")


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Sending:
    """Shared by both connections: builds requests and reads responses and failures."""

    def __init__(self, url: str, key: str | None, patience: Patience) -> None:
        for module in ("httpx", "tenacity"):
            require(module, extra="client", purpose="clients of a service")
        self.address, self.patience = Address(url, key), patience

    def written(self, request: Request, pieces: Any) -> dict[str, Any]:
        """A request for httpx."""
        content = pieces if request.body is not None and not isinstance(request.body, bytes) else request.body
        headers = {} if content is None else {"Content-Type": request.media_type}
        parameters = dict(request.parameters) or None
        return {
            "method": request.method, "url": request.path, "params": parameters, "content": content,
            "headers": headers,
        }  # fmt: skip

    def read(self, response: httpx.Response) -> SuccessfulResponse:
        """A response; raises the error that it contains."""
        if response.status_code < 300:
            return SuccessfulResponse(response.status_code, response.content)
        error = failures.error_of(response.status_code, response.content)
        if response.status_code in FOR_NOW:
            raise Transient(
                error,
                refused=failures.is_refused(error),
                after=seconds_of(response.headers.get("Retry-After")),
            )
        raise error

    def failed(self, error: httpx.TransportError) -> Transient:
        """The failure of a request without a response."""
        from httpx import ConnectError, ConnectTimeout, PoolTimeout, TimeoutException

        if isinstance(error, (ConnectError, ConnectTimeout, PoolTimeout)):
            return Transient(failures.unreachable(self.address.url, error), refused=True)
        if isinstance(error, TimeoutException):
            return Transient(failures.silent(self.address.url, self.patience.timeout), refused=False)
        return Transient(failures.lost(self.address.url, error), refused=False)


class Walk(Generic[Result]):
    """A running call: its next step, or its result."""

    step: Any
    result: Result

    def __init__(self, steps: Generator[Any, Any, Result]) -> None:
        self._steps = steps
        self.on(None)

    def on(self, outcome: Any) -> None:
        """Continue after a step."""
        self._follow(lambda: self._steps.send(outcome))

    def fail(self, error: Exception) -> None:
        """Raise the failure of a step in the call."""
        self._follow(lambda: self._steps.throw(error))

    def _follow(self, move: Callable[[], Any]) -> None:
        try:
            self.step = move()
        except StopIteration as end:
            self.step, self.result = None, end.value

    def close(self) -> None:
        """Abort the call."""
        self._steps.close()


class ServiceConnection(Sending):
    """Runs steps and blocks meanwhile. `sleep` waits between attempts."""

    def __init__(
        self, url: str, key: str | None, patience: Patience, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        super().__init__(url, key, patience)
        from httpx import Client

        self._http = Client(**self.address.settings(patience.timeout))
        self._sleep = sleep

    def run(self, steps: Steps[Result]) -> Result:
        """The result of a call."""
        walk = Walk(steps)
        while walk.step is not None:
            self._advance(walk)
        return walk.result

    def pages(self, steps: Pages[Item]) -> Iterator[Item]:
        """The items of a paged call."""
        with closing(Walk(steps)) as walk:
            while walk.step is not None:
                if isinstance(walk.step, list):
                    yield from walk.step
                    walk.on(None)
                else:
                    self._advance(walk)

    def _advance(self, walk: Walk[Any]) -> None:
        try:
            outcome = self._take(walk.step)
        except Exception as error:
            walk.fail(error)
        else:
            walk.on(outcome)

    def _take(self, step: Step) -> Any:
        if isinstance(step, Request):
            return self.send(step)
        if isinstance(step, Sleep):
            return self._sleep(step.seconds)
        return list(islice(step.source, step.count))

    def send(self, request: Request) -> SuccessfulResponse:
        """Send a request with retries."""
        from tenacity import Retrying

        try:
            return Retrying(**policy(self.patience, request), sleep=self._sleep)(self._send_once, request)
        except Transient as failed:
            raise failed.error from failed.__cause__

    def _send_once(self, request: Request) -> SuccessfulResponse:
        from httpx import TransportError

        try:
            return self.read(self._http.request(**self.written(request, request.pieces())))
        except TransportError as error:
            raise self.failed(error) from error

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


class AsyncConnection(Sending):
    """Awaits steps. `sleep` waits between attempts."""

    def __init__(
        self, url: str, key: str | None, patience: Patience,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:  # fmt: skip
        super().__init__(url, key, patience)
        from httpx import AsyncClient

        self._http = AsyncClient(**self.address.settings(patience.timeout))
        self._sleep = sleep

    async def run(self, steps: Steps[Result]) -> Result:
        """The result of a call."""
        walk = Walk(steps)
        while walk.step is not None:
            await self._advance(walk)
        return walk.result

    async def pages(self, steps: Pages[Item]) -> AsyncIterator[Item]:
        """The items of a paged call."""
        with closing(Walk(steps)) as walk:
            while walk.step is not None:
                if isinstance(walk.step, list):
                    for one in walk.step:
                        yield one
                    walk.on(None)
                else:
                    await self._advance(walk)

    async def _advance(self, walk: Walk[Any]) -> None:
        try:
            outcome = await self._take(walk.step)
        except Exception as error:
            walk.fail(error)
        else:
            walk.on(outcome)

    async def _take(self, step: Step) -> Any:
        if isinstance(step, Request):
            return await self.send(step)
        if isinstance(step, Sleep):
            return await self._sleep(step.seconds)
        return await drawn(step)

    async def send(self, request: Request) -> SuccessfulResponse:
        """Send a request with retries."""
        from tenacity import AsyncRetrying

        try:
            attempts = AsyncRetrying(**policy(self.patience, request), sleep=self._sleep)
            return await attempts(self._send_once, request)
        except Transient as failed:
            raise failed.error from failed.__cause__

    async def _send_once(self, request: Request) -> SuccessfulResponse:
        from httpx import TransportError

        try:
            return self.read(await self._http.request(**self.written(request, pieces_of(request))))
        except TransportError as error:
            raise self.failed(error) from error

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()


async def pieces_of(request: Request) -> AsyncIterator[bytes]:
    """The content of a local file in chunks."""
    for piece in request.pieces():
        yield piece


async def drawn(step: Draw) -> list[Any]:
    """The next items of a synchronous or asynchronous iterator."""
    if not isinstance(step.source, AsyncIterator):
        return list(islice(step.source, step.count))
    taken: list[Any] = []
    while len(taken) < step.count:
        try:
            taken.append(await anext(step.source))
        except StopAsyncIteration:
            break
    return taken
