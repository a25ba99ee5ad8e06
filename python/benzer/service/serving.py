"""Where is an index served, and how does that end? On this machine alone, unless asked otherwise; until a signal."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence

from benzer.errors import OutputError, SettingsError
from benzer.registry import require
from benzer.service.addresses import is_loopback
from benzer.service.catalog import Catalog, given
from benzer.service.settings import Limits, Options

GRACE_SECONDS = 10


def serve(
    locations: Sequence[str | os.PathLike[str]] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    home: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    started: Callable[[Catalog, str], object] | None = None,
) -> None:
    """Serve indexes until SIGINT or SIGTERM, which are raised again when all is closed.

    locations: paths and URLs of indexes that are there. home: a folder whose indexes are served, too, and in which
    new ones are made. Port 0 takes a free one; `started` is told what is served and the address, such as
    "http://127.0.0.1:8000", from when on requests are accepted.

    Raises:
        SettingsError: the host is not this machine alone, and `allow_remote` is not set. There is no
            authentication: whoever reaches the service may read and change the index.
        OutputError: the address is taken, or not of this machine.
        MissingExtraError: FastAPI or uvicorn is not installed.
        StorageError and its kinds: there is no index, or it cannot be opened.
    """
    if not is_loopback(host):
        raise SettingsError(f"host {host!r} can be reached from other machines: serve on 127.0.0.1")
    for module in ("fastapi", "uvicorn"):
        require(module, extra="service", purpose="HTTP services")
    import uvicorn

    from benzer.service.app import create_app

    with Catalog(home) as catalog, listening(host, port) as address:
        for argument in locations:
            name, location = given(os.fspath(argument))
            catalog.open(location, name)
        options = Options(limits or Limits(), loopback_only=is_loopback(host))
        # Its warnings and tracebacks go to stderr; no line for each request.
        config = uvicorn.Config(
            create_app(catalog, options), log_config=None, log_level="warning", access_log=False,
            lifespan="off", ws="none", proxy_headers=False, server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )  # fmt: skip
        if started is not None:
            started(catalog, url_of(address))
        uvicorn.Server(config).run(sockets=[address])


def listening(host: str, port: int) -> socket.socket:
    """A socket that accepts connections to this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OutputError(
            f"{host} port {port} cannot be listened to ({error.strerror}): choose another --host or --port"
        ) from error
    # Connections inherit it. asyncio would set it only for a socket that names its protocol; without it the
    # body of an answer waits 40 ms for the client's word that it has the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
