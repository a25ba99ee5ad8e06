"""The report of a run: one self-contained HTML file.

`writing` renders a result to a page, from the views in `benzer.views`.
"""

from __future__ import annotations

from benzer.report.writing import report_html, write_report

__all__ = ["report_html", "write_report"]
