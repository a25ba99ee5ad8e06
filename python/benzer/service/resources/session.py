"""Browser sessions: `POST /login` accepts a key once and sets a cookie.

The page `/login` sends a form (`application/x-www-form-urlencoded`, without a script) with the fields

- `key`: the key as printed by `benzer keys add`;
- `next`: the path to redirect to, from the query of the page's own address (`/login?next=/tune`); default "/".

The response is a 303 to `next`, or back to `/login?failed=1&next=…` if the key is unknown. A script may send the
same as JSON (`{"key": …}`); the response is 200 `{"name", "scopes"}`, or 401 in the shape of all errors.
`POST /logout`, a form without fields, ends the session and returns a 303 to `/login`.

Pages read the client from `request.scope["benzer.access"]`: `{"name": "ci", "scopes": ["read", "write"]}`. The name is
None if the service requires no keys. It is also None without a key, and then the scopes are empty.

These routes are for pages and not in the OpenAPI description: programs send their key with each request.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from benzer.errors import BenzerError
from benzer.service.access import READS, Shared
from benzer.service.errors import UNKNOWN_KEY, UNREADABLE_KEYS, Answer, Refusal, failure
from benzer.service.guards.access import CHALLENGE, COOKIE, access_of, session_of, wrong_key
from benzer.service.guards.strangers import STRANGER_BYTES
from benzer.service.keys.sessions import SECONDS
from benzer.service.state import State
from benzer.wording import count

router = APIRouter(include_in_schema=False)
OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A path of this service. Browsers read `//host` and `/\\host` as another site, and ignore tabs and line breaks."""


@router.post("/login", openapi_extra=READS)
async def login(request: Request, shared: Shared) -> Response:
    """Start a session for a key."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    by_script = media == "application/json"
    fields = await sent(request, by_script)
    place = fields["next"] if OWN_PATH.fullmatch(fields["next"]) else "/"
    try:
        key = None if shared.keys is None else shared.keys.find(fields["key"].strip())
    except (BenzerError, OSError) as error:
        raise Refusal(503, UNREADABLE_KEYS, retry_after=1) from error
    if key is None and shared.keys is not None:
        if (refused := wrong_key(shared, request.scope)) is not None:
            return refused
        if by_script:
            return failure(401, UNKNOWN_KEY, headers=CHALLENGE)
        return RedirectResponse("/login?" + urlencode({"failed": "1", "next": place}), 303)
    known = access_of(key, required=shared.keys is not None)
    access = {name: known[name] for name in ("name", "scopes")}
    answer: Response = Answer(access) if by_script else RedirectResponse(place, 303)
    if key is not None:
        keep(answer, request, shared, key.id)
    return answer


@router.post("/logout", openapi_extra=READS)
async def logout(request: Request, shared: Shared) -> Response:
    """End the session."""
    shared.sessions.end(session_of(request.headers))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


async def sent(request: Request, by_script: bool) -> dict[str, str]:
    """The fields of a form or of JSON; all must be texts."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > STRANGER_BYTES:
            raise Refusal(
                413, f"the body of a login is too large: send at most {count(STRANGER_BYTES)} bytes"
            )
    try:
        text = body.decode()
        fields: Any = json.loads(text) if by_script else dict(parse_qsl(text, max_num_fields=10))
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "the body cannot be parsed: send the field key") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("key"), str):
        raise Refusal(422, "a login needs the field key: send it as a text", field="body.key")
    place = fields.get("next")
    return {"key": fields["key"], "next": place if isinstance(place, str) else "/"}


def keep(answer: Response, request: Request, shared: State, id: str) -> None:
    """Set the cookie of a new session. Scripts cannot read it, and pages of other sites cannot make a browser send it.

    It is `Secure` if the browser uses TLS to this service or to a proxy in front of it. A client that sends the proxy
    header itself only restricts its own cookie.
    """
    shared.sessions.end(session_of(request.headers))
    scheme = request.headers.get("x-forwarded-proto", request.url.scheme)
    answer.set_cookie(
        COOKIE, shared.sessions.begin(id), max_age=int(SECONDS),
        secure=scheme == "https", httponly=True, samesite="strict",
    )  # fmt: skip
