"""Renders a result to a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from benzer import wording
from benzer._native import __version__
from benzer.errors import SettingsError
from benzer.evidence.html import STYLE
from benzer.recall import RecallEstimate
from benzer.report import rerun, sections
from benzer.results import Duplicates
from benzer.tables import atomic_write

EVIDENCE = 20
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that are not allowed in HTML: controls and surrogates."""


def write_report(
    found: Duplicates,
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
        partial.write_text(report_html(found, recall, command, evidence), encoding="utf-8", errors="replace")
    return Path(path)


def report_html(
    found: Duplicates,
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
    page = environment().get_template("page.html").render(context(found, recall, command, evidence))
    return UNFIT.sub("\ufffd", page)


def context(
    found: Duplicates, recall: RecallEstimate | None, command: str | Sequence[str] | None, evidence: int
) -> dict[str, Any]:
    """The variables of the template."""
    largest, doubtful = sections.chosen_clusters(found, evidence)
    rows, sources_left_out = sections.source_rows(found)
    return {
        "found": found,
        "version": __version__,
        "style": styles(),
        "tiles": sections.tiles(found),
        "lead": sections.lead(found),
        "alarms": sections.alarms_shown(found.alarms()),
        "recall": recall,
        "recall_figure": sections.recall_figure(found, recall),
        "similarity_figure": sections.similarity_figure(found),
        "size_figure": sections.size_figure(found),
        "sources": rows,
        "sources_left_out": sources_left_out,
        "known": sections.known_rows(found),
        "known_examples": sections.known_examples(found),
        "malformed": found.malformed[: sections.MALFORMED_SHOWN],
        "largest": sections.clusters_shown(found, largest),
        "doubtful": sections.clusters_shown(found, doubtful),
        "bridges": sections.bridges_shown(found, evidence // 4),
        "settings": list(rerun.flat(found.settings.to_dict())),
        "command": rerun.command_line(command),
        "python": rerun.python_code(found),
    }


def environment(package: str = "benzer.report") -> Any:
    """The template environment of a package, with filters and globals. All values are escaped."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        {
            name: getattr(wording, name)
            for name in ("brief", "count", "counted", "duration", "likeness", "ratio", "setting")
        }
    )
    made.globals["share"] = wording.share
    return made


def styles() -> Any:
    """The style sheets of the page and of the side-by-side views."""
    from markupsafe import Markup

    own = files("benzer.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    return Markup(STYLE + own)
