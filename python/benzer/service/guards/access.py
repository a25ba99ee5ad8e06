"""Authentication, scopes and rate limits, by the key of a request or by a browser session."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from benzer.errors import BenzerError
from benzer.service.access import READS
from benzer.service.errors import UNKNOWN_KEY, UNREADABLE_KEYS, Failure, failure
from benzer.service.guards.addresses import client_of
from benzer.service.guards.refusing import refuse
from benzer.service.guards.strangers import MOST_STRANGERS, WRONG_KEYS, Strangers, is_stranger
from benzer.service.keys import Key
from benzer.service.state import State
from benzer.service.telemetry.trace import trace_of
from benzer.wording import decimal, duration

LOG = logging.getLogger("benzer.service")
COOKIE = "benzer_session"
CHALLENGE = {"WWW-Authenticate": "Bearer"}

UNCOUNTED = (
    "/health",
    "/ready",
    "/favicon.ico",
)  # a rejected probe would be read as an unhealthy service
PUBLIC = (*UNCOUNTED, "/login", "/logout", "/openapi.json", "/docs")
"""Paths that need no key. The description is the same for every service and contains no stored data; client
generators and test tools rarely send a key for it."""
STATIC = "/static/"
FOR_PROGRAMS = ("/v1/", "/metrics")
"""Paths that are not pages: without a key they get an error instead of a redirect to the login page."""


class Access:
    """Checks the key of a request. Stores the client in `scope["benzer.access"]`: `{"id": …, "name": …, "scopes": …}`.

    If no keys are required, every client has all scopes and no name. A key in the header `Authorization` takes
    precedence over a session cookie.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.keys, self.sessions = state.keys, state.sessions
        self.state, self.rate, self.strangers = state, state.options.rate, Strangers()
        self.max_body_bytes = state.limits.max_body_bytes
        self._said = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self.refusal(scope, Headers(scope=scope))
        if not is_stranger(scope) or scope["path"] in UNCOUNTED:
            await self.answer(refused, scope, receive, send)
            return
        address = address_of(scope)
        if not self.strangers.enter(address):
            await CROWDED(scope, receive, send)
            return
        try:
            await self.answer(refused, scope, receive, send)
        finally:
            self.strangers.leave(address)

    async def answer(self, refused: ASGIApp | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request or pass it on."""
        if refused is None:
            await self.app(scope, receive, send)
        else:
            await refuse(refused, scope, receive, send, self.max_body_bytes)

    def refusal(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """The response to a rejected request; None if it is accepted."""
        path = scope["path"]
        key, trouble = self.key_of(headers)
        scope["benzer.access"] = access_of(key, required=self.keys is not None)
        if key is not None:
            trace_of(scope).key = key.name
        if self.keys is not None and not (path in PUBLIC or path.startswith(STATIC)):
            if trouble:
                return failure(503, trouble, headers={"Retry-After": "1"})
            if key is None:
                return (
                    guessed(self.state, scope, headers)
                    or self.hurried(scope, None)
                    or stranger(scope, headers)
                )
            if "write" not in key.scopes and not only_asks(scope):
                return failure(403, f"the key {key.name!r} is read-only: use a key with the scope write")
        return self.hurried(scope, key)

    def key_of(self, headers: Headers) -> tuple[Key | None, str]:
        """The key of a request if it has a valid one, or the reason why keys cannot be read."""
        if self.keys is None:
            return None, ""
        try:
            if (sent := headers.get("authorization")) is not None:
                kind, _, secret = sent.partition(" ")
                return self.keys.find(secret.strip() if kind.lower() == "bearer" else ""), ""
            id = self.sessions.key_of(session_of(headers))
            return (None if id is None else self.keys.get(id)), ""
        except (BenzerError, OSError) as error:
            if str(error) != self._said:  # once, not for every request
                LOG.error("all requests are rejected: %s", error)
                self._said = str(error)
            return None, UNREADABLE_KEYS

    def hurried(self, scope: Scope, key: Key | None) -> ASGIApp | None:
        """The response to a client above its rate limit."""
        rate = self.rate if key is None or key.rate is None else key.rate
        path = scope["path"]
        if rate is None or path in UNCOUNTED or path.startswith(STATIC):
            return None
        wait = self.state.rates.wait(address_of(scope) if key is None else f"key {key.id}", rate)
        if not wait:
            return None
        asker = "without a key" if key is None else f"with the key {key.name!r}"
        message = f"more than {decimal(rate)} requests per minute {asker}: retry in {duration(wait)}"
        return failure(429, message, headers=retry_after(wait))


CROWDED = failure(
    429,
    f"more than {MOST_STRANGERS} requests at a time without a key: send the header Authorization: Bearer KEY",
    headers={"Retry-After": "1", "Connection": "close"},
)


def address_of(scope: Scope) -> str:
    """The address of the client."""
    return client_of((scope.get("client") or ("",))[0])


def retry_after(seconds: float) -> Mapping[str, str]:
    """The Retry-After header."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def guessed(state: State, scope: Scope, headers: Headers) -> Failure | None:
    """The response to an address that sends too many wrong keys or sessions; None below the limit."""
    if "authorization" not in headers and not session_of(headers):
        return None
    return wrong_key(state, scope)


def wrong_key(state: State, scope: Scope) -> Failure | None:
    """Count a wrong key; returns the response if an address has sent too many, otherwise None.

    Only requests with wrong keys are rejected; clients with a valid key at the same address are served.
    """
    wait = state.rates.wait(f"wrong keys of {address_of(scope)}", WRONG_KEYS)
    if not wait:
        return None
    limit = f"more than {decimal(WRONG_KEYS)} wrong keys per minute"
    message = f"{limit}: retry in {duration(wait)} with a key of benzer keys"
    return failure(429, message, headers=retry_after(wait))


def access_of(key: Key | None, *, required: bool) -> dict[str, Any]:
    """The client, in the form that pages read. `asked`: whether the service requires keys.

    >>> access_of(None, required=False), access_of(None, required=True)
    ({'id': None, 'name': None, 'scopes': ['read', 'write']}, {'id': None, 'name': None, 'scopes': []})
    """
    if key is not None:
        return {"id": key.id, "name": key.name, "scopes": list(key.scopes)}
    return {"id": None, "name": None, "scopes": [] if required else ["read", "write"]}


def stranger(scope: Scope, headers: Headers) -> ASGIApp:
    """The response to a request without a valid key: for a browser, the login page."""
    path = scope["path"]
    person = scope["method"] in ("GET", "HEAD") and "text/html" in headers.get("accept", "")
    if person and "authorization" not in headers and not path.startswith(FOR_PROGRAMS):
        query = scope["query_string"].decode("latin-1")
        return RedirectResponse("/login?next=" + quote(path + (f"?{query}" if query else ""), safe="/"), 303)
    if "authorization" in headers:
        return failure(401, UNKNOWN_KEY, headers=CHALLENGE)
    return failure(401, "a key is required: send the header Authorization: Bearer KEY", headers=CHALLENGE)


def session_of(headers: Headers) -> str:
    """The session secret of a browser; empty without a session."""
    return cookie_parser(headers["cookie"]).get(COOKIE, "") if "cookie" in headers else ""


def only_asks(scope: Scope) -> bool:
    """Whether a request changes nothing, by its method or its route. A request without a route counts as changing."""
    if scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return True
    routes: Iterable[BaseRoute] = scope["app"].state.routes
    for route in routes:
        if isinstance(route, APIRoute) and route.matches(scope)[0] is Match.FULL:
            return READS.items() <= (route.openapi_extra or {}).items()
    return False
