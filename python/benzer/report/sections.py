"""The figures and tables of each section of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from benzer.recall import RecallEstimate
from benzer.report.charts import Axes, Bar, bars, recall_strip, s_curve, share_bar, short
from benzer.report.shown import Shown, shown
from benzer.results import Alarm, ClusterReport, Duplicates, SourceCounts
from benzer.results.known import OfCollection
from benzer.wording import SHORT_DOCUMENTS, count, counted, ratio, setting, share, without_passwords

SOURCES_SHOWN = 50
MALFORMED_SHOWN = 20
ALARMS_SHOWN = 10
"""Maximum number of alarms per kind."""
MEMBERS_SHOWN = 8
KNOWN_SHOWN = 5
BIN = 0.02
BELOW = 0.2
"""Range below the threshold in which candidates are drawn."""
SIZES = (2, 3, 4, 5, 8, 11, 21, 101, 1001, 10_001)
"""Lower bounds of the classes of cluster sizes."""


@dataclass(frozen=True)
class Figure:
    """A drawing, the same data as a table, and a summary sentence."""

    drawing: Markup
    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    says: str = ""


@dataclass(frozen=True)
class ClusterShown:
    """One cluster: its report, some of its members, and the least similar one next to the kept document."""

    report: ClusterReport
    members: Sequence[tuple[str | int, float]]
    left_out: int
    sides: Shown | None


def tiles(found: Duplicates) -> list[tuple[str, str, str]]:
    """The counts of the run: value, name and explanation."""
    counts = found.counts
    threshold = setting(found.threshold)
    texts = {field.kind for field in found.settings.schema.fields.values()} == {"text"}
    remarks = {
        "read": "rows of the input",
        "kept": share(counts["kept"], counts["documents"]) + " of the documents",
        "removed": share(counts["removed"], counts["documents"]) + " of the documents",
        "identical": "removed: the same as a kept document" + " after normalization" * texts,
        "near": f"removed: similarity to a kept document at least {threshold}",
        "known": "removed: match a document of an older collection",
        "short": SHORT_DOCUMENTS,
        "empty": "nothing to compare; always kept",
        "malformed": "rows that could not be read; skipped",
    }
    return [(count(counts[name]), name, remark) for name, remark in remarks.items() if name in counts]


def lead(found: Duplicates) -> str:
    """The result in two sentences."""
    counts = found.counts
    if not counts["documents"]:
        return "The input has no documents."
    stay = f"{count(counts['kept'])} of {counted(counts['documents'], 'document')} are kept."
    if not counts["removed"]:
        return f"{stay} No pair with a similarity of at least {setting(found.threshold)} was found."
    known = counts.get("known", 0)
    old = f", {count(known)} match a document of an older collection" if known else ""
    return (
        f"{stay} {count(counts['removed'])} ({share(counts['removed'], counts['documents'])}) are removed: "
        f"{count(counts['identical'])} are identical to a kept document, {count(counts['near'])} have an exact "
        f"similarity of at least {setting(found.threshold)} to one{old}."
    )


def alarms_shown(alarms: Sequence[Alarm]) -> list[tuple[Alarm, int]]:
    """The alarms of each kind, sources with the highest loss first; the last of a kind has the number omitted."""
    kinds: dict[str, list[Alarm]] = {}
    for alarm in alarms:
        kinds.setdefault(alarm.kind, []).append(alarm)
    kinds.get("source", []).sort(
        key=lambda one: (-float(one.numbers["share"]), -float(one.numbers["removed"]))
    )
    chosen = []
    for of_kind in kinds.values():
        some = of_kind[:ALARMS_SHOWN]
        chosen += [(alarm, 0) for alarm in some[:-1]] + [(some[-1], len(of_kind) - len(some))]
    return chosen


def recall_figure(found: Duplicates, recall: RecallEstimate | None) -> Figure | None:
    """The S-curve with the measured recall; None if no bands were used."""
    if found.bands is None:
        return None
    points = [(at / 100, found.probability(at / 100)) for at in range(1, 101)]
    measured = None
    if recall is not None and recall.recall is not None:
        measured = (recall.low, recall.recall, recall.high)
    promised = found.probability(found.threshold)
    drawing = s_curve(points, found.threshold, promised, measured)
    if measured is not None:
        drawing += recall_strip(promised, measured)
    at_tenths = sorted({*(at / 10 for at in range(1, 11)), found.threshold})
    rows = [(setting(at), ratio(found.probability(at))) for at in at_tenths]
    return Figure(drawing, ("similarity", "probability"), rows)


def similarity_edges(threshold: float) -> NDArray[np.float64]:
    """The edges of the similarity histogram, starting below the threshold.

    >>> similarity_edges(0.95).tolist()[-4:]
    [0.95, 0.97, 0.99, 1.01]
    """
    steps = np.arange(-round(BELOW / BIN), int(np.ceil(round((1 - threshold) / BIN, 6))) + (threshold == 1))
    edges = np.append(threshold + BIN * steps, threshold + BIN * (steps[-1] + 1))
    edges = edges[edges > -1e-9]
    edges = np.round(edges, 9)  # otherwise 0.82 is below 0.8 + 0.02
    edges[np.abs(edges - threshold) < 1e-9] = threshold
    edges[-1] = max(edges[-1], 1.0)
    return edges


def similarity_figure(found: Duplicates) -> Figure:
    """The number of pairs by similarity, starting below the threshold."""
    threshold, edges = found.threshold, similarity_edges(found.threshold)
    heights, above, below, undrawn = found.spread(edges)
    if below is None:  # do not draw the unknown part
        heights = heights[int(np.searchsorted(edges, threshold)) :]
        edges = edges[edges >= threshold]
    drawn, rows = [], []
    for start, end, height in zip(edges[:-1].tolist(), edges[1:].tolist(), heights, strict=True):
        pair = start >= threshold
        words = f"{setting(start)} to {setting(min(end, 1.0))}"
        said = f"{words}: {counted(height, 'pair' if pair else 'candidate')}{'' if pair else ' below the threshold'}"
        drawn.append(Bar(start, end, height, "near" if pair else "below", said))
        if height:
            rows.append((words, count(height), "yes" if pair else "no: below the threshold"))
    axes = Axes((float(edges[0]), float(edges[-1])), (0, max(heights, default=0) or 1), "similarity", "pairs")
    parts = 10 if edges[-1] - edges[0] > 0.5 else 20
    places = [
        (at / parts, f"{at / parts:g}")
        for at in range(parts + 1)
        if edges[0] - 1e-9 <= at / parts <= edges[-1]
    ]
    less = "pairs below it were not stored" if below is None else f"{counted(below, 'candidate')} below it"
    said = f"{counted(above, 'pair')} at or above the threshold, {less}."
    if undrawn:
        said += f" Not drawn: {counted(undrawn, 'candidate')} below {setting(float(edges[0]))}."
    drawing = bars("similarities", "Exact similarities of the compared pairs", said, axes, drawn, places)
    return Figure(drawing, ("similarity", "pairs", "match"), rows, said)


def size_figure(found: Duplicates) -> Figure:
    """The number of clusters by size."""
    sizes, clusters = found.cluster_sizes()
    edges = [*[size for size in SIZES if size <= max(int(sizes.max(initial=2)), 4)], np.inf]
    heights = np.histogram(sizes, edges, weights=clusters)[0].tolist()
    documents = np.histogram(sizes, edges, weights=sizes * clusters)[0].tolist()
    drawn, rows, places = [], [], []
    for place, (height, held) in enumerate(zip(heights, documents, strict=True)):
        start, end = int(edges[place]), edges[place + 1]
        last = end == np.inf
        words = size_class(start, None if last else int(end) - 1)
        said = f"{counted(height, 'cluster')} of {words} documents"
        drawn.append(Bar(place + 0.1, place + 0.9, height, "near", said))
        places.append((place + 0.5, words))
        rows.append((words, count(height), count(int(held))))
    axes = Axes((0, len(heights)), (0, max(heights, default=0) or 1), "documents in a cluster", "clusters")
    said = f"{counted(int(clusters.sum()), 'cluster')}; the largest has {count(int(sizes.max(initial=0)))} documents."
    drawing = bars("sizes", "Sizes of the clusters", said, axes, drawn, places)
    return Figure(drawing, ("cluster size", "clusters", "documents in total"), rows, said)


def size_class(least: int, most: int | None) -> str:
    """The name of a class of sizes; None means no upper bound.

    >>> size_class(2, 2), size_class(21, 100), size_class(101, 1000), size_class(10_001, None)
    ('2', '21–100', '101–1k', '10k+')
    """
    first = short(least - 1) if least > 1000 else str(least)
    if most is None:
        return f"{first}+"
    return first if most == least else f"{first}–{short(most)}"


def source_rows(found: Duplicates) -> tuple[list[tuple[SourceCounts, str, Markup]], int]:
    """The sources with a bar, highest removed share first, and the number of omitted sources."""
    ordered = sorted(found.by_source(), key=lambda one: -one.removed_share)
    if len(ordered) <= SOURCES_SHOWN:
        ordered = found.by_source()
    rows = [(one, share(one.removed, one.documents), source_bar(one)) for one in ordered[:SOURCES_SHOWN]]
    return rows, len(ordered) - len(rows)


def source_bar(one: SourceCounts) -> Markup:
    """The shares of kept, near and identical documents of a source."""
    whole = one.documents or 1
    parts = [
        (one.kept, "kept", "kept"),
        (one.near, "near", "near"),
        (one.identical, "same", "identical"),
        (one.known, "known", "known"),
    ]
    return share_bar([(part / whole, look, f"{share(part, whole)} {word}") for part, look, word in parts])


def known_rows(found: Duplicates) -> list[OfCollection]:
    """Each older collection with the number of documents removed because of it."""
    return [one._replace(name=without_passwords(one.name)) for one in found.of_collections()]


def known_examples(found: Duplicates) -> list[tuple[str | int, str | int, str, float]]:
    """The known documents with the lowest similarity to their old match: id, old id, its collection, similarity."""
    matches = found.matches
    if matches is None:
        return []
    least = matches.best[np.argsort(matches.similarity[matches.best], kind="stable")[:KNOWN_SHOWN]]
    ids = found.corpus.ids(matches.position[least])
    names = [without_passwords(matches.names[at]) for at in matches.collection[least].tolist()]
    old = [matches.old_ids[at] for at in least.tolist()]
    return list(zip(ids, old, names, matches.similarity[least].tolist(), strict=True))


def clusters_shown(found: Duplicates, numbers: Sequence[int]) -> list[ClusterShown]:
    """Clusters by number, each with the least similar removed document next to the kept one."""
    return [
        cluster_shown(found, report, int(found.safety.inside.leader[number]))
        for number, report in zip(numbers, found.safety.reports(numbers), strict=True)
    ]


def cluster_shown(found: Duplicates, report: ClusterReport, leader: int) -> ClusterShown:
    """One cluster."""
    members = np.flatnonzero((found.leader == leader) & found.led).astype(np.uint32)
    members = members[np.lexsort((members, found.leader_similarity[members]))]
    ids, values = found.corpus.ids(members[:MEMBERS_SHOWN]), found.leader_similarity[members].tolist()
    sides = shown(found, leader, int(members[0]), values[0]) if values[0] < 1 else None
    named = list(zip(ids, values[:MEMBERS_SHOWN], strict=True))
    return ClusterShown(report, named, len(members) - len(named), sides)


def chosen_clusters(found: Duplicates, evidence: int) -> tuple[list[int], list[int]]:
    """The numbers of the largest and of the most doubtful clusters, without repeats."""
    safety = found.safety
    largest = safety.order("largest").tolist()[: evidence // 4]
    doubtful = [one for one in safety.order("doubtful").tolist() if one not in set(largest)]
    return largest, doubtful[: evidence // 2]


def bridges_shown(found: Duplicates, most: int) -> list[tuple[Any, Shown]]:
    """The bridges between clusters with the least similar representatives, with both representatives."""
    safety, bridges = found.safety, found.safety.bridges
    order = np.argsort(bridges.leaders, kind="stable")[:most]
    return [
        (
            (
                safety.bridge(at, int(bridges.left_leader[at])),
                found.corpus.ids([int(bridges.left_leader[at])])[0],
            ),
            shown(
                found, int(bridges.left_leader[at]), int(bridges.right_leader[at]), float(bridges.leaders[at])
            ),
        )
        for at in order.tolist()
    ]
