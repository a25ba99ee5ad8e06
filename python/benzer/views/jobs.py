"""A search for duplicates in the service: its state, its result and its clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benzer.views.alarms import alarms_of, more_alarms
from benzer.views.counts import counts_of, outcome
from benzer.views.evidence import fields_of
from benzer.views.html import fragment
from benzer.views.matches import excerpt
from benzer.views.recall import guaranteed, measured
from benzer.wording import count, counted, duration, plain, setting, share

JsonObject = Mapping[str, Any]
STAGES = {
    "read": "Reading",
    "sketch": "Sketching",
    "against": "Comparing with older indexes",
    "candidates": "Finding candidates",
    "verify": "Comparing exactly",
    "clusters": "Choosing the documents to keep",
    "measure": "Measuring the recall",
}
OVER = ("done", "failed", "cancelled")
ALARMS = 4
FIRST_PASSAGES = 3
FIRST_MEMBERS = 5
SNIPPET = 200
TABLES = {
    "removed": "Removed documents",
    "kept": "Kept documents",
    "clusters": "Clusters",
    "pairs": "Pairs",
    "malformed": "Malformed lines",
}
FORMATS = {"csv": "CSV", "ndjson": "NDJSON", "parquet": "Parquet", "json": "JSON"}


@dataclass(frozen=True)
class Step:
    """A stage of a run; `state` is past, now or ahead."""

    name: str
    state: str


@dataclass(frozen=True)
class JobView:
    """A job.

    Attributes:
        outcome: The result, the current stage or the reason of a failure, in one line.
        settings: The settings in one line.
        time: The run time; empty before the start.
        progress: Done and total of the current stage, if the total is known.
        steps: The stages of the run.
    """

    id: str
    state: str
    source: str
    outcome: str
    settings: str
    time: str
    created: str
    threshold: float
    progress: tuple[int, int] | None
    steps: Sequence[Step]
    error: str

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in OVER


def job_of(job: JsonObject) -> JobView:
    """A job, as the service sends it."""
    settings, progress, error = job["settings"], job["progress"], job["error"]
    names = [name for name in STAGES if name != "against" or settings.get("against")]
    now = names.index(progress["stage"]) if progress and progress["stage"] in names else -1
    steps = [
        Step(STAGES[name], "now" if position == now else "past" if position < now else "ahead")
        for position, name in enumerate(names)
    ]
    return JobView(
        job["id"],
        job["state"],
        source_of(job),
        outcome_of(job),
        settings_line(settings),
        duration(job["seconds"]) if job["started"] else "",
        job["created"],
        settings["threshold"],
        (progress["done"], progress["total"]) if progress and progress["total"] else None,
        steps,
        "" if error is None else f"{error['type']}: {error['message']}",
    )


def source_of(job: JsonObject) -> str:
    """The documents that a job reads.

    >>> source_of({"source": {"upload": 2000}, "counts": None})
    '2,000 uploaded documents'
    """
    source, counts = job["source"], job["counts"] or {}
    if source.get("index") is not None:
        return str(source["index"])
    documents = counts.get("documents", source.get("upload"))
    return "uploaded files" if documents is None else counted(documents, "uploaded document")


def settings_line(settings: JsonObject) -> str:
    """The settings of a job in one line.

    >>> settings_line({"threshold": 0.8, "recall": 0.95, "keep": "first"})
    'threshold 0.80 · recall 0.95 · keep first'
    """
    against = f" · against {', '.join(settings['against'])}" if settings.get("against") else ""
    return (
        f"threshold {setting(settings['threshold'])} · recall {setting(settings['recall'])} · "
        f"keep {settings['keep']}{against}"
    )


def outcome_of(job: JsonObject) -> str:
    """The result, the state or the stage of a job in one line."""
    if job["state"] == "done":
        return outcome(job["counts"])
    if job["state"] == "failed":
        return str(job["error"]["message"])
    if job["state"] == "cancelled":
        return "Cancelled"
    if job["state"] == "waiting":
        return "Queued"
    return STAGES.get(job["progress"]["stage"], job["progress"]["stage"]) if job["progress"] else "Starting"


def list_html(jobs: Sequence[JsonObject]) -> str:
    """The list of jobs."""
    return fragment("job_list", jobs=[job_of(job) for job in jobs])


def status_html(job: JsonObject) -> str:
    """The state and the progress of a job."""
    return fragment("job_status", job=job_of(job))


def summary_html(summary: JsonObject, job: JsonObject, position: float | None, query: str) -> str:
    """The result of a job at a threshold: counts, recall, alarms and downloads."""
    counts, settings = summary["counts"], summary["settings"]
    threshold = settings["threshold"]
    texts = {field["type"] for field in settings["schema"].values()} == {"text"}
    bands = (settings["bands"], settings["rows"]) if "bands" in settings else None
    alarms = alarms_of(summary["alarms"])
    more = len(alarms) - ALARMS
    said = f"{share(counts['removed'], counts['documents'])} of the documents are removed at {setting(threshold)}"
    return fragment(
        "job_summary",
        path=f"/v1/duplicates/{job['id']}",
        query=query,
        tiles=[item for item in counts_of(counts, threshold, texts=texts) if item.tile],
        guaranteed=guaranteed(threshold, summary["probability_at_threshold"], bands),
        measured=measured(job["recall"]) if job["recall"] and position is None else None,
        alarms=alarms[:ALARMS],
        more_alarms=f"{more_alarms(more)}: see the report" if more > 0 else "",
        tables={name: label for name, label in TABLES.items() if name != "malformed" or counts["malformed"]},
        formats=FORMATS,
        said=said,
    )


def clusters_html(page: JsonObject) -> str:
    """One page of the list of clusters."""
    first, total = page["offset"], page["total"]
    listed = len(page["rows"])
    alone = listed == 1 < total and page["limit"] == 1
    place = f"{count(first + 1)} to {count(first + listed)} of {counted(total, 'cluster')}" if total else ""
    if alone:
        place = f"One cluster of {count(total)}"
    return fragment("cluster_list", rows=page["rows"], place=place, total=total, alone=alone)


def cluster_html(cluster: JsonObject) -> str:
    """The members of an open cluster, the least similar first, and its links to other clusters."""
    kept = [member for member in cluster["members"] if member["kept"]]
    others = sorted(
        (member for member in cluster["members"] if not member["kept"]), key=lambda item: item["similarity"]
    )
    seen = cluster["offset"] + len(cluster["members"])
    bridges = cluster["bridges"]
    first = FIRST_MEMBERS if cluster["offset"] == 0 else 0
    return fragment(
        "cluster_open",
        cluster=cluster,
        kept=kept,
        others=others,
        first=first,
        visible=len(kept) + first,
        excerpts=[excerpt(item["contents"], SNIPPET) for item in (*kept, *others)],
        bridge=bridges[0] if bridges else None,
        linked=counted(len(bridges), "other cluster"),
        next=seen if seen < cluster["total"] else None,
        members=counted(cluster["total"], "member"),
    )


def pair_html(pair: JsonObject, addresses: Sequence[Mapping[str, str]], kinds: Mapping[str, str]) -> str:
    """A member of a cluster next to the kept document."""
    ids = pair["left"]["id"], pair["right"]["id"]
    kinds = kinds if any(addresses) else {}
    fields = fields_of(pair["fields"], ids, addresses, kinds)
    said = f"{plain(ids[1])} next to {plain(ids[0])}"
    return fragment("job_pair", pair=pair, fields=fields, first=FIRST_PASSAGES, said=said)
