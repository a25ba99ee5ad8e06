"""The report of a run: one self-contained HTML file.

| module | contents |
|---|---|
| `writing` | renders a result to a page |
| `sections` | the figures and tables of each section |
| `shown` | pairs side by side |
| `rerun` | code and settings to repeat the run |
| `charts` | SVG charts |
"""

from __future__ import annotations

from benzer.report.writing import report_html, write_report

__all__ = ["report_html", "write_report"]
