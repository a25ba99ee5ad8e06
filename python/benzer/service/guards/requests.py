"""Rejects requests that are too large, have an invalid path or an unknown content type."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benzer.service.errors import Refusal, answer_of
from benzer.service.guards.refusing import discard, refuse
from benzer.service.guards.strangers import STRANGER_BYTES, is_stranger
from benzer.service.media import FILE, FORM, JSON, NDJSON, URLENCODED, media_type
from benzer.service.settings import Limits
from benzer.service.state import State
from benzer.wording import count

UPLOADED = re.compile(r"/v1/(?:indexes/[^/]+/documents|duplicates)")
"""Paths whose POST accepts NDJSON. It is streamed, because it may have gigabytes."""
FILES = re.compile(r"/v1/files/(?:format|rows)")
"""Paths whose POST accepts the bytes of a file, which are streamed too."""
LARGE_OF_STRANGER = Refusal(
    413, f"without a key a body has at most {count(STRANGER_BYTES)} bytes: send a key or a smaller body"
)


class Guard:
    """Rejects requests by their header or their body size."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self.app = app
        self.limits = state.limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        upload = is_upload(scope, headers)
        if is_stranger(scope):
            most, large = STRANGER_BYTES, LARGE_OF_STRANGER
        else:
            most = self.limits.max_upload_bytes if upload else self.limits.max_body_bytes
            large = too_large(self.limits, upload)
        length = headers.get("content-length", "0")
        refused = unreadable(scope)
        if refused is None and not (length.isdecimal() and int(length) <= most):
            refused = large
        refused = refused or unknown_form(scope, headers, upload)
        if refused is None:
            await self.app(scope, self.measured(receive, most, large), send)
            return
        await refuse(answer_of(refused), scope, receive, send, self.limits.max_body_bytes)

    def measured(self, receive: Receive, most: int, large: Refusal) -> Receive:
        """`receive` that rejects a body as soon as it is too large, whatever its header says."""
        seen = 0

        async def count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                if message.get("more_body"):
                    await discard(receive, self.limits.max_body_bytes)
                raise large
            return message

        return count


def unreadable(scope: Scope) -> Refusal | None:
    try:
        unquote_to_bytes(scope["raw_path"]).decode()
    except UnicodeDecodeError:
        return Refusal(400, "the path is not valid: send percent-encoded UTF-8")
    return None


def too_large(limits: Limits, upload: bool) -> Refusal:
    if upload:
        return Refusal(
            413,
            f"the upload is larger than {count(limits.max_upload_bytes)} bytes: send it in parts, or start the service "
            "with a larger --max-upload",
            type="UploadTooLargeError",
        )
    return Refusal(
        413,
        f"the body is larger than {count(limits.max_body_bytes)} bytes: send fewer documents at a time, or start the "
        "service with a larger --max-body",
        type="BodyTooLargeError",
    )


def unknown_form(scope: Scope, headers: Headers, upload: bool) -> Refusal | None:
    """Reject a body with an unknown content type or a content encoding."""
    if not brings_body(headers):
        return None
    path = scope["path"]
    known = {JSON, FORM} if path.startswith("/v1/") else {JSON, FORM, URLENCODED}
    if FILES.fullmatch(path):
        known.add(FILE)  # for every method: the route itself reports unsupported methods
    if upload or media_type(headers) in known:
        if headers.get("content-encoding", "identity").strip().lower() == "identity":
            return None
        return Refusal(415, "the body must not be compressed: remove Content-Encoding")
    return Refusal(
        415,
        f"the body must be JSON: send it with the header Content-Type: {JSON}; files may be sent as {FORM}, "
        f"and many documents as {NDJSON} to the documents of an index or to /v1/duplicates",
    )


def brings_body(headers: Headers) -> bool:
    """Whether a request has a body, or may have one.

    >>> brings_body(Headers({"content-length": "0"})), brings_body(Headers({"transfer-encoding": "chunked"}))
    (False, True)
    """
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def is_upload(scope: Scope, headers: Headers) -> bool:
    """Whether a body is streamed to its route."""
    paths = {NDJSON: UPLOADED, FILE: FILES}.get(media_type(headers))
    return scope["method"] == "POST" and paths is not None and paths.fullmatch(scope["path"]) is not None
