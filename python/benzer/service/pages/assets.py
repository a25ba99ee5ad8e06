"""Static files of the pages, read once and served under versioned addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

router = APIRouter()
TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Assets:
    """Files by name, with one version for all, because scripts import each other by relative addresses."""

    files: Mapping[str, bytes]
    version: str


@cache
def assets() -> Assets:
    """The static files of the package."""
    folder = files("benzer.service.pages").joinpath("static")
    contents = {
        item.name: item.read_bytes() for item in folder.iterdir() if item.name.rpartition(".")[2] in TYPES
    }
    digest = sha256()
    for name in sorted(contents):
        digest.update(name.encode() + b"\0" + contents[name] + b"\0")
    return Assets(contents, digest.hexdigest()[:12])


def missing(name: str) -> str:
    """The error for a file that the package does not have."""
    return f"static file {name!r} does not exist"


def address(name: str) -> str:
    """The address of a static file.

    >>> address("base.css").rpartition("/")[2]
    'base.css'
    >>> address("other.css")
    Traceback (most recent call last):
    ValueError: static file 'other.css' does not exist
    """
    if name not in assets().files:
        raise ValueError(missing(name))
    return f"/static/{assets().version}/{name}"


@router.get("/static/{version}/{name}")
async def asset(version: str, name: str) -> Response:
    """Send one file; the current version may be cached forever."""
    content = assets().files.get(name)
    if content is None:
        raise HTTPException(404, missing(name))
    return Response(
        content,
        headers={
            "Content-Type": TYPES[name.rpartition(".")[2]],
            "Cache-Control": FOREVER if version == assets().version else "no-cache",
            "X-Content-Type-Options": "nosniff",
        },
    )
