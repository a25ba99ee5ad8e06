"""The OpenAPI description at /openapi.json, with the scope that each operation requires."""

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
    "description": "A key created by `benzer keys add`. The scope write includes read; `x-benzer-scope` is the "
    "scope that an operation requires.",
}
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


class Service(FastAPI):
    """The application; its description lists the required keys."""

    def openapi(self) -> dict[str, Any]:
        """Describe the service; the result is cached."""
        if self.openapi_schema is None:
            described, shared = super().openapi(), self.state.shared
            complete(described)
            if isinstance(shared, State) and shared.keys is not None:
                add_keys(described)
        return super().openapi()

    @cached_property
    def described(self) -> bytes:
        """The description as JSON, cached because it can be requested without a key."""
        return json.dumps(self.openapi(), ensure_ascii=False, separators=(",", ":")).encode()


async def description(request: Request) -> Response:
    """The route of the description."""
    return Response(request.app.described, media_type=JSON)


def complete(described: dict[str, Any]) -> None:
    """Add what the framework omits: models that only bodies use, and JSON as the format of all errors."""
    schemas = described["components"]["schemas"]
    schemas.setdefault("IdentifiedDocument", IdentifiedDocument.model_json_schema())
    wrong = {JSON: {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}
    for operations in described["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if status >= "4":
                    answer["content"] = wrong


def add_keys(described: dict[str, Any]) -> None:
    """Add the required key and scope of each operation."""
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
