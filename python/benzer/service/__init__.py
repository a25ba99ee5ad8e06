"""How is an index asked over HTTP? By a REST service: a file for each resource, and one shape for every error.

| room | holds |
|---|---|
| `serving` | `serve`: the address, the server, and their end |
| `app` | `create_app`: the resources as one application |
| `resources` | a file for each resource, with its routes |
| `catalog`, `homes`, `making` | the indexes by name; where they are made and deleted; what must be said for that |
| `wire`, `bodies` | how documents look in JSON; bodies that may come as JSON or as a form |
| `taking`, `upload` | how what a client sent becomes documents that are held; uploads of any length |
| `thumbnails`, `pictures` | the small copies of pictures: where they lie, how they are made |
| `samples` | what is served when nothing is named |
| `questions`, `explaining` | how an index is asked; how a match is shown |
| `evidence` | what two documents share, in JSON |
| `recipes` | how fields are described in JSON |
| `tuning`, `borders` | what a threshold finds in a collection, and pairs about it |
| `served`, `access` | `ServedIndex`: an index that many requests share; how a route comes by it |
| `together` | small questions that wait for each other, and are asked in one call |
| `upload`, `loading`, `loader` | JSON lines of any number, read and written by a process of their own |
| `guards` | what stands before the routes: `observing`, `origins`, `access`, `load`, `requests` and others |
| `settings`, `bounds` | the limits, and the checks of what a request holds |
| `running`, `connections` | the server, how it ends, and connections that bring no request |
| `logs`, `metrics`, `trace` | what is told of requests, to people and to Prometheus |
| `keys` | the keys in their file, sessions of browsers, rates |
| `description` | what /openapi.json says of keys |
| `errors` | how an answer says what went wrong |

A new resource is one new file with a `router`, and one line in `app.RESOURCES`. FastAPI and uvicorn come with
`pip install 'benzer[service]'`; this package asks for them when `serve` or `create_app` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benzer.registry import require
from benzer.service.serving import serve
from benzer.service.settings import Limits, Options

if TYPE_CHECKING:
    from fastapi import FastAPI

    from benzer.service.catalog import Catalog
    from benzer.service.logs import Log

__all__ = ["Limits", "Options", "create_app", "serve"]


def create_app(catalog: Catalog, options: Options | None = None, log: Log | None = None) -> FastAPI:
    """The application of some indexes, for a server of one's own; see `benzer.service.app.create_app`."""
    require("fastapi", extra="service", purpose="HTTP services")
    from benzer.service import app

    return app.create_app(catalog, options, log)
