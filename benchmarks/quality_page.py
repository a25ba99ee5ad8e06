"""Generated sections of docs/quality.md."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, pstdev
from typing import Any

from benchmarks import report
from benchmarks.machine import Machine
from benchmarks.quality_sets import SETS
from benchmarks.scenarios import DOCS
from benzer.presets import PRESETS

PAGE = DOCS / "quality.md"
TITLE = "Quality compared with other tools"
ENGINES = ("benzer", "datasketch", "rensa", "text-dedup")
WAYS = ("leaders", "components")
NAMES = {"f1": "F1 of pairs", "ari": "ARI"}
Row = dict[str, Any]


def write(record: dict[str, Any], here: Machine) -> None:
    """Write the generated sections of docs/quality.md."""
    engines = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    measured = f"Machine: {here.sentence()}. {engines}. {record['seeds']} seeds."
    sections = {
        "headline": f"{headline(record['sets'])}\n\n{measured}",
        "details": details(record["sets"]),
        "clusters": clusters(record["sets"]),
        "ways": ways(record["sets"]),
        "presets": presets(record["sets"]),
    }
    for name, body in sections.items():
        report.write_section(PAGE, name, body, TITLE)


def mean_and_spread(best: Row, metric: str) -> tuple[float, float]:
    """Mean and standard deviation of a figure over the seeds."""
    values = [score[metric] for score in best["seeds"]]
    return mean(values), pstdev(values)


def is_ahead(name: str, engines: list[Row]) -> bool:
    """Whether no engine is better than Benzer by the headline figure."""
    values = {one["engine"]: mean_and_spread(one, one["metric"])[0] for one in _deciding(name, engines)}
    return values.get("benzer", 0.0) >= max(values.values())


def headline(sets: dict[str, Row]) -> str:
    """The headline figure of each set, with every engine at its best setting."""
    rows = []
    for name, found in sets.items():
        figures = {
            one["engine"]: mean_and_spread(one, one["metric"]) for one in _deciding(name, found["engines"])
        }
        most = max(value for value, _ in figures.values())
        cells = [_marked(figures.get(engine), most) for engine in ENGINES]
        rows.append([name, SETS[name].kind, f"{found['documents']:,}", NAMES[SETS[name].headline], *cells])
    return report.table(["set", "kind", "documents", "figure", *ENGINES], rows)


def details(sets: dict[str, Row]) -> str:
    """The best setting of each engine by the headline figure, with precision and recall."""
    rows = [
        [
            name,
            one["engine"],
            _settings(one["settings"]),
            f"{one['seeds'][0]['answer']} at {one['seeds'][0]['threshold']:.2f}",
            *(f"{mean_and_spread(one, figure)[0]:.3f}" for figure in ("precision", "recall", "f1")),
            f"{one['tried']} ({one['gave_up']})",
        ]
        for name, found in sets.items()
        for one in _deciding(name, found["engines"])
    ]
    columns = ["set", "engine", "settings", "answer", "pair P", "pair R", "pair F1", "tried (given up)"]
    return report.table(columns, rows)


def clusters(sets: dict[str, Row]) -> str:
    """The sets whose labels are clusters: adjusted Rand index and B-cubed of each engine's best by ARI."""
    figures = ("ari", "bcubed_precision", "bcubed_recall", "bcubed_f1", "precision", "recall", "f1")
    rows = [
        [
            name,
            one["engine"],
            one["seeds"][0]["answer"],
            *(_with_spread(*mean_and_spread(one, figure)) for figure in figures),
        ]
        for name, found in sets.items()
        for one in found["engines"]
        if one["metric"] == "ari"
    ]
    return report.table(
        ["set", "engine", "answer", "ARI", "B³ P", "B³ R", "B³ F1", "pair P", "pair R", "pair F1"], rows
    )


def ways(sets: dict[str, Row]) -> str:
    """Benzer's clusters and the components of its pairs, each at its best."""
    rows = [
        [
            name,
            *(f"{found['ways'][way][figure]:.3f}" for way in WAYS for figure in ("ari", "bcubed_f1")),
            *(
                f"{_settings(one['settings'])} at {one['threshold']:.2f}"
                for one in map(found["ways"].get, WAYS)
            ),
        ]
        for name, found in sets.items()
        if found["ways"]
    ]
    columns = ["set", "ARI, leaders", "B³ F1", "ARI, components", "B³ F1", "leaders of", "components of"]
    return report.table(columns, rows)


def presets(sets: dict[str, Row]) -> str:
    """Every preset on every set; no setting is chosen by the labels of the set."""
    rows = []
    for name, found in sets.items():
        best = next(one for one in _deciding(name, found["engines"]) if one["engine"] == "benzer")
        cells = [_preset(found["presets"].get(preset), SETS[name].headline) for preset in PRESETS]
        reach = mean_and_spread(best, best["metric"])[0]
        rows.append([name, SETS[name].kind, NAMES[SETS[name].headline], *cells, f"{reach:.3f}"])
    return report.table(["set", "kind", "figure", *PRESETS, "Benzer's best in the grid"], rows)


def _deciding(name: str, engines: list[Row]) -> Iterator[Row]:
    return (one for one in engines if one["metric"] == SETS[name].headline)


def _marked(figure: tuple[float, float] | None, most: float) -> str:
    if figure is None:
        return "none"
    said = _with_spread(*figure)
    return f"**{said}**" if figure[0] == most else said


def _with_spread(value: float, spread: float) -> str:
    return f"{value:.3f} ±{spread:.3f}"


def _preset(scores: list[Row] | None, metric: str) -> str:
    """F1 of the pairs; for cluster labels, ARI of Benzer's clusters, with that of the components in brackets."""
    by_answer = {score["answer"]: score for score in scores or ()}
    if not by_answer:
        return "not tried"
    if metric == "f1":
        return f"{by_answer['pairs']['f1']:.3f}"
    return f"{by_answer['leaders']['ari']:.3f} ({by_answer['components']['ari']:.3f})"


def _settings(settings: Row) -> str:
    """A setting in words.

    >>> _settings({"reading": "char5", "num_hashes": 128, "bands_for": 0.5})
    'char5, 128 hashes, bands for 0.5'
    >>> _settings({"ngram": 2, "num_hashes": 128, "threshold": 0.5, "verify": True, "min_length": 1})
    'word2, 128 hashes, verified'
    """
    reading = settings.get("reading", f"word{settings.get('ngram')}")
    said = [reading.replace("-bags", ", counted")]
    if "num_hashes" in settings:
        said.append(f"{settings['num_hashes']} hashes")
    if "bands" in settings:
        said.append(f"{settings['bands']} bands")
    if "bands_for" in settings:
        said.append(f"bands for {settings['bands_for']}")
    if settings.get("verify"):
        said.append("verified")
    return ", ".join(said)
