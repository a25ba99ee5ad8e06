"""Where is an index served, and how does that end? On this machine alone, unless asked otherwise; until a signal."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from ipaddress import ip_address

from benzer.errors import OutputError, SettingsError
from benzer.registry import require
from benzer.service.served import ServedIndex

MAX_BODY_BYTES = 16_000_000
GRACE_SECONDS = 10


def serve(
    location: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    allow_remote: bool = False,
    max_body_bytes: int = MAX_BODY_BYTES,
    started: Callable[[ServedIndex, str], object] | None = None,
) -> None:
    """Serve the index at `location` until SIGINT or SIGTERM, which are raised again when all is closed.

    Requests that have begun are answered, for at most 10 seconds. Port 0 takes a free one; `started` is told
    the served index and its address, such as "http://127.0.0.1:8000", from when on requests are accepted.
    `max_body_bytes` bounds the body of one request, and so the memory that it takes.

    Raises:
        SettingsError: the host is not this machine alone, and `allow_remote` is not set. There is no
            authentication: whoever reaches the service may read and change the index.
        OutputError: the address is taken, or not of this machine.
        MissingExtraError: FastAPI or uvicorn is not installed.
        StorageError and its kinds: there is no index, or it cannot be opened.
    """
    check_host(host, allow_remote)
    if max_body_bytes < 1:
        raise SettingsError(f"max_body_bytes must be 1 or more, got {max_body_bytes}")
    for module in ("fastapi", "uvicorn"):
        require(module, extra="service", purpose="HTTP services")
    import uvicorn

    from benzer.service.app import create_app

    with ServedIndex.open(location) as served, listening(host, port) as address:
        app = create_app(served, max_body_bytes=max_body_bytes, loopback_only=is_loopback(host))
        # Its warnings and tracebacks go to stderr; no line for each request.
        config = uvicorn.Config(
            app, log_config=None, log_level="warning", access_log=False, lifespan="off", ws="none",
            proxy_headers=False, server_header=False, timeout_graceful_shutdown=GRACE_SECONDS,
        )  # fmt: skip
        if started is not None:
            started(served, url_of(address))
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


def check_host(host: str, allow_remote: bool) -> None:
    """Refuse to be reached from other machines by accident.

    >>> check_host("0.0.0.0", allow_remote=False)
    Traceback (most recent call last):
    benzer.errors.SettingsError: host '0.0.0.0' can be reached from other machines, and ...
    """
    if not allow_remote and not is_loopback(host):
        raise SettingsError(
            f"host {host!r} can be reached from other machines, and whoever reaches the service may read and "
            "change the index: serve on 127.0.0.1, or say --allow-remote"
        )


def is_loopback(host: str) -> bool:
    """Whether a name or address certainly is this machine alone.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org", "")]
    [True, True, True, False, False, False]
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
