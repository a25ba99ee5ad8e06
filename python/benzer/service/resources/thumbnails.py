"""Thumbnails of images in an index: `GET …/thumbnail`. The uploaded bytes are never returned."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from benzer.index import Index
from benzer.index.documents import ids_of
from benzer.service.access import Served
from benzer.service.errors import Refusal
from benzer.service.pictures.copies import Thumbnail
from benzer.service.pictures.thumbnails import MEDIA_TYPES, stored_thumbnail

router = APIRouter(prefix="/v1/indexes/{index}/thumbnail", tags=["documents"])

HEADERS = {"Cache-Control": "private, no-cache"}


@router.get(
    "",
    response_class=Response,
    responses={
        200: {
            "description": "The image.",
            "content": {name: {"schema": {"type": "string", "format": "binary"}} for name in MEDIA_TYPES},
        }
    },
)
async def show(
    served: Served,
    id: Annotated[str, Query(description="The id of the document.", examples=["coast"])],
    field: Annotated[str, Query(description="The name of the field.", examples=["photo"])],
    number: Annotated[
        bool, Query(description="Treat the id as a number, not as a text.", examples=[False])
    ] = False,
) -> Response:
    """Return the thumbnail of an image that was added through the service.

    An index stores descriptions of images, not the images. Images that were not added in this way have none (404).
    """

    def work(index: Index) -> Thumbnail | None:
        meant = [item for item in ids_of(id) if isinstance(item, int) or not number]
        document = next(filter(None, map(index.get, meant)), None)
        if document is None:
            raise Refusal(404, f"no document has the id {id!r}", field="query.id")
        return stored_thumbnail(served.thumbnails, document, field)

    copy = await served.read(work)
    if copy is None:
        raise Refusal(
            404,
            f"the field {field!r} has no thumbnail: the document was not added through the service",
            field="query.field",
        )
    return Response(copy.data, media_type=copy.media_type, headers=HEADERS)
