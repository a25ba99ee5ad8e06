"""How does a result become a page?"""

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
"""What HTML cannot hold: controls and half characters."""


def write_report(
    found: Duplicates,
    path: str | Path,
    recall: RecallEstimate | None = None,
    command: str | Sequence[str] | None = None,
    evidence: int = EVIDENCE,
    replace: bool = False,
) -> Path:
    """Write what a run found as one HTML file that needs no network; whole or not at all. Gives its path.

    recall: what `Duplicates.measure_recall` measured; without it the page shows the promise alone.
    command: the command line of the run, which the page repeats, without passwords.
    evidence: how many pairs are shown side by side at most, cut around what they share.
    replace: whether a file that exists may be replaced; else it is an `OutputError`.

    The page shows ids and parts of texts of the input. It costs up to 120 comparisons a cluster beside the drawing.

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
    """The page that `write_report` writes.

    >>> from benzer import find_duplicates
    >>> page = report_html(find_duplicates({"a": "one <script> three", "b": "one <script>, three"}))
    >>> page[:15], "<script>" in page
    ('<!doctype html>', False)
    """
    if evidence < 0:
        raise SettingsError(f"evidence must be 0 or more, got {evidence}: 0 shows no texts")
    page = environment().get_template("page.html").render(context(found, recall, command, evidence))
    return UNFIT.sub("\ufffd", page)


def context(
    found: Duplicates, recall: RecallEstimate | None, command: str | Sequence[str] | None, evidence: int
) -> dict[str, Any]:
    """What the template fills in."""
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
    """Where the templates of a package lie, and what they may call. Everything they fill in is escaped."""
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
    """The style sheets of the page and of what it shows side by side, as they are."""
    from markupsafe import Markup

    own = files("benzer.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    return Markup(STYLE + own)
