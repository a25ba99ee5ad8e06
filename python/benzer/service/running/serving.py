"""Serves indexes at an address, by default on this machine only, until a signal."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from benzer.errors import OutputError, SettingsError
from benzer.registry import require
from benzer.service.guards.addresses import is_loopback
from benzer.service.settings import Limits, ServiceOptions

if TYPE_CHECKING:
    from benzer.service.indexes.catalog import Catalog


def serve(
    locations: Sequence[str | os.PathLike[str]] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    home: str | os.PathLike[str] | None = None,
    keys: str | os.PathLike[str] | None = None,
    origins: Sequence[str] = (),
    rate: float | None = None,
    limits: Limits | None = None,
    log_format: str = "off",
    log_level: str = "info",
    started: Callable[[Catalog, str], object] | None = None,
) -> None:
    """Serve indexes until SIGINT or SIGTERM, which are raised again after everything is closed.

    At shutdown running requests are completed for at most `limits.grace_seconds`. Then the remaining work is aborted,
    and the process ends within two more seconds.

    Args:
        locations: Paths and URLs of existing indexes; NAME=LOCATION serves an index under another name than that of
            its file or prefix.
        home: A folder or a redis:// URL. Its indexes are served, and new ones are created there. Without locations
            and home, sample indexes are created in a temporary home.
        host: The address to listen on.
        port: The port to listen on; 0 for any free port.
        started: Called with the catalog and the address, such as "http://127.0.0.1:8000", when requests are
            accepted.
        log_format: Format of the log lines on stderr: "json", "text" or "off".
        log_level: Minimum level of log lines: "debug", "info", "warning" or "error".
        keys, origins, rate: See `ServiceOptions`.

    Raises:
        SettingsError: The host can be reached from other machines and there are no keys, or the key file is invalid.
        OutputError: The address is in use or does not belong to this machine.
        MissingExtraError: FastAPI or uvicorn is not installed.
        StorageError: An index does not exist or cannot be opened.
    """
    check_keys(host, keys)
    for module in ("fastapi", "uvicorn", "prometheus_client", "python_multipart"):
        require(module, extra="service", purpose="HTTP services")
    from benzer.service.app import create_app
    from benzer.service.indexes.catalog import Catalog, given
    from benzer.service.running.server import Server
    from benzer.service.samples import demo_home
    from benzer.service.telemetry.logs import Log

    # With keys any host name is allowed: DNS rebinding gives a page access to this machine, but no key.
    options = ServiceOptions(
        limits or Limits(), loopback_only=keys is None, origins=tuple(origins), keys=keys, rate=rate
    )
    with (
        nullcontext(home) if home is not None or locations else demo_home() as place,
        Log(log_format, log_level) as log,
        Catalog(place) as catalog,
        listening(host, port) as address,
    ):
        for argument in locations:
            name, location = given(os.fspath(argument))
            if os.path.isdir(location):
                raise SettingsError(f"{location} is a folder: serve the indexes in it with --home {location}")
            catalog.open(location, name)
        app = create_app(catalog, options, log)
        if started is not None:
            started(catalog, url_of(address))
        try:
            Server(app).run(sockets=[address])
        finally:
            app.state.shared.jobs.close()


def check_keys(host: str, keys: str | os.PathLike[str] | None) -> None:
    """Reject an address that other machines can reach without keys, and a missing key file."""
    if keys is None and not is_loopback(host):
        raise SettingsError(
            f"the host {host!r} can be reached from other machines: create keys with benzer keys add FILE "
            "and serve with --keys FILE"
        )
    if keys is not None and not os.path.exists(keys):
        raise SettingsError(
            f"the key file {os.fspath(keys)} does not exist: create it with "
            f"benzer keys add {os.fspath(keys)} --name NAME --scope write"
        )


def listening(host: str, port: int) -> socket.socket:
    """A listening socket at an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = (error.strerror or "").partition(" (while")[0]  # Python's message repeats the address
        raise OutputError(
            f"cannot listen on {host} port {port} ({reason}): choose another --host or --port"
        ) from error
    # Connections inherit it. asyncio would set it only for a socket that names its protocol; without it the
    # body of an answer waits 40 ms for the client's word that it has the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
