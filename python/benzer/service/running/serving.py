"""Where is an index served, and how does that end? On this machine alone, unless asked otherwise; until a signal."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from benzer.errors import OutputError, SettingsError
from benzer.registry import require
from benzer.service.guards.addresses import is_loopback
from benzer.service.settings import Limits, Options

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
    """Serve indexes until SIGINT or SIGTERM, which are raised again when all is closed.

    locations: paths and URLs of indexes that are there; NAME=LOCATION serves one under another name than that of its
    file, or of its prefix. home: a folder, or a redis:// URL, whose indexes are served, too, and in which new ones are
    made. Without either, indexes of sample documents are made in a temporary folder, which is the home. keys, origins,
    rate: as in `Options`. Port 0 takes a free one; `started` is told what is
    served and the address, such as "http://127.0.0.1:8000", from when on requests are accepted. log_format: "json",
    "text" or "off", of a line for each request on stderr; log_level: "debug", "info", "warning" or "error".

    At the end requests that have begun are answered, for at most `limits.grace_seconds`; what then still runs is given
    up, and the process ends within two seconds more.

    Raises:
        SettingsError: the host is not this machine alone, and there are no keys; or the file holds none.
        OutputError: the address is taken, or not of this machine.
        MissingExtraError: FastAPI or uvicorn is not installed.
        StorageError and its kinds: there is no index, or it cannot be opened.
    """
    check_keys(host, keys)
    for module in ("fastapi", "uvicorn", "prometheus_client", "python_multipart"):
        require(module, extra="service", purpose="HTTP services")
    from benzer.service.app import create_app
    from benzer.service.indexes.catalog import Catalog, given
    from benzer.service.running.server import Server
    from benzer.service.samples import demo_home
    from benzer.service.telemetry.logs import Log

    # With keys any name will do: what a page gains that had its own name resolve to this machine is no key.
    options = Options(
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
    """Refuse an address that others can reach without keys, and a file of keys that is not there."""
    if keys is None and not is_loopback(host):
        raise SettingsError(
            f"the host {host!r} can be reached from other machines: make keys with benzer keys add FILE, "
            "and serve with --keys FILE"
        )
    if keys is not None and not os.path.exists(keys):
        raise SettingsError(
            f"there is no file of keys at {os.fspath(keys)}: make it with "
            f"benzer keys add {os.fspath(keys)} --name NAME --scope write"
        )


def listening(host: str, port: int) -> socket.socket:
    """A socket that accepts connections to this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = (error.strerror or "").partition(" (while")[0]  # Python's words repeat the address
        raise OutputError(
            f"{host} port {port} cannot be listened to ({reason}): choose another --host or --port"
        ) from error
    # Connections inherit it. asyncio would set it only for a socket that names its protocol; without it the
    # body of an answer waits 40 ms for the client's word that it has the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
