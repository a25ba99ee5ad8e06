"""Renders templates to HTML. All values are escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from benzer import wording

FILTERS = (
    "about", "amount", "brief", "count", "counted", "duration", "likeness", "percentage", "plain", "ratio", "rounded",
    "setting",
)  # fmt: skip
LABELS = {
    "progress": "Progress of this stage",
    "similar": "Find similar",
    "side_by_side": "Side by side",
    "lowest": "lowest similarity",
    "no_indexes": "No indexes yet",
    "example": "For example",
    "tables": "Tables to download",
    "curve": "Curve as a table",
    "create": "Create an index",
    "histogram": "Histogram as a table",
    "log_in": "Log in",
    "search": "Go to search",
    "add": "Add documents",
    "settings": "All settings",
    "threshold": "Threshold as a number",
    "recall": "Recall as a number",
    "minimum": "Minimum similarity of near-duplicates",
}
"""Texts that several templates show."""
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that are not allowed in HTML: controls and surrogates."""


def environment(package: str) -> Any:
    """The template environment of a package, whose templates can use those of this package."""
    import jinja2

    from benzer.evidence.views import LEGEND

    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("benzer.views")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update({name: getattr(wording, name) for name in FILTERS})
    made.filters["part"] = part
    made.globals.update(share=wording.share, legend=LEGEND, labels=LABELS)
    return made


def part(text: str) -> str:
    """Percent-encode a text as one segment of a path.

    >>> part("a/b c")
    'a%2Fb%20c'
    """
    return quote(text, safe="", errors="surrogatepass")


@cache
def own_environment() -> Any:
    """The environment of the fragments."""
    return environment("benzer.views")


def fragment(name: str, **context: Any) -> Markup:
    """Render a template of this package."""
    return Markup(UNFIT.sub("\ufffd", own_environment().get_template(f"{name}.html").render(**context)))


def clean(text: str) -> str:
    """A page without characters that are not allowed in HTML.

    >>> clean("a\\x00b")
    'a\ufffdb'
    """
    return UNFIT.sub("\ufffd", text)
