"""Connections to a service, blocking or asynchronous."""

from __future__ import annotations

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import islice
from typing import TYPE_CHECKING, Any

from benzer.client import failures
from benzer.client.requests import Request, SuccessfulResponse, as_json, given
from benzer.client.retrying import FOR_NOW, Patience, Transient, policy, seconds_of
from benzer.errors import InputError, SettingsError
from benzer.registry import require

if TYPE_CHECKING:
    import httpx

EXAMPLE = "http://127.0.0.1:8000"


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


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def no_address(url: object) -> InputError:
    """Return the error for text that is not the address of a service."""
    return InputError(f"{url!r} is not the address of a service: use one such as {EXAMPLE}")


class ClientConnection(ABC):
    """Sends requests with retries. A subclass exchanges one request, waits, and reads documents."""

    def __init__(self, url: str, key: str | None, patience: Patience) -> None:
        for module in ("httpx", "tenacity"):
            require(module, extra="client", purpose="clients of a service")
        self.address, self.patience = Address(url, key), patience

    @abstractmethod
    async def exchange(self, request: Request) -> httpx.Response:
        """Send a request once."""

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Wait."""

    @abstractmethod
    async def draw(self, source: Any, count: int) -> list[Any]:
        """Read the next items of an iterator, at most `count`."""

    async def ask(
        self, method: str, path: str, content: Any = None, *, again: bool = True, **parameters: Any
    ) -> SuccessfulResponse:
        """Send a request with a JSON body; parameters that are None are omitted."""
        try:
            body = None if content is None else as_json(content)
        except ValueError as error:  # the service would reject it
            raise SettingsError(f"the request cannot be written as JSON: {error}") from error
        return await self.send(Request(method, path, given(parameters), body, again=again))

    async def send(self, request: Request) -> SuccessfulResponse:
        """Send a request with retries."""
        from tenacity import AsyncRetrying

        try:
            return await AsyncRetrying(**policy(self.patience, request), sleep=self.sleep)(
                self._send_once, request
            )
        except Transient as failed:
            raise failed.error from failed.__cause__

    async def _send_once(self, request: Request) -> SuccessfulResponse:
        from httpx import TransportError

        try:
            return self.read(await self.exchange(request))
        except TransportError as error:
            raise self.failed(error) from error

    def written(self, request: Request, pieces: Any) -> dict[str, Any]:
        """A request for httpx; `pieces` is the content of a file."""
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


class BlockingConnection(ClientConnection):
    """Blocks instead of waiting, so that its coroutines end at their first step; see `methods.finish`."""

    def __init__(
        self, url: str, key: str | None, patience: Patience, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        super().__init__(url, key, patience)
        from httpx import Client

        self._http = Client(**self.address.settings(patience.timeout))
        self._sleep = sleep

    async def exchange(self, request: Request) -> httpx.Response:
        """See `ClientConnection`."""
        return self._http.request(**self.written(request, request.pieces()))

    async def sleep(self, seconds: float) -> None:
        """See `ClientConnection`."""
        self._sleep(seconds)

    async def draw(self, source: Any, count: int) -> list[Any]:
        """See `ClientConnection`."""
        return list(islice(source, count))

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


class AsyncConnection(ClientConnection):
    """Waits in the event loop. `sleep` waits between attempts."""

    def __init__(
        self, url: str, key: str | None, patience: Patience,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:  # fmt: skip
        super().__init__(url, key, patience)
        from httpx import AsyncClient

        self._http = AsyncClient(**self.address.settings(patience.timeout))
        self._sleep = sleep

    async def exchange(self, request: Request) -> httpx.Response:
        """See `ClientConnection`."""
        return await self._http.request(**self.written(request, pieces_of(request)))

    async def sleep(self, seconds: float) -> None:
        """See `ClientConnection`."""
        await self._sleep(seconds)

    async def draw(self, source: Any, count: int) -> list[Any]:
        """See `ClientConnection`; the iterator may be asynchronous."""
        if not isinstance(source, AsyncIterator):
            return list(islice(source, count))
        items: list[Any] = []
        while len(items) < count:
            try:
                items.append(await anext(source))
            except StopAsyncIteration:
                break
        return items

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()


async def pieces_of(request: Request) -> AsyncIterator[bytes]:
    """The content of a local file in chunks."""
    for piece in request.pieces():
        yield piece
