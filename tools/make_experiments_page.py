"""Write the generated sections of docs/experiments.md, and the figures in docs/figures.

`python tools/make_experiments_page.py` runs all eight experiments with the settings of their sources, in about a
minute. Names, as in `python tools/make_experiments_page.py E4 E8`, select some. The text between the sections is
written by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benzer.experiments import EXPERIMENTS, ExperimentResult, ResultTable, run_experiment
from benzer.experiments.figures import draw

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "experiments.md"
FIGURES = ROOT / "docs" / "figures"


def section(result: ExperimentResult) -> str:
    """The section of one experiment: settings, published and measured results, figures, short tables."""
    parts = [
        f"*{result.question}*",
        f"**Settings:** {result.settings}.",
        f"**Published:** {result.published}",
        f"**Found:** {result.finding}",
        *(f"![{figure.title}](figures/{stem(result, name)}.svg)" for name, figure in result.figures.items()),
        *map(markdown, result.short_tables.values()),
    ]
    return "\n\n".join(parts)


def markdown(table: ResultTable) -> str:
    """A table in Markdown, numbers to the right.

    >>> print(markdown(ResultTable(("family", "error"), (("modular", 0.5),))))
    | family | error |
    |---|---:|
    | modular | 0.5 |
    """
    words = [any(isinstance(cell, str) for cell in table.column(name)) for name in table.columns]
    rule = "|" + "".join("---|" if word else "---:|" for word in words)
    lines = [list(table.columns), *table.for_readers()]
    head, *body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([head, rule, *body])


def stem(result: ExperimentResult, name: str) -> str:
    """The name of a figure's file, without its ending."""
    return f"{result.name.lower()}-{name}"


def replaced(text: str, name: str, body: str) -> str:
    """A page with a new body of its generated section `name`.

    >>> replaced("<!-- generated: E1 -->\\nold\\n<!-- end: E1 -->\\nmore", "E1", "new")
    '<!-- generated: E1 -->\\nnew\\n<!-- end: E1 -->\\nmore'
    """
    opening, closing = f"<!-- generated: {name} -->\n", f"\n<!-- end: {name} -->"
    before, rest = text.split(opening, 1)
    return before + opening + body + closing + rest.split(closing, 1)[1]


def run(arguments: list[str]) -> int:
    """Run the experiments; write their sections and figures."""
    for name in arguments or EXPERIMENTS.names:
        result = run_experiment(name, "full")
        FIGURES.mkdir(exist_ok=True)
        for figure_name, figure in result.figures.items():
            (FIGURES / f"{stem(result, figure_name)}.svg").write_bytes(draw(figure, "svg"))
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), name, section(result)), encoding="utf-8")
        print(f"{name}  {result.finding}")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
