"""HTML of two documents side by side: a fragment, its style and a complete page.

Everything that comes from a document is escaped; nothing is fetched from anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from benzer.evidence.passages import Evidence, Passage
from benzer.evidence.views import CONTEXT, LONGEST, Side, Stretch, caption, nothing, percent, stretches, whole

MOST_PASSAGES, MOST_VALUES = 10, 60

STYLE = """\
.bz-evidence { --bz-line: #d9dce1; --bz-equal: #d3efd9; --bz-differs: #ffdcb8; --bz-edge: #b4530a;
  --bz-quiet: #5b6470; margin: 0 0 1.5rem; }
@media (prefers-color-scheme: dark) {
  .bz-evidence { --bz-line: #3a404a; --bz-equal: #17452a; --bz-differs: #653a12; --bz-edge: #f5a55b;
    --bz-quiet: #a2abb8; }
}
.bz-evidence p { margin: 0 0 .6rem; }
.bz-evidence .bz-headline b { font-variant-numeric: tabular-nums; }
.bz-evidence .bz-quiet, .bz-evidence figcaption { color: var(--bz-quiet); font-size: .85rem; }
.bz-evidence figure { margin: 0 0 1rem; }
.bz-evidence figcaption { margin: 0 0 .3rem; }
.bz-evidence .bz-pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .75rem; }
.bz-evidence .bz-side { border: 1px solid var(--bz-line); border-radius: 6px; padding: .5rem .7rem; }
.bz-evidence .bz-name { color: var(--bz-quiet); font-size: .8rem; font-weight: 600; display: block;
  overflow-wrap: anywhere; margin-bottom: .25rem; }
.bz-evidence .bz-text { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; unicode-bidi: isolate;
  max-height: 30rem; overflow-y: auto; margin: 0; }
.bz-evidence mark { background: var(--bz-equal); color: inherit; border-radius: 2px; }
.bz-evidence mark.bz-differs { background: var(--bz-differs); text-decoration: underline;
  text-decoration-color: var(--bz-edge); text-decoration-thickness: 2px; }
.bz-evidence summary { cursor: pointer; margin-bottom: .4rem; }
.bz-evidence .bz-around, .bz-evidence .bz-cut { color: var(--bz-quiet); }
.bz-evidence .bz-cut { font-style: italic; font-size: .85rem; }
.bz-evidence ul.bz-values { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .35rem; }
.bz-evidence ul.bz-values li { background: var(--bz-equal); border-radius: 4px; padding: 0 .4rem;
  overflow-wrap: anywhere; }
@media (max-width: 700px) { .bz-evidence .bz-pair { grid-template-columns: minmax(0, 1fr); gap: .4rem; } }
"""

PAGE_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1.25rem;
  background: #fff; color: #1c2128; }
@media (prefers-color-scheme: dark) { body { background: #14171c; color: #e6e9ee; } }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
"""


def side_by_side_html(
    a_text: str,
    b_text: str,
    evidence: Evidence,
    title_a: str,
    title_b: str,
    *,
    most_passages: int = MOST_PASSAGES,
    longest: int = LONGEST,
    context: int = CONTEXT,
) -> str:
    """What two documents share in one field, as a fragment of HTML; `STYLE` is the style sheet for it.

    The passages stand in the order of the evidence, at most `most_passages` of them, each side by side with
    `context` characters around it; of one longer than `longest` characters the middle is left out. What is left
    out is counted.

    >>> from benzer.evidence import find_passages
    >>> from benzer.fields import Text
    >>> fox, dog = "The quick <b> brown fox", "the quick b brown fox!"
    >>> page = side_by_side_html(fox, dog, find_passages(Text(), fox, dog), "a.txt", "b.txt")
    >>> "<mark>The quick &lt;b&gt; brown fox</mark>" in page
    True
    """
    body = [heading(evidence)]
    both: tuple[tuple[str, Side, str], ...] = ((a_text, "a", title_a), (b_text, "b", title_b))
    for number, passage in enumerate(evidence.passages[:most_passages], 1):
        sides = "".join(one_side(text, passage, side, title, longest, context) for text, side, title in both)
        what = caption(number, passage, evidence.unit)
        body.append(f'<figure><figcaption>{what}</figcaption><div class="bz-pair">{sides}</div></figure>')
    left = len(evidence.passages) + evidence.more - most_passages
    if left > 0:
        body.append(f'<p class="bz-quiet">and {left:,} more passages, none longer</p>')
    if evidence.shared:
        body.append(values(evidence.shared))
    return f'<section class="bz-evidence">{"".join(body)}</section>'


def heading(evidence: Evidence) -> str:
    """The shares, and that nothing is shown where nothing is."""
    said = (
        f'<p class="bz-headline"><b>{percent(evidence.coverage_a)}</b> of A appears in B, '
        f"<b>{percent(evidence.coverage_b)}</b> of B appears in A</p>"
    )
    none = nothing(evidence)
    return said + (f'<p class="bz-quiet">{escape(none)}</p>' if none else "")


def one_side(text: str, passage: Passage, side: Side, title: str, longest: int, context: int) -> str:
    """One side of a passage, under the name of its document."""
    start, end = passage.a if side == "a" else passage.b
    name = f"{side.upper()}: {title}, characters {start:,} to {end:,}"
    return panel(name, stretches(text, passage, side, context, longest))


def panel(name: str, shown: Sequence[Stretch]) -> str:
    """Stretches of one document under a name."""
    drawn = "".join(
        SPANS[kind].format(f"… {int(piece):,} characters omitted …" if kind == "cut" else clean(piece))
        for kind, piece in shown
    )
    return (
        f'<div class="bz-side"><span class="bz-name">{clean(name)}</span>'
        f'<div class="bz-text" dir="auto">{drawn}</div></div>'
    )


def whole_texts_html(a_text: str, b_text: str, evidence: Evidence, title_a: str, title_b: str) -> str:
    """Both whole texts side by side, folded up, all passages marked in them; a fragment for `STYLE`."""
    left = panel(f"A: {title_a}", whole(a_text, evidence.passages, "a"))
    right = panel(f"B: {title_b}", whole(b_text, evidence.passages, "b"))
    return (
        '<section class="bz-evidence"><details><summary>The whole texts</summary>'
        f'<div class="bz-pair">{left}{right}</div></details></section>'
    )


SPANS = {
    "around": '<span class="bz-around">{}</span>',
    "equal": "<mark>{}</mark>",
    "differs": '<mark class="bz-differs">{}</mark>',
    "cut": '<span class="bz-cut">{}</span>',
}


def values(shared: Sequence[str]) -> str:
    """The elements that two value sets share."""
    items = "".join(f"<li>{clean(value)}</li>" for value in shared[:MOST_VALUES])
    left = len(shared) - MOST_VALUES
    more = f'<p class="bz-quiet">and {left:,} more values</p>' if left > 0 else ""
    return f'<ul class="bz-values">{items}</ul>{more}'


def clean(text: str) -> str:
    """Text of unknown origin, escaped, without what HTML cannot hold.

    >>> clean('<a href="x">' + chr(0))
    '&lt;a href=&quot;x&quot;&gt;\ufffd'
    """
    fit = "".join(c if c in "\n\t" or (c >= " " and not _unfit(c)) else "\ufffd" for c in text)
    return escape(fit)


def _unfit(c: str) -> bool:
    """Whether a character is a control or half of one."""
    return "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff"


def page(title: str, sections: Sequence[tuple[str, str]]) -> str:
    """A page that stands for itself: (heading, fragment) one after the other."""
    body = "".join(f"<h2>{clean(heading)}</h2>{fragment}" for heading, fragment in sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{clean(title)}</title><style>{PAGE_STYLE}{STYLE}</style></head>"
        f"<body><h1>{clean(title)}</h1>{body}</body></html>\n"
    )
