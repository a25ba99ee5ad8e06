"""How is an index asked over HTTP? By a REST service: a file for each resource, and one shape for every error.

| room | holds |
|---|---|
| `app`, `state`, `access` | `create_app`: the resources as one application; what they share; how a route comes by it |
| `resources` | a file for each resource, with its routes |
| `guards` | what stands before the routes |
| `indexes` | the indexes by name, and how many requests share one |
| `questions` | how they are asked, and their answers explained |
| `uploads`, `pictures` | how documents come to be held, and pictures to be shown |
| `jobs` | searches for duplicates that go on when nobody waits |
| `pages` | the web pages |
| `keys` | the keys in their file, sessions of browsers, rates |
| `wire`, `errors` | how documents, and errors, look in JSON |
| `settings` | the limits and options |
| `running` | the server: start and shutdown |
| `telemetry` | the log and the metrics |
| `description` | what /openapi.json says beside the routes |
| `samples` | what is served when nothing is named |

A new resource is one new file with a `router`, and one line in `app.RESOURCES`. FastAPI and uvicorn come with
`pip install 'benzer[service]'`; this package asks for them when `serve` or `create_app` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benzer.registry import require
from benzer.service.running.serving import serve
from benzer.service.settings import Limits, Options

if TYPE_CHECKING:
    from fastapi import FastAPI

    from benzer.service.indexes.catalog import Catalog
    from benzer.service.telemetry.logs import Log

__all__ = ["Limits", "Options", "create_app", "serve"]


def create_app(catalog: Catalog, options: Options | None = None, log: Log | None = None) -> FastAPI:
    """The application of some indexes, for a server of one's own; see `benzer.service.app.create_app`."""
    require("fastapi", extra="service", purpose="HTTP services")
    from benzer.service import app

    return app.create_app(catalog, options, log)
