"""What does /openapi.json say beside the routes? Which key each of them asks for."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from benzer.service.access import READS
from benzer.service.guards.access import PUBLIC
from benzer.service.media import JSON
from benzer.service.state import State
from benzer.service.wire.documents import IdentifiedDocument

SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key that `benzer keys add` made. One of scope write may also read; `x-benzer-scope` says of each "
    "operation which it needs.",
}
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


class Service(FastAPI):
    """The application, whose description names the keys where the service asks for them."""

    def openapi(self) -> dict[str, Any]:
        """Describe the service; made once."""
        if self.openapi_schema is None:
            described, shared = super().openapi(), self.state.shared
            complete(described)
            if isinstance(shared, State) and shared.keys is not None:
                add_keys(described)
        return super().openapi()

    @cached_property
    def described(self) -> bytes:
        """The description as JSON; nobody needs a key to ask for it, so that it must cost nothing."""
        return json.dumps(self.openapi(), ensure_ascii=False, separators=(",", ":")).encode()


async def description(request: Request) -> Response:
    """The route of the description."""
    return Response(request.app.described, media_type=JSON)


def complete(described: dict[str, Any]) -> None:
    """Add what the framework leaves out: models that only bodies name, and that errors are JSON on any route."""
    schemas = described["components"]["schemas"]
    schemas.setdefault("IdentifiedDocument", IdentifiedDocument.model_json_schema())
    wrong = {JSON: {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}
    for operations in described["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if status >= "4":
                    answer["content"] = wrong


def add_keys(described: dict[str, Any]) -> None:
    """Say that a key is needed, and of which scope."""
    described.setdefault("components", {})["securitySchemes"] = {"key": SCHEME}
    described["security"] = [{"key": []}]
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            if method not in METHODS:
                continue
            if path in PUBLIC:
                operation["security"] = []
            elif method == "get":
                operation.update(READS)
            else:
                operation.setdefault("x-benzer-scope", "write")
