"""Renders a result to a page."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benzer._native import __version__
from benzer.errors import SettingsError
from benzer.recall import RecallEstimate
from benzer.results import Duplicates
from benzer.tables import atomic_write
from benzer.views import clusters, figures, rerun, sources
from benzer.views.alarms import NONE, NONE_IN_PART, alarms_of
from benzer.views.counts import counts_of, lead
from benzer.views.evidence import STYLE
from benzer.views.html import clean, environment
from benzer.views.recall import guaranteed, notes_of, pair_recall, sampled
from benzer.views.recall import measured as measured_said
from benzer.views.settings import flat

EVIDENCE = 20
MALFORMED_SHOWN = 20


def write_report(
    result: Duplicates,
    path: str | Path,
    recall: RecallEstimate | None = None,
    command: str | Sequence[str] | None = None,
    evidence: int = EVIDENCE,
    replace: bool = False,
) -> Path:
    """Write the report of a run as one self-contained HTML file, atomically.

    The page contains ids and parts of texts of the input. It needs up to 120 comparisons per cluster.

    Args:
        found: The result of the run.
        path: The path of the file.
        recall: The result of `Duplicates.measure_recall`; without it the page shows only the guaranteed recall.
        command: The command line of the run, which the page shows without passwords.
        evidence: Maximum number of pairs side by side, shortened to their shared parts.
        replace: Whether to replace an existing file.

    Returns:
        The path of the file.

    Raises:
        OutputError: The file exists and `replace` is false, or it cannot be written.

    >>> import tempfile
    >>> from benzer import find_duplicates
    >>> found = find_duplicates({"a": "one two three four", "b": "One two three four!"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(found, Path(folder, "report.html"), recall=found.measure_recall()).name
    'report.html'
    """
    with atomic_write(path, replace) as partial:
        partial.write_text(report_html(result, recall, command, evidence), encoding="utf-8", errors="replace")
    return Path(path)


def report_html(
    result: Duplicates,
    recall: RecallEstimate | None = None,
    command: str | Sequence[str] | None = None,
    evidence: int = EVIDENCE,
) -> str:
    """The HTML of the report; see `write_report` for the arguments.

    >>> from benzer import find_duplicates
    >>> page = report_html(find_duplicates({"a": "one <script> three", "b": "one <script>, three"}))
    >>> page[:15], "<script>" in page
    ('<!doctype html>', False)
    """
    if evidence < 0:
        raise SettingsError(f"evidence must be 0 or more, got {evidence}: use 0 to show no texts")
    page = environment("benzer.report").get_template("page.html")
    return clean(page.render(context(result, recall, command, evidence)))


def context(
    result: Duplicates, recall: RecallEstimate | None, command: str | Sequence[str] | None, evidence: int
) -> dict[str, Any]:
    """The variables of the template."""
    largest, doubtful = clusters.chosen_clusters(result, evidence)
    rows, sources_left_out = sources.source_rows(result)
    settings, counts = result.settings, result.counts
    measured = None if recall is None else recall.to_dict()
    bands = None if result.bands is None else (result.bands.bands, result.bands.rows)
    texts = {field.kind for field in settings.schema.fields.values()} == {"text"}
    tiles = [item for item in counts_of(counts, result.threshold, texts=texts) if item.tile]
    oversized = counts["oversized_buckets"]
    return {
        "found": result,
        "version": __version__,
        "style": styles(),
        "tiles": tiles,
        "lead": lead(counts, result.threshold),
        "alarms": alarms_of([alarm.to_dict() for alarm in result.alarms()]),
        "no_alarms": NONE_IN_PART if result.part else NONE,
        "guaranteed": guaranteed(result.threshold, result.probability(result.threshold), bands),
        "notes": notes_of(settings, 0),
        "measured": measured,
        "recall_said": measured
        and [measured_said(measured), sampled(measured), pair_recall(measured, oversized)],
        "recall_figure": figures.recall_figure(result, recall),
        "similarity_figure": figures.similarity_figure(result),
        "size_figure": figures.size_figure(result),
        "sources": rows,
        "sources_left_out": sources_left_out,
        "known": sources.known_rows(result),
        "known_examples": sources.known_examples(result),
        "malformed": result.malformed[:MALFORMED_SHOWN],
        "largest": clusters.clusters_of(result, largest),
        "doubtful": clusters.clusters_of(result, doubtful),
        "bridges": clusters.bridges_of(result, evidence // 4),
        "settings": list(flat(settings.to_dict())),
        "command": rerun.command_line(command),
        "python": rerun.python_code(result),
    }


def styles() -> Markup:
    """The style sheets of the page and of the side-by-side views."""
    own = files("benzer.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    return Markup(STYLE + own)
