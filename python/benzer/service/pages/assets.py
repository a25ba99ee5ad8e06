"""Which files do the pages load? Those beside the templates, read once, under an address that names their version."""

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
    """Files by name, and one version for all: scripts import each other by relative addresses."""

    files: Mapping[str, bytes]
    version: str


@cache
def assets() -> Assets:
    """The files as they came with the package."""
    folder = files("benzer.service.pages").joinpath("static")
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.name.rpartition(".")[2] in TYPES}
    digest = sha256()
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + found[name] + b"\0")
    return Assets(found, digest.hexdigest()[:12])


def address(name: str) -> str:
    """Where a page finds a file; a name that no file has is a mistake of the page.

    >>> address("base.css").rpartition("/")[2]
    'base.css'
    >>> address("other.css")
    Traceback (most recent call last):
    ValueError: no file of the pages is called 'other.css'
    """
    if name not in assets().files:
        raise ValueError(f"no file of the pages is called {name!r}")
    return f"/static/{assets().version}/{name}"


@router.get("/static/{version}/{name}")
async def show(version: str, name: str) -> Response:
    """Send one file; a browser need not ask again for that of this version."""
    content = assets().files.get(name)
    if content is None:
        raise HTTPException(404, f"no file of the pages is called {name!r}")
    return Response(
        content,
        headers={
            "Content-Type": TYPES[name.rpartition(".")[2]],
            "Cache-Control": FOREVER if version == assets().version else "no-cache",
            "X-Content-Type-Options": "nosniff",
        },
    )
