"""The redis:// URL of an index.

`redis://user:password@host:port/db?prefix=news&ttl=86400`, `rediss://` for TLS, `unix:///path/to/socket`. Further
parameters are those of redis-py (`socket_timeout=10`, `ssl_ca_certs=/path`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from benzer.errors import SettingsError
from benzer.registry import require

_SOCKET = {"socket_timeout": 30.0, "socket_connect_timeout": 5.0}
_LEASE = "lease must be 0.1 to 3600 seconds, got {}"
_OURS = ("decode_responses", "encoding", "encoding_errors", "retry", "protocol")


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """One index in a server.

    Attributes:
        url: The URL for redis-py.
        prefix: The name of the index in the server.
        ttl: Lifetime of a document in seconds, 0 for unlimited, None if the URL does not contain it.
        lease: Seconds during which a writer that does not respond keeps others out.

    >>> address = read_address("redis://:secret@localhost:6380/2?prefix=news&ttl=60")
    >>> address.prefix, address.ttl, address.cluster
    ('news', 60, False)
    >>> address
    redis://localhost:6380/2?prefix=news
    """

    given: str
    url: str
    prefix: str
    ttl: int | None
    cluster: bool
    lease: float

    def __repr__(self) -> str:
        """The address without the password, for messages."""
        parts = urlsplit(self.url)
        place = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}{parts.path}?prefix={self.prefix}"

    @property
    def key(self) -> bytes:
        """The key of the index's metadata; the braces put all of its keys into one slot of a cluster."""
        return b"{%s}:m" % self.prefix.encode()

    def client(self) -> Any:
        """Return a client of redis-py, which repeats nothing by itself."""
        redis = require("redis", extra="redis", purpose="Indexes in Redis")
        options: dict[str, Any] = {**_SOCKET, "retry": redis.retry.Retry(redis.backoff.NoBackoff(), 0)}
        if hasattr(redis, "maint_notifications"):  # two more messages at each connection, of no use here
            options["maint_notifications_config"] = redis.maint_notifications.MaintNotificationsConfig(
                enabled=False
            )
        for name, value in parse_qsl(urlsplit(self.url).query):
            options.pop(name, value)
        try:
            if self.cluster:
                return redis.RedisCluster.from_url(self.url, **options)
            client = redis.Redis.from_url(self.url, **options)
            pool = client.connection_pool
            pool.connection_class(
                **pool.connection_kwargs
            )  # else redis-py sees a wrong parameter when it connects
            return client
        except (TypeError, ValueError) as error:
            raise SettingsError(f"{self!r} is not an address of a Redis server: {error}") from error


def read_address(location: str) -> RedisAddress:
    """Return the address in a URL; SettingsError if one of our parameters is out of range.

    No message quotes a possible part of a password.
    """
    parts = _split(location)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    _check_options(query)
    prefix = query.pop("prefix", "benzer")
    if not 0 < len(prefix) <= 200 or not prefix.isprintable() or set(prefix) & set("{} "):
        raise SettingsError(
            f"prefix must be 1 to 200 characters without braces or spaces, got {prefix!r:.60}"
        )
    ttl = query.pop("ttl", None)
    if ttl is not None and not (ttl.isdecimal() and int(ttl) <= 10**9):
        raise SettingsError(f"ttl must be whole seconds, or 0 for no limit, got {ttl!r}")
    cluster = query.pop("cluster", "false").lower()
    if cluster not in ("true", "false"):
        raise SettingsError(f"cluster must be true or false, got {cluster!r}")
    if cluster == "true" and (parts.path.strip("/") or "0", query.get("db", "0")) != ("0", "0"):
        raise SettingsError("a cluster supports only database 0: remove the number, or cluster=true")
    lease = _seconds(query.pop("lease", "10"))
    if not 0.1 <= lease <= 3600:
        raise SettingsError(_LEASE.format(f"{lease:g}"))
    url = f"{parts.scheme}://{parts.netloc}{parts.path}" + (f"?{urlencode(query)}" if query else "")
    return RedisAddress(location, url, prefix, None if ttl is None else int(ttl), cluster == "true", lease)


def _split(location: str) -> SplitResult:
    """Return the parts of a URL after checking that each is at its usual position."""
    try:
        parts = urlsplit(location)
    except ValueError:
        raise SettingsError(
            "the URL of the index is invalid: use redis://user:password@host:port/db?prefix=name, "
            "with an IPv6 address in brackets"
        ) from None
    socket = parts.scheme == "unix" and (
        not parts.netloc or "@" in parts.netloc
    )  # a path may hold any letter
    if parts.netloc.count("@") > 1 or "@" in ("" if socket else parts.path) + parts.query + parts.fragment:
        raise SettingsError(
            "the URL of the index has an unescaped @: write @ as %40, and the characters / # ? of a "
            "password as %2F %23 %3F"
        )
    if "#" in location:
        raise SettingsError("the URL of the index has an unescaped #: write it as %23")
    if parts.scheme != "unix" and not re.fullmatch(r"/?[0-9]*/?", parts.path):
        name = parts.path.strip("/")
        raise SettingsError(f"/{name} is not a database number: name the index with ?prefix={name}")
    return parts


def _check_options(query: dict[str, str]) -> None:
    """Raise an error for options that redis-py accepts but that break an index."""
    for name in _OURS:
        if name in query:
            raise SettingsError(f"{name} is set by Benzer: remove it from the URL")
    for name in _SOCKET:
        try:
            fits = name not in query or 0 < float(query[name]) < float("inf")
        except ValueError:
            continue  # redis-py says what is wrong with it
        if not fits:
            raise SettingsError(f"{name} must be > 0 seconds, got {query[name]!r}")


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(_LEASE.format(repr(text))) from None
