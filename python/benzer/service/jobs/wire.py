"""Jobs, their tables and their clusters as JSON."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from benzer.service.questions.evidence import ShownEvidence
from benzer.service.wire.choices import exactly_one, never_both
from benzer.service.wire.documents import Body, Few, Id, Many


def listed(value: Any) -> Any:
    """A list of names; in a query it is one text with commas."""
    return [name for name in value.split(",") if name] if isinstance(value, str) else value


def unpacked(value: Any) -> Any:
    """An object; in a query it is a JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class SearchOptions(Body):
    """The options of a search; defaults are those of the index or of `benzer.find_duplicates`."""

    threshold: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        examples=[0.8],
        description="The minimum similarity of duplicates.",
    )
    recall: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        examples=[0.95],
        description="The minimum share of pairs at the threshold that is found; 1 for all.",
    )
    keep: str = Field(
        "first",
        description="The document of a cluster to keep: first, last, longest, largest:COLUMN, …",
        examples=["first"],
    )
    method: Literal["lsh", "exact", "auto"] | None = Field(
        None, description="The method that finds candidates.", examples=["lsh"]
    )
    against: Annotated[Many[str], BeforeValidator(listed)] = Field(
        [],
        description="Names of indexes: documents that match one of theirs are removed. The indexes are not changed.",
        examples=[[]],
    )
    measure: bool = Field(
        False, description="Whether to measure the recall after the search.", examples=[True]
    )


class UploadOptions(SearchOptions):
    """The options of a search among documents in the request."""

    fields: Annotated[Few[dict[str, Any]] | None, BeforeValidator(unpacked)] = Field(
        None, description="The fields, as in the settings of an index; by default one text field named text.",
        examples=[{"text": {"type": "text", "shingle_size": 3}}],
    )  # fmt: skip
    on_duplicate_id: Literal["number", "skip", "stop"] = Field(
        "number",
        description="How to handle a document with the id of an earlier one: give it an id of its row, skip and list "
        "it, or fail the job.",
        examples=["number"],
    )
    on_error: Literal["stop", "skip"] = Field(
        "stop",
        description="How to handle malformed documents: fail the job, or skip and list them.",
        examples=["skip"],
    )


class NewJob(UploadOptions):
    """The documents to search: an index, or a list."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [exactly_one("index", "documents"), never_both("index", "fields")]}
    )

    index: str | None = Field(None, description="The name of an index.", examples=["demo"])
    documents: Many[dict[str, Any]] | None = Field(
        None, description='Documents, each {"id", "fields": {...}} or flat: {"id", "text"}.',
        examples=[[{"id": "a", "fields": {"text": "one two three"}}]],
    )  # fmt: skip

    @model_validator(mode="after")
    def searches_once(self) -> NewJob:
        """Reject a job with two sources or none."""
        if (self.index is None) == (self.documents is None):
            raise ValueError('a job needs one source: give either "index" or "documents"')
        if self.index is not None and self.fields is not None:
            raise ValueError('"fields" cannot be combined with "index": remove "fields"')
        return self


class JobProgress(BaseModel):
    """The progress of a stage; `total` is null if it is not known."""

    stage: str = Field(examples=["sketch"])
    done: int = Field(examples=[1200])
    total: int | None = Field(examples=[1764])


class JobError(BaseModel):
    """The reason of a failed job."""

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
        description="The requested settings; of a finished job all settings that its result depends on.",
        examples=[{"threshold": 0.8, "recall": 0.95}],
    )
    progress: JobProgress | None
    counts: dict[str, int] | None = Field(examples=[{"documents": 1764, "kept": 1500, "removed": 264}])
    recall: dict[str, Any] | None = Field(
        description="The measured recall with its interval.", examples=[None]
    )
    seconds: float = Field(description="The run time.", examples=[0.7])
    error: JobError | None


class ShownJobs(BaseModel):
    """All queued and running jobs and the kept finished ones, newest first."""

    jobs: list[ShownJob]


class Rows(BaseModel):
    """Rows of a table."""

    rows: list[dict[str, Any]] = Field(examples=[[{"left_id": "a", "right_id": 7, "similarity": 0.9}]])
    offset: int = Field(examples=[0])
    limit: int = Field(examples=[100])
    total: int = Field(description="Number of rows of the whole table.", examples=[153])
    next: str | None = Field(
        description="The address of the next rows; null at the end.",
        examples=["/v1/duplicates/5d41402abc4b2a76/pairs?offset=100&limit=100"],
    )


class Contents(BaseModel):
    """A document with its texts, each truncated to a length."""

    id: Id
    contents: dict[str, str | None] = Field(
        description="Texts by field; jobs do not keep the contents of other fields.",
        examples=[{"text": "one two three"}],
    )
    contents_cut: bool = Field(description="Whether a text was truncated.")


class Member(Contents):
    """A document of a cluster, and its exact similarity to the kept document."""

    kept: bool
    similarity: float = Field(examples=[0.9])


class ClusterRow(BaseModel):
    """A cluster: a kept document and the documents removed as its duplicates."""

    cluster: int = Field(
        description="The number of the cluster: its place in input order, at this threshold.", examples=[0]
    )
    kept_id: Id
    size: int = Field(examples=[3])
    distinct: int = Field(description="Number of different contents.", examples=[2])
    least: float = Field(
        description="The lowest similarity between two of its documents; a low value marks a doubtful cluster.",
        examples=[0.85],
    )
    mean: float = Field(description="The mean similarity to the kept document.", examples=[0.95])
    least_left_id: Id
    least_right_id: Id
    compared: Literal["all", "some"] = Field(
        description="Whether `least` was computed from all pairs or from some of them."
    )
    bridge_count: int = Field(description="Number of other clusters that are linked by a pair.", examples=[0])
    component_size: int = Field(
        description="Number of documents linked by pairs, in this and other clusters.", examples=[3]
    )
    component_clusters: int = Field(examples=[1])


class Bridge(BaseModel):
    """A pair that links a document of the cluster to one of another cluster."""

    left_id: Id
    right_id: Id
    similarity: float = Field(examples=[0.81])
    representative: Id
    representatives: float = Field(examples=[0.7])


class Cluster(ClusterRow):
    """One cluster with some of its members, the kept document first."""

    bridges: list[Bridge]
    members: list[Member]
    offset: int = Field(examples=[0])
    limit: int = Field(examples=[100])
    total: int = Field(examples=[3])


class SharedField(BaseModel):
    """The similarity and the evidence of one field."""

    similarity: float | None = Field(examples=[0.9])
    evidence: ShownEvidence | None


class TwoDocuments(BaseModel):
    """Two documents side by side."""

    left: Contents
    right: Contents
    similarity: float = Field(examples=[0.9])
    fields: dict[str, SharedField]


class OneDecision(Body):
    """A decision about a cluster: keep the cluster as found, or split it and keep all or the named members."""

    cluster: int = Field(description="The number of the cluster.", examples=[0])
    decision: Literal["keep", "split"] = Field(examples=["split"])
    members: Many[Id] | None = Field(
        None, description="For a split: the members to keep; by default all.", examples=[["b"]]
    )


class Decisions(Body):
    """Decisions, one per cluster; all other clusters are kept as found."""

    decisions: Many[OneDecision]


class DecidedRows(BaseModel):
    """The kept or removed documents after decisions, and their number."""

    rows: list[dict[str, Any]] = Field(examples=[[{"id": "a", "file": "upload", "row": 1}]])
    total: int = Field(examples=[1500])
    kept: int = Field(examples=[1500])
    removed: int = Field(examples=[264])
