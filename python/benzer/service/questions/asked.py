"""Queries for a stored document, a text, or fields, sent as JSON or as a form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from starlette.requests import Request

from benzer.document import Document
from benzer.fields import Schema
from benzer.index import Index, Match
from benzer.service.errors import Refusal
from benzer.service.indexes.served import ServedIndex
from benzer.service.media import FORM, media_type
from benzer.service.questions.explaining import QueryMatches, answer_of, pictures_of
from benzer.service.settings import Limits
from benzer.service.wire.bodies import contents_of_form, model_of, validated
from benzer.service.wire.choices import exactly_one, never_both
from benzer.service.wire.documents import Body, Content, Id, Many, contents_of

MOST = 1000
"""Maximum number of matches of one query."""
MOST_EXPLAINED = 100
"""Maximum number of matches with evidence."""

Limit = Annotated[int, Field(ge=1, le=MOST, description="Maximum number of results.", examples=[10])]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


EXAMPLES: list[JsonValue] = [{"text": "The quick brown fox jumps over the dog."}]
ONE_DOCUMENT, OWN_ID = exactly_one("id", "text", "fields"), never_both("id", "itself")
FEWER_EXPLAINED: dict[str, Any] = {
    "anyOf": [
        {"properties": {"evidence": {"const": False}}},
        {"properties": {"limit": {"maximum": MOST_EXPLAINED}}},
    ]
}
WithEvidence = Annotated[bool, Field(description="Include the evidence of each match (at most 100).")]
WithContents = Annotated[bool, Field(description="Include the contents of each match.")]


class Side(Body):
    """A document: a stored one by its id, a text if the schema has one field, or fields by name."""

    model_config = ConfigDict(json_schema_extra={"examples": EXAMPLES, "allOf": [ONE_DOCUMENT]})

    id: Annotated[Id | None, Field(description="The id of a stored document.", examples=["fox"])] = None
    text: Annotated[
        str | None,
        Field(
            description="The content of the only field.", examples=["The quick brown fox jumps over the dog."]
        ),
    ] = None
    fields: Annotated[
        dict[str, Content] | None,
        Field(description="Contents by field.", examples=[{"title": "A fox", "tags": ["animal", 7]}]),
    ] = None

    @model_validator(mode="after")
    def is_one(self) -> Side:
        """Reject two documents or none."""
        if [self.id, self.text, self.fields].count(None) != 2:
            raise ValueError('a query needs one document: give one of "id", "text" and "fields"')
        return self


class Asked(Side):
    """The query document, or some of its fields."""

    model_config = ConfigDict(json_schema_extra={"examples": EXAMPLES, "allOf": [ONE_DOCUMENT, OWN_ID]})

    only: Annotated[
        Many[str] | None,
        Field(min_length=1, description="The fields to compare; default: all.", examples=[["title"]]),
    ] = None
    itself: Annotated[
        Id | None,
        Field(
            description="For a text or fields: the id of a stored document to exclude from the result.",
            examples=["fox"],
        ),
    ] = None

    @model_validator(mode="after")
    def is_named_once(self) -> Asked:
        """Reject two ids."""
        if self.id is not None and self.itself is not None:
            raise ValueError('"itself" cannot be combined with "id": remove "itself"')
        return self


class Explained(Asked):
    """A query whose response can include contents and evidence."""

    model_config = ConfigDict(
        json_schema_extra={"examples": EXAMPLES, "allOf": [ONE_DOCUMENT, OWN_ID, FEWER_EXPLAINED]}
    )

    limit: Limit = 10
    evidence: WithEvidence = False
    contents: WithContents = False


Asking = TypeVar("Asking", bound=Explained)


class FormOptions(BaseModel):
    """The options in the query string of a query whose fields are sent as a form."""

    model_config = ConfigDict(extra="forbid")

    only: Annotated[
        Many[str] | None,
        Field(min_length=1, description="The fields to compare; default: all.", examples=[["title"]]),
    ] = None
    limit: Limit = 10
    evidence: WithEvidence = False
    contents: WithContents = False
    threshold: Annotated[Share | None, Field(description="The minimum similarity.", examples=[0.8])] = None


async def question_from(
    request: Request, model: type[Asking], options: FormOptions, served: ServedIndex, limits: Limits
) -> Asking:
    """The query of a request: its JSON body, or a form with the fields and options in the query string."""
    given = options.model_dump(include=options.model_fields_set)
    if media_type(request.headers) != FORM:
        if given:
            name = next(iter(given))
            raise Refusal(
                422,
                f"{name} is only valid in the query string of a form: move it to the body",
                field=f"query.{name}",
            )
        return await model_of(request, model)
    schema = await served.read(lambda index: index.settings.schema)
    return validated(model, {**given, "fields": await contents_of_form(request, schema, limits)})


def document_of(query: Side, index: Index, limits: Limits, place: str = "body") -> Document:
    """The query document; a given text or fields have the id "".

    place: its place in the request, for messages.
    """
    if query.id is None:
        return given_document(query, index.settings.schema, limits, place)
    stored = index.get(query.id)
    if stored is None:
        raise Refusal(404, f"no document has the id {query.id!r}", field=f"{place}.id")
    return stored


def given_document(query: Side, schema: Schema, limits: Limits, place: str = "body") -> Document:
    """A text or fields as a document of the schema."""
    if query.fields is not None:
        check_names(query.fields, schema, f"{place}.fields")
        return Document("", contents_of(query.fields, schema, limits, f"{place}.fields"))
    names = list(schema.fields)
    if len(names) > 1:
        raise Refusal(
            422,
            f"a text alone could be any of the fields {', '.join(names)}: give fields",
            field=f"{place}.text",
        )
    try:
        return Document("", contents_of({names[0]: query.text}, schema, limits, place))
    except Refusal as error:
        raise Refusal(error.status, error.message, field=f"{place}.text", type=error.type) from error


def check_names(names: Collection[str], schema: Schema, place: str) -> None:
    """Reject unknown fields and a query without fields."""
    known = ", ".join(schema.fields)
    unknown = [name for name in names if name not in schema.fields]
    if unknown:
        raise Refusal(422, f"unknown field {unknown[0]!r}: the fields are {known}", field=place)
    if not names:
        raise Refusal(422, f"the query has no field: the fields are {known}", field=place)


def question_of(
    query: Asked, index: Index, limits: Limits, place: str = "body"
) -> Document | Mapping[str, Any]:
    """The argument of the search: a stored document, or fields; restricted to the fields to compare."""
    return some_of(document_of(query, index, limits, place), query, index, place)


def some_of(
    document: Document, query: Asked, index: Index, place: str = "body"
) -> Document | Mapping[str, Any]:
    """The fields of a document to compare; a `Document` if the index may store it under an id."""
    fields = document.fields
    if query.only is not None:
        check_names(query.only, index.settings.schema, f"{place}.only")
        fields = {name: fields.get(name) for name in query.only}
    itself = query.itself if query.id is None else document.id
    return fields if itself is None else Document(itself, fields)


def ask(
    index: Index, query: Explained, limits: Limits, find: Callable[[Any], Sequence[Match]]
) -> QueryMatches:
    """Find the matches of a query and, if needed, read their documents in the same snapshot of the index."""
    if query.evidence and query.limit > MOST_EXPLAINED:
        raise Refusal(
            422,
            f"limit must be at most {MOST_EXPLAINED} with evidence, got {query.limit}: use a lower limit",
            field="body.limit",
        )
    with index.snapshot() if query.evidence or query.contents else nullcontext():
        document = document_of(query, index, limits)
        matches = find(some_of(document, query, index))
        documents = (
            [item for match in matches if (item := index.get(match.id))]
            if query.evidence or query.contents
            else []
        )
    return QueryMatches(document, matches, documents)


def answered(matches: QueryMatches, query: Explained, index: Index, served: ServedIndex) -> dict[str, Any]:
    """The response to a query with the requested parts."""
    pictures, schema = pictures_of(served), index.settings.schema
    return answer_of(matches, schema, pictures, contents=query.contents, explains=query.evidence)
