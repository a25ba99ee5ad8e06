"""Tables of a scenario for its section of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks import machine, report
from benchmarks.environments import PINNED, installed, python_of
from benchmarks.material import Corpus
from benchmarks.measure import Measurement
from benchmarks.peers import NO_ANSWER
from benchmarks.scenarios import Scenario
from benchmarks.scoring import LEVELS

_SHINGLES = {"word": "words", "char": "characters"}
_COLUMNS = (
    "engine",
    "threads",
    "seconds",
    "runs",
    "MB/s",
    "documents/s",
    "of {reference}'s time",
    "Benzer is faster by",
    "peak RSS, MB",
    "of it anonymous, MB",
    "recall",
    "precision",
)


def markdown(
    scenario: Scenario, corpus: Corpus, here: machine.Machine, measurements: Sequence[Measurement]
) -> str:
    """The generated section."""
    columns = [name.format(reference=scenario.reference) for name in _COLUMNS]
    rows = [_row(item, corpus, scenario, measurements) for item in measurements]
    parts = [
        f"## {scenario.name}",
        _caption(scenario, corpus),
        report.table(columns, rows),
        _level_table(scenario, corpus, measurements),
        *([] if corpus.planted else [_agreement(measurements)]),
        *_pair_sentences(measurements, corpus.planted),
        _verification(measurements),
        f"Command: `python -m benchmarks.run {_how(scenario, corpus)}`. Machine: {here.sentence()}.",
        _versions(scenario),
    ]
    return "\n\n".join(part for part in parts if part)


def _how(scenario: Scenario, corpus: Corpus) -> str:
    return scenario.name if corpus.planted else f"--file {corpus.facts['file']}"


def _caption(scenario: Scenario, corpus: Corpus) -> str:
    facts = corpus.facts
    known = f", {facts['planted_pairs']:,} planted pairs of known exact similarity" if corpus.planted else ""
    truth = (
        "computed in plain Python"
        if corpus.planted
        else "computed by Benzer's exact method, which finds every pair"
    )
    bands = f"{scenario.num_hashes} hashes, {scenario.bands} bands of {scenario.rows} rows"
    return (
        f"{facts['documents']:,} documents, {facts['jsonl_bytes'] / 1e6:.1f} MB of JSONL{known}. Task: find "
        f"near-duplicates with Jaccard ≥ {scenario.threshold} of 5-shingles of {_SHINGLES[scenario.unit]}. Other "
        f"tools: {bands}, unverified (gaoya: verified by sketch); Benzer: recall={scenario.recall}, every pair "
        "verified; benzer-written: also kept, removed, pairs and clusters written to files. Seconds from opening the "
        f"file to the result, without imports, median of {scenario.repetitions} interleaved runs (a single run if it "
        f"takes over {scenario.once_above:.0f} s), each in a new process with a warm page cache. MB/s refer to JSONL. "
        "“Benzer is faster by” compares with the row benzer with the same number of threads. Recall: share of the true "
        "pairs with at least one removed document (for rensa and FastSketchLSH, which flag every member of a cluster: "
        "with both documents flagged). Precision: share of the flagged documents that are in a true pair. True pairs "
        f"are {truth}."
    )


def _row(
    item: Measurement, corpus: Corpus, scenario: Scenario, measurements: Sequence[Measurement]
) -> list[object]:
    taken = item.median_seconds()
    if taken is None:
        return [item.engine, item.threads, (item.failure or "not run")[:80], *[None] * (len(_COLUMNS) - 3)]
    facts, measure = corpus.facts, _seconds_of(measurements, scenario.reference, item.threads)
    own = _seconds_of(measurements, "benzer", item.threads)
    return [
        item.engine,
        item.threads,
        report.seconds(taken),
        len(item.seconds),
        f"{facts['jsonl_bytes'] / 1e6 / taken:.0f}",
        f"{facts['documents'] / taken:,.0f}",
        f"{taken / measure:.2f}" if measure else None,
        f"{taken / own:.1f} ×" if own and item.flags and not item.engine.startswith("benzer") else None,
        f"{max(item.peak_rss_mb):.0f}",
        f"{max(item.peak_anonymous_mb):.0f}",
        report.share(item.flags.recall) if item.flags else None,
        report.share(item.flags.precision) if item.flags else None,
    ]


def _seconds_of(measurements: Sequence[Measurement], engine: str, threads: int) -> float | None:
    """Seconds of an engine with the given number of threads, or with one."""
    found = {item.threads: item.median_seconds() for item in measurements if item.engine == engine}
    return found.get(threads) or found.get(1)


def _level_table(scenario: Scenario, corpus: Corpus, measurements: Sequence[Measurement]) -> str:
    """Recall, and wrong flags, by exact similarity."""
    names = [name for name, _, _ in LEVELS]
    scored = [item for item in measurements if item.flags and item.threads == 1]
    if not scored:
        return ""
    rows = []
    for item in scored:
        assert item.flags is not None
        wrong = {name: item.flags.flagged_by_level.get(name, 0) for name in (".5-.7", "below .5", "none")}
        rows.append(
            [item.engine, *(report.share(item.flags.by_level.get(name)) for name in names), *wrong.values()]
        )
    pairs = (
        "planted clusters of two documents"
        if corpus.planted
        else "true pairs whose documents are in no other"
    )
    heading = (
        f"Share found by exact similarity ({pairs}, one thread; below {scenario.threshold} nothing should be), and how "
        "many documents were flagged whose greatest exact similarity to another is only .5 to .7, below .5, or none at "
        "all: all wrong."
    )
    columns = ["engine", *names, "flagged at .5-.7", "flagged below .5", "flagged, no pair"]
    return f"{heading}\n\n{report.table(columns, rows)}"


def _agreement(measurements: Sequence[Measurement]) -> str:
    """Agreement of two engines: documents flagged by both, over documents flagged by either."""
    flagged = {
        item.engine: set(item.answer["flagged"])
        for item in measurements
        if item.threads == 1 and item.answer and item.engine not in NO_ANSWER
    }
    rows = [
        [name, *(report.share(len(own & other) / max(len(own | other), 1)) for other in flagged.values())]
        for name, own in flagged.items()
    ]
    heading = (
        "Flagged by both over flagged by either (rensa and FastSketchLSH flag whole clusters, so they agree with "
        "each other only):"
    )
    return f"{heading}\n\n{report.table(['engine', *flagged], rows)}"


def _pair_sentences(measurements: Sequence[Measurement], planted: bool) -> Iterator[str]:
    for item in measurements:
        if item.pairs and item.threads == 1 and item.engine == "benzer":
            yield (
                f"Pairs of {item.engine}: {len(item.answer['pairs']):,}, recall "
                f"{report.share(item.pairs.recall)}, precision {report.share(item.pairs.precision)}, "
                f"greatest difference from the exact similarity {item.pairs.greatest_difference:.1e}"
                + (
                    f"; {item.pairs.unplanted} of them were not planted and were checked from their texts."
                    if planted
                    else "."
                )
            )


def _verification(measurements: Sequence[Measurement]) -> str:
    """The time of the exact comparison of every candidate, relative to the rest of Benzer's time."""
    parts = []
    for item in measurements:
        stages = item.median_stages()
        if item.engine == "benzer" and "verify" in stages:
            rest = sum(stages.values()) - stages["verify"]
            threads = "one thread" if item.threads == 1 else f"{item.threads} threads"
            shown = ", ".join(f"{name} {1000 * seconds:.0f} ms" for name, seconds in stages.items())
            parts.append(f"on {threads} {stages['verify'] / rest:.0%} ({shown})")
    return f"Verification adds to the rest of Benzer's time {'; '.join(parts)}." if parts else ""


def engine_versions(scenario: Scenario) -> dict[str, str]:
    """Benzer's rows are of one version; the environments of the peers list theirs."""
    names = dict.fromkeys(engine.split("-written")[0] for engine in scenario.engines)
    return {name: installed(python_of(name)).get(PINNED.get(name, name), "unknown") for name in names}


def _versions(scenario: Scenario) -> str:
    return f"Versions: {', '.join(f'{name} {number}' for name, number in engine_versions(scenario).items())}."
