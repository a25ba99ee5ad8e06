"""The answers of routes as HTML fragments for the pages.

Each function takes the content of an answer, what the route knows about it, and the scope of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.types import Scope

from benzer.service.pages.rendering import access_of, origin_of
from benzer.service.pictures.thumbnails import url_of
from benzer.views import evidence, indexes, tuning
from benzer.views import jobs as views_of_jobs
from benzer.views import matches as views
from benzer.views.rerun import curl

Content = Mapping[str, Any]


def matches(content: Content, about: Content, scope: Scope) -> str:
    """The matches of a search, or what to try if there are none."""
    view = views.matches_of(content["matches"], about["id"], about["least"], about["seconds"])
    return views.matches_html(view, about["index"], command(about, scope))


def nearest(content: Content, about: Content, scope: Scope) -> str:
    """The nearest documents."""
    view = views.nearest_of(content, about["id"])
    return views.matches_html(view, about["index"], command(about, scope))


def compared(content: Content, about: Content, scope: Scope) -> str:
    """Two documents of an index side by side, field by field."""
    ids = about.get("ids", (None, None))
    addresses = [
        {name: url_of(about["index"], id, name) for name, kind in about["kinds"].items() if kind == "image"}
        if id is not None
        else {}
        for id in ids
    ]
    return evidence.fields_html(
        content["fields"], content["similarity"], ids, addresses, about.get("kinds", {})
    )


def jobs(content: Content, about: Content, scope: Scope) -> str:
    """The list of jobs."""
    return views_of_jobs.list_html(content["jobs"])


def job(content: Content, about: Content, scope: Scope) -> str:
    """The state of a job."""
    return views_of_jobs.status_html(content)


def summary(content: Content, about: Content, scope: Scope) -> str:
    """The result of a job."""
    query = f"?threshold={about['at']}" if about["at"] is not None else ""
    return views_of_jobs.summary_html(content, about["job"], about["at"], query)


def clusters(content: Content, about: Content, scope: Scope) -> str | None:
    """A page of the clusters of a job; other tables have no fragment."""
    if scope["path_params"]["table"] != "clusters":
        return None
    return views_of_jobs.clusters_html(content)


def cluster(content: Content, about: Content, scope: Scope) -> str:
    """An open cluster."""
    return views_of_jobs.cluster_html(content)


def pair(content: Content, about: Content, scope: Scope) -> str:
    """Two documents of a job; images have thumbnails if the job read an index."""
    job = about["job"]
    kinds = {name: field["type"] for name, field in job["settings"]["schema"].items()}
    places = job["source"].get("index"), about["index"] or job["source"].get("index")
    addresses = [
        {}
        if index is None
        else {
            name: url_of(index, content[side]["id"], name) for name, kind in kinds.items() if kind == "image"
        }
        for side, index in zip(("left", "right"), places, strict=True)
    ]
    return views_of_jobs.pair_html(content, addresses, kinds)


def index_list(content: Content, about: Content, scope: Scope) -> str:
    """All indexes."""
    return indexes.list_html(content["indexes"], about["grows"] and writes(scope))


def index(content: Content, about: Content, scope: Scope) -> str:
    """One index."""
    return indexes.index_html(content)


def documents(content: Content, about: Content, scope: Scope) -> str:
    """A page of documents."""
    return indexes.documents_html(
        content["documents"], content.get("next"), about["index"], about["schema"], writes(scope)
    )


def document(content: Content, about: Content, scope: Scope) -> str:
    """One document as a list."""
    return documents({"documents": [content]}, about, scope)


def uploaded(content: Content, about: Content, scope: Scope) -> str:
    """The outcome of an upload."""
    return indexes.uploaded_html(content)


def tuned(content: Content, about: Content, scope: Scope) -> str:
    """The effect of a threshold on a collection."""
    return tuning.tuned_html(content, about["schema"], about["index"], origin_of(Request(scope)))


def writes(scope: Scope) -> bool:
    """Whether the user may change an index."""
    return "write" in access_of(Request(scope))["scopes"]


def command(about: Content, scope: Scope) -> str:
    """The request as a command line."""
    body = about["question"].model_dump(exclude_unset=True)
    return curl(f"{origin_of(Request(scope))}{scope['path']}", body)
