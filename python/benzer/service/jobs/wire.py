"""How do jobs, their tables and their clusters look in JSON?"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from benzer.service.questions.evidence import ShownEvidence
from benzer.service.wire.choices import exactly_one, never_both
from benzer.service.wire.documents import Body, Few, Id, Many


def listed(value: Any) -> Any:
    """A list of names; in a query it is one text, with commas."""
    return [name for name in value.split(",") if name] if isinstance(value, str) else value


def unpacked(value: Any) -> Any:
    """An object; in a query it is the text of one."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class Options(Body):
    """How duplicates are searched for; what is left out is as in the index, or as in `benzer.find_duplicates`."""

    threshold: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        examples=[0.8],
        description="The similarity from which two documents are duplicates.",
    )
    recall: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        examples=[0.95],
        description="The share of pairs at the threshold that is found; 1 for all.",
    )
    keep: str = Field(
        "first",
        description="Which document of a cluster stays: first, last, longest, largest:COLUMN, …",
        examples=["first"],
    )
    method: Literal["lsh", "exact", "auto"] | None = Field(
        None, description="How candidates are found.", examples=["lsh"]
    )
    against: Annotated[Many[str], BeforeValidator(listed)] = Field(
        [],
        description="Names of indexes: documents like one of theirs go. They are only read.",
        examples=[[]],
    )
    measure: bool = Field(
        False, description="Whether the recall is measured when all is found.", examples=[True]
    )


class UploadOptions(Options):
    """How duplicates are searched for among documents that come with the request."""

    fields: Annotated[Few[dict[str, Any]] | None, BeforeValidator(unpacked)] = Field(
        None, description="How their fields are read, as in the settings of an index; by default one text called text.",
        examples=[{"text": {"type": "text", "shingle_size": 3}}],
    )  # fmt: skip
    on_error: Literal["stop", "skip"] = Field(
        "stop",
        description="What a malformed document does: it fails the job, or it is set aside and listed.",
        examples=["skip"],
    )


class NewJob(UploadOptions):
    """What to search: an index, or these documents."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [exactly_one("index", "documents"), never_both("index", "fields")]}
    )

    index: str | None = Field(None, description="The name of an index.", examples=["demo"])
    documents: Many[dict[str, Any]] | None = Field(
        None, description='Documents, each {"id", "fields": {...}}, or flat: {"id", "text"}.',
        examples=[[{"id": "a", "fields": {"text": "one two three"}}]],
    )  # fmt: skip

    @model_validator(mode="after")
    def searches_once(self) -> NewJob:
        """Refuse a job over two things, or over none."""
        if (self.index is None) == (self.documents is None):
            raise ValueError('give either "index" or "documents"')
        if self.index is not None and self.fields is not None:
            raise ValueError('an index has its own fields: leave out "fields"')
        return self


class JobProgress(BaseModel):
    """How far a stage is; `total` is null where that is not known."""

    stage: str = Field(examples=["sketch"])
    done: int = Field(examples=[1200])
    total: int | None = Field(examples=[1764])


class JobError(BaseModel):
    """Why a job failed."""

    type: str = Field(examples=["MalformedRowError"])
    message: str = Field(examples=["upload line 17: no text"])


class ShownJob(BaseModel):
    """A job; times are ISO 8601 in UTC."""

    id: str = Field(examples=["5d41402abc4b2a76"])
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    created: str = Field(examples=["2026-01-31T12:00:00.000Z"])
    started: str | None = Field(examples=["2026-01-31T12:00:00.100Z"])
    ended: str | None = Field(examples=["2026-01-31T12:00:00.800Z"])
    source: dict[str, Any] = Field(
        description='{"index": name}, or {"upload": documents}, null before they are read.',
        examples=[{"index": "demo"}],
    )
    settings: dict[str, Any] = Field(
        description="What was asked for; of a job that is done, all that its result depends on.",
        examples=[{"threshold": 0.8, "recall": 0.95}],
    )
    progress: JobProgress | None
    counts: dict[str, int] | None = Field(examples=[{"documents": 1764, "kept": 1500, "removed": 264}])
    recall: dict[str, Any] | None = Field(
        description="The recall that was measured, with its interval.", examples=[None]
    )
    seconds: float = Field(description="How long it has run.", examples=[0.7])
    error: JobError | None


class ShownJobs(BaseModel):
    """All jobs that wait or run, and those kept that have ended; the newest first."""

    jobs: list[ShownJob]


class Rows(BaseModel):
    """Some rows of a table."""

    rows: list[dict[str, Any]] = Field(examples=[[{"left_id": "a", "right_id": 7, "similarity": 0.9}]])
    offset: int = Field(examples=[0])
    limit: int = Field(examples=[100])
    total: int = Field(description="The rows of the whole table.", examples=[153])
    next: str | None = Field(
        description="Where the next rows are; null at the end.",
        examples=["/v1/duplicates/5d41402abc4b2a76/pairs?offset=100&limit=100"],
    )


class Contents(BaseModel):
    """A document with its texts, each up to a length."""

    id: Id
    contents: dict[str, str | None] = Field(
        description="Texts by field; of other fields a job keeps no contents.",
        examples=[{"text": "one two three"}],
    )
    contents_cut: bool = Field(description="Whether a text is longer than what is shown.")


class Member(Contents):
    """A document of a cluster, and its exact similarity to the one that stays."""

    kept: bool
    similarity: float = Field(examples=[0.9])


class ClusterRow(BaseModel):
    """A cluster: a document that stays, and those that go for it."""

    cluster: int = Field(
        description="Its number: its place in the order of the input, at this threshold.", examples=[0]
    )
    kept_id: Id
    size: int = Field(examples=[3])
    distinct: int = Field(description="Its different contents.", examples=[2])
    least: float = Field(
        description="The least similarity found between two of its documents: how doubtful it is.",
        examples=[0.85],
    )
    mean: float = Field(description="The mean similarity to the one that stays.", examples=[0.95])
    least_left_id: Id
    least_right_id: Id
    compared: Literal["all", "some"] = Field(
        description="Whether `least` is that of all pairs, or of a part of them."
    )
    bridge_count: int = Field(description="The other clusters that a pair ties it to.", examples=[0])
    component_size: int = Field(
        description="The documents that pairs tie together, in this and other clusters.", examples=[3]
    )
    component_clusters: int = Field(examples=[1])


class Bridge(BaseModel):
    """A pair that ties a document of the cluster to one of another cluster."""

    left_id: Id
    right_id: Id
    similarity: float = Field(examples=[0.81])
    representative: Id
    representatives: float = Field(examples=[0.7])


class Cluster(ClusterRow):
    """One cluster with some of its members, who stays first."""

    bridges: list[Bridge]
    members: list[Member]
    offset: int = Field(examples=[0])
    limit: int = Field(examples=[100])
    total: int = Field(examples=[3])


class SharedField(BaseModel):
    """How alike two documents are in one field, and what they share there."""

    similarity: float | None = Field(examples=[0.9])
    evidence: ShownEvidence | None


class TwoDocuments(BaseModel):
    """Two documents side by side."""

    left: Contents
    right: Contents
    similarity: float = Field(examples=[0.9])
    fields: dict[str, SharedField]


class OneDecision(Body):
    """What is decided about a cluster: it is kept as it was found, or split: all of it stays, or the named members."""

    cluster: int = Field(description="Its number.", examples=[0])
    decision: Literal["keep", "split"] = Field(examples=["split"])
    members: Many[Id] | None = Field(
        None, description="Of a split: who stays; by default all.", examples=[["b"]]
    )


class Decisions(Body):
    """Decisions, one a cluster; the others are kept as they were found."""

    decisions: Many[OneDecision]


class DecidedRows(BaseModel):
    """The documents that stay, or go, after some decisions, and how many do."""

    rows: list[dict[str, Any]] = Field(examples=[[{"id": "a", "file": "upload", "row": 1}]])
    total: int = Field(examples=[1500])
    kept: int = Field(examples=[1500])
    removed: int = Field(examples=[264])
