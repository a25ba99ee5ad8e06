"""The REST service: one file per resource, and one shape for all errors.

| module | contents |
|---|---|
| `app`, `state`, `access` | `create_app`; the shared state; the dependencies that pass it to routes |
| `resources` | one file per resource, with its routes |
| `guards` | middleware: access, limits, headers, logs |
| `indexes` | the indexes by name, shared between requests |
| `questions` | queries and the explanation of their results |
| `uploads`, `pictures` | uploads of documents; thumbnails of images |
| `jobs` | background searches for duplicates |
| `pages` | the web pages |
| `keys` | the key file, browser sessions, rate limits |
| `wire`, `errors` | documents and errors as JSON |
| `settings` | the limits and options |
| `running` | the server: start and shutdown |
| `telemetry` | the log and the metrics |
| `description` | /openapi.json |
| `samples` | the sample documents that are served without an index |

A new resource needs one file with a `router` and one line in `app.RESOURCES`. FastAPI and uvicorn are installed by
`pip install 'benzer[service]'`; they are imported when `serve` or `create_app` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benzer.registry import require
from benzer.service.running.serving import serve
from benzer.service.settings import Limits, ServiceOptions

if TYPE_CHECKING:
    from fastapi import FastAPI

    from benzer.service.indexes.catalog import Catalog
    from benzer.service.telemetry.logs import Log

__all__ = ["Limits", "ServiceOptions", "create_app", "serve"]


def create_app(catalog: Catalog, options: ServiceOptions | None = None, log: Log | None = None) -> FastAPI:
    """Create the ASGI application for use with another server; see `benzer.service.app.create_app`."""
    require("fastapi", extra="service", purpose="HTTP services")
    from benzer.service import app

    return app.create_app(catalog, options, log)
