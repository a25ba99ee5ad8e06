"""How is a picture shown that an index holds? `GET …/thumbnail`: by a small copy, never by the uploaded bytes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from benzer.index import Index
from benzer.index.given import ids_of
from benzer.service.access import Served
from benzer.service.errors import Refusal
from benzer.service.pictures.copies import Thumbnail
from benzer.service.pictures.thumbnails import MEDIA_TYPES, found

router = APIRouter(prefix="/v1/indexes/{index}/thumbnail", tags=["documents"])

HEADERS = {"Cache-Control": "private, no-cache"}


@router.get(
    "",
    response_class=Response,
    responses={
        200: {
            "description": "The picture.",
            "content": {name: {"schema": {"type": "string", "format": "binary"}} for name in MEDIA_TYPES},
        }
    },
)
async def show(
    served: Served,
    id: Annotated[str, Query(description="The document's id.", examples=["coast"])],
    field: Annotated[str, Query(description="The name of the field.", examples=["photo"])],
    number: Annotated[
        bool, Query(description="The id is the number, not the text.", examples=[False])
    ] = False,
) -> Response:
    """Give the small copy of a picture that was made when the picture was put through the service.

    An index keeps descriptions of pictures, not the pictures: those that were added otherwise have no copy (404).
    """

    def work(index: Index) -> Thumbnail | None:
        meant = [one for one in ids_of(id) if isinstance(one, int) or not number]
        document = next(filter(None, map(index.get, meant)), None)
        if document is None:
            raise Refusal(404, f"no document has the id {id!r}", field="query.id")
        return found(served.thumbnails, document, field)

    copy = await served.read(work)
    if copy is None:
        raise Refusal(
            404,
            f"no small copy of the field {field!r} is kept: it was not put through the service",
            field="query.field",
        )
    return Response(copy.data, media_type=copy.media_type, headers=HEADERS)
