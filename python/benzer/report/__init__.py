"""What does a person read after a run? One HTML file that stands alone.

| room | answers |
|---|---|
| `writing` | how a result becomes a page |
| `sections` | which figures stand in each part of it |
| `shown` | which pairs are shown side by side, and what of their texts |
| `rerun` | how the run is done again, and with which settings |
| `charts` | how a figure is drawn, as SVG |
"""

from __future__ import annotations

from benzer.report.writing import report_html, write_report

__all__ = ["report_html", "write_report"]
