"""Alarms: findings in a result that should be checked before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.errors import SettingsError
from benzer.evidence import find_passages
from benzer.fields import Text
from benzer.results.base import DecidedDocuments
from benzer.results.safety import Safety
from benzer.wording import likeness, share

FEW = 20
"""A source of fewer documents, or a cluster or component of fewer, is no alarm."""
PASSAGE = 200
"""Of the passage that two documents share, so many characters stand in an alarm."""


@dataclass(frozen=True)
class AlarmLimits:
    """The shares of all documents, in [0, 1], above which an alarm is raised.

    Attributes:
        source: Removed documents, as a share of one source.
        cluster: Documents of one cluster.
        chain: Connected documents of one component in which no cluster has half of them.
        short: Documents with less than one shingle.
        malformed: Malformed rows, as a share of all rows.
        boilerplate: Kept documents, as a share of a bucket above the limit.
    """

    source: float = 0.5
    cluster: float = 0.05
    chain: float = 0.01
    short: float = 0.2
    malformed: float = 0.01
    boilerplate: float = 0.5

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            if not 0 <= limit <= 1:
                raise SettingsError(f"the limit {name} must be a share in [0, 1], got {limit}")


@dataclass(frozen=True)
class Alarm:
    """A finding that should be checked.

    Attributes:
        kind: "source", "cluster", "chain", "boilerplate", "short" or "malformed".
        message: A sentence with its numbers.
        numbers: The numbers of the message.
        examples: Ids of example documents: a removed one and its kept one, or the two of a pair.
        passage: The beginning of the longest passage that the two share; "" if there is none.
    """

    kind: str
    message: str
    numbers: dict[str, int | float | str]
    examples: tuple[str | int, ...] = ()
    passage: str = ""
    positions: tuple[int, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the alarm as JSON values."""
        values = {name: value for name, value in asdict(self).items() if name != "positions"}
        return {**values, "examples": list(self.examples)}


def alarms(
    result: DecidedDocuments, limits: AlarmLimits | None = None, safety: Safety | None = None
) -> list[Alarm]:
    """Return all alarms of a result, the most serious kinds first.

    Args:
        found: The result.
        limits: Shares from which an alarm is raised.
        safety: Checks of the clusters, if they are known.

    >>> from benzer import find_duplicates
    >>> copies = {f"copy {number}": "the same words in each" for number in range(40)}
    >>> [alarm.message for alarm in alarms(find_duplicates(copies))][1]
    "100.0 % of the documents (40 of 40) are in one cluster, represented by 'copy 0'"
    """
    limits = limits or AlarmLimits()
    safety = safety or Safety(result)
    makers = (lost_sources, giant_clusters, chains, boilerplate, short_documents, malformed_rows)
    return [alarm for make in makers for alarm in make(safety, limits)]


def lost_sources(safety: Safety, limits: AlarmLimits) -> Iterator[Alarm]:
    """Yield an alarm for each source that loses more than a share of its documents."""
    result = safety.result
    of_source = result.corpus.sources()
    for number, counts in enumerate(result.by_source()):
        if counts.documents < FEW or counts.removed_share <= limits.source:
            continue
        known = f", {counts.known:,} match an older collection" * bool(counts.known)
        message = (
            f"{counts.name} loses {share(counts.removed, counts.documents)} of its documents "
            f"({counts.removed:,} of {counts.documents:,}; {counts.identical:,} are identical to a kept one{known})"
        )
        numbers: dict[str, int | float | str] = {
            "source": counts.name,
            "documents": counts.documents,
            "removed": counts.removed,
            "identical": counts.identical,
            "known": counts.known,
            "share": counts.removed_share,
        }
        own = of_source == number
        goes = np.flatnonzero(own & result.led)
        if len(goes):
            example = int(goes[np.argmin(result.leader_similarity[goes])])
            yield alarm(safety, "source", message, numbers, (int(result.leader[example]), example))
        else:
            yield Alarm("source", message, numbers, known_example(result, own))


def known_example(result: DecidedDocuments, own: NDArray[np.bool_]) -> tuple[str | int, ...]:
    """Return the known document that is least similar to its old document, with that one."""
    matches = result.matches
    if matches is None:
        return ()
    best = matches.best[own[matches.position[matches.best]]]
    least = int(best[np.argmin(matches.similarity[best])])
    return matches.old_ids[least], result.corpus.ids([int(matches.position[least])])[0]


def giant_clusters(safety: Safety, limits: AlarmLimits) -> Iterator[Alarm]:
    """Yield an alarm for each cluster with more than a share of all documents."""
    result = safety.result
    sizes = np.bincount(result.leader, minlength=len(result.leader))
    documents = result.counts["documents"]
    for leader in np.flatnonzero((sizes >= FEW) & (sizes > limits.cluster * documents)):
        members = np.flatnonzero((result.leader == leader) & result.led)
        example = members[np.argmin(result.leader_similarity[members])]
        gone = int(sizes[leader]) - 1
        name = result.corpus.ids([int(leader)])[0]
        of_all = f"{gone + 1:,} of {documents:,}"
        part = share(gone + 1, documents)
        message = f"{part} of the documents ({of_all}) are in one cluster, represented by {name!r}"
        numbers: dict[str, int | float | str] = {
            "representative": name,
            "size": gone + 1,
            "share": (gone + 1) / documents,
        }
        yield alarm(safety, "cluster", message, numbers, (int(leader), int(example)))


def chains(safety: Safety, limits: AlarmLimits) -> Iterator[Alarm]:
    """Yield an alarm for many connected clusters: connected components would have made one of them."""
    result = safety.result
    sizes, clusters = safety.component_sizes, safety.component_clusters
    largest = safety.component_largest
    many = (clusters > 1) & (2 * largest < sizes)
    chained = np.flatnonzero(many & (sizes >= FEW) & (sizes > limits.chain * result.counts["documents"]))
    if not len(chained):
        return
    worst = int(chained[np.argmax(sizes[chained])])
    example, similarity = far_apart(safety, np.flatnonzero((safety.component == worst) & result.stays))
    message = (
        f"{sizes[worst]:,} documents are connected by chains of matches; they form {clusters[worst]:,} clusters of "
        f"at most {largest[worst]:,} documents, and two of the kept documents have a similarity of only "
        f"{likeness(similarity)}"
    )
    numbers: dict[str, int | float | str] = {
        "components": len(chained),
        "size": int(sizes[worst]),
        "clusters": int(clusters[worst]),
        "largest_cluster": int(largest[worst]),
        "similarity": similarity,
    }
    yield alarm(safety, "chain", message, numbers, example)


def far_apart(safety: Safety, documents: NDArray[np.intp]) -> tuple[tuple[int, int], float]:
    """Return the first of some documents with the least similar of a few that are spread over the others."""
    spread = np.linspace(1, len(documents) - 1, min(len(documents) - 1, FEW)).astype(np.intp)
    others = documents[spread].astype(np.uint32)
    values = safety.similarity(np.full_like(others, documents[0]), others)
    least = int(np.argmin(values))
    return (int(documents[0]), int(others[least])), float(values[least])


def boilerplate(safety: Safety, limits: AlarmLimits) -> Iterator[Alarm]:
    """Yield an alarm for large buckets whose documents share a part but are not similar, so that most are kept."""
    result = safety.result
    large = result.proposed.large
    buckets = [bucket for bucket in large.each() if len(bucket)]
    kept = [bucket[result.stays[bucket]] for bucket in buckets]
    sizes = np.array([len(bucket) for bucket in buckets], dtype=np.int64)
    shares = np.array([len(some) for some in kept]) / np.maximum(sizes, 1)
    if not len(buckets) or not (shares > limits.boilerplate).any():
        return
    most = int(np.argmax(np.where(shares > limits.boilerplate, sizes, -1)))
    documents = kept[most].astype(np.intp)
    if len(documents) < 2:
        return
    message = (
        f"{len(large):,} buckets have more than {result.settings.bucket_limit:,} documents each; of the "
        f"{sizes[most]:,} documents of one of them, {len(documents):,} are kept: they share a part, but are not similar"
    )
    numbers: dict[str, int | float | str] = {
        "oversized_buckets": len(large),
        "oversized_documents": len(large.members),
        "documents": int(sizes[most]),
        "kept": len(documents),
    }
    example = typical_pair(safety, documents)
    yield alarm(safety, "boilerplate", message, numbers, example, shared_passage(result, *example))


def typical_pair(safety: Safety, documents: NDArray[np.intp]) -> tuple[int, int]:
    """Return the first of some documents with the one of median similarity among a few others.

    The most similar one may nearly be a duplicate; this one shows what all of them share.
    """
    others = documents[1 : FEW + 1].astype(np.uint32)
    values = safety.similarity(np.full_like(others, documents[0]), others)
    return int(documents[0]), int(others[np.lexsort((others, values))[len(others) // 2]])


def short_documents(safety: Safety, limits: AlarmLimits) -> Iterator[Alarm]:
    """Yield an alarm for many documents with less than one shingle: they are compared as a whole, or not at all."""
    result = safety.result
    poor = np.flatnonzero(result.short | result.empty)
    documents, short, empty = (result.counts[name] for name in ("documents", "short", "empty"))
    if documents < FEW or short + empty <= limits.short * documents:
        return
    message = (
        f"{share(short + empty, documents)} of the documents have less than one shingle: {short:,} are compared "
        f"as a whole, {empty:,} are empty; use smaller shingles, or characters"
    )
    yield alarm(safety, "short", message, {"short": short, "empty": empty}, tuple(map(int, poor[:2])))


def malformed_rows(safety: Safety, limits: AlarmLimits) -> Iterator[Alarm]:
    """Yield an alarm for many malformed rows."""
    result = safety.result
    read, malformed = result.counts["read"], result.malformed
    count = result.counts["malformed"]
    if not malformed or count <= limits.malformed * read:
        return
    of_all = f"{count:,} of {read:,}"
    message = f"{share(count, read)} of the rows ({of_all}) are malformed; the first: {malformed[0]}"
    yield Alarm("malformed", message, {"malformed": count, "read": read})


def alarm(
    safety: Safety,
    kind: str,
    message: str,
    numbers: dict[str, int | float | str],
    positions: tuple[int, ...],
    passage: str = "",
) -> Alarm:
    """Return an alarm with the ids of its examples."""
    return Alarm(kind, message, numbers, tuple(safety.result.corpus.ids(list(positions))), passage, positions)


def shared_passage(result: DecidedDocuments, left: int, right: int) -> str:
    """Return the beginning of the longest passage that two documents share in their texts; "" if there is none."""
    best = ""
    for number, item in enumerate(result.settings.schema.fields.values()):
        if not isinstance(item, Text):
            continue
        texts = result.corpus.text(left, number), result.corpus.text(right, number)
        if texts[0] and texts[1]:
            passages = find_passages(item, texts[0], texts[1]).passages
            start, end = passages[0].a if passages else (0, 0)
            cut = "…" if end - start > PASSAGE else ""
            best = max(best, texts[0][start : min(end, start + PASSAGE)] + cut, key=len)
    return best
