"""The effect of a threshold: the S-curve, the expected result for a collection, the cost, and the settings as code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from benzer.bands import Bands
from benzer.fields import Schema, Text
from benzer.views import prices, rerun
from benzer.views.charts import (
    BOTTOM,
    ESTIMATED,
    HEIGHT,
    LEFT,
    READING_LINE,
    RIGHT,
    SIMILARITY,
    TENTHS,
    TOP,
    WIDTH,
    Axes,
    figure,
    s_curve,
    ticks,
)
from benzer.views.evidence import fields_of
from benzer.views.html import fragment
from benzer.views.recall import guaranteed
from benzer.wording import about, amount, count, counted, duration, ratio, setting, short

JsonObject = Mapping[str, Any]
Bin = tuple[float, float, float]
FIRST_PASSAGES = 2
STEP = 0.01
LOWEST = 0.05
UNEQUAL = 50
"""If the largest bin has more times the pairs of the median one, the histogram is logarithmic."""


def settings_html(threshold: float, recall: float, schema: Schema | None, origin: str) -> str:
    """The bands for a threshold and a recall; without a collection also the settings as code."""
    bands = Bands.choose(threshold, recall)
    return fragment(
        "tuned",
        **curve_parts(bands, threshold, None),
        codes=None if schema is None else codes_of(threshold, recall, schema, "", origin),
        cost=[bands_tile(bands)],
        collection=None,
    )


def tuned_html(tuned: JsonObject, schema: Schema, index: str, origin: str) -> str:
    """The effect of a threshold on a collection, as the service sends it.

    Args:
        tuned: The answer of the service.
        schema: The fields of the answer.
        index: The name of the collection if it is read with its own fields, otherwise empty.
        origin: The address of the service.
    """
    curve = tuned["tune"]
    threshold, bands = curve["threshold"], Bands(curve["bands"], curve["rows"])
    edges, counts = tuned["histogram"]["edges"], tuned["histogram"]["counts"]
    bins = list(zip(edges[:-1], edges[1:], counts, strict=True))
    here = next((price for price in tuned["prices"] if price["threshold"] == threshold), None)
    expected = [] if here is None else [
        (about(here["removed"]), f"documents removed ({prices.interval(here)})"),
        (about(here["candidates"]), "pairs compared"),
    ]  # fmt: skip
    return fragment(
        "tuned",
        **curve_parts(bands, threshold, bins),
        codes=codes_of(threshold, curve["recall"], schema, index, origin),
        cost=[bands_tile(bands), *cost_tiles(curve["cost"]), *expected],
        collection=True,
        note=histogram_note(tuned, bins, bands, threshold),
        linear=histogram(bins, bands, threshold, logarithmic=False),
        logarithmic=histogram(bins, bands, threshold, logarithmic=True),
        unequal=unequal(counts),
        bins=bin_rows(bins, bands, threshold),
        prices=[prices.price_of(price, tuned["documents"]) for price in tuned["prices"]],
        headings=prices.HEADINGS,
        threshold=threshold,
        prices_note=prices_note(tuned),
        at=setting(threshold),
        above=[example_of(item) for item in tuned["above"]],
        below=[example_of(item) for item in tuned["below"]],
        first=FIRST_PASSAGES,
        steps=[
            (word, to, setting(to))
            for word, to in (
                ("Lower", max(round(threshold - STEP, 2), LOWEST)),
                ("Raise", min(round(threshold + STEP, 2), 1.0)),
            )
        ],
    )


def curve_parts(bands: Bands, threshold: float, bins: Sequence[Bin] | None) -> dict[str, Any]:
    """The S-curve as a chart, as a table and as a sentence for each similarity."""
    probability = bands.probability
    promised = probability(threshold)
    places = [number / 100 for number in range(101)]
    axes = Axes((0, 1), (0, 1), "", "")
    twentieths = sorted({*(number / 20 for number in range(1, 21)), threshold})
    return {
        "promise": guaranteed(threshold, promised, (bands.bands, bands.rows)),
        "said": f"{bands_said(bands)} at threshold {setting(threshold)}",
        "curve": s_curve(
            [(position, probability(position)) for position in places], threshold, promised, reading=True
        ),
        "points": [(setting(position), ratio(probability(position), 4)) for position in twentieths],
        "readings": [
            (axes.across(position), axes.up(probability(position)), reading(position, bands, bins))
            for position in places
        ],
        "ends": (LEFT / WIDTH, (WIDTH - RIGHT) / WIDTH),
    }


def bands_said(bands: Bands) -> str:
    """The number of bands and rows."""
    return f"{counted(bands.bands, 'band')} of {counted(bands.rows, 'row')}"


def reading(similarity: float, bands: Bands, bins: Sequence[Bin] | None) -> str:
    """The values of the charts at one similarity.

    >>> reading(0.8, Bands(10, 6), [(0.8, 1.0, 3.0)])
    '0.80: found with probability 0.952; about 3 pairs from 0.80 to 1.00'
    """
    text = f"{setting(similarity)}: found with probability {ratio(bands.probability(similarity))}"
    if not bins:
        return text
    low, high, pairs = next((item for item in bins if item[1] > similarity), bins[-1])
    number = f"about {about(pairs)}" if pairs >= 1 else "less than 1" if pairs else "no"
    return f"{text}; {number} pairs from {setting(low)} to {setting(high)}"


def bands_tile(bands: Bands) -> tuple[str, str]:
    """The bands as a tile."""
    return f"{bands.bands} × {bands.rows}", "bands × rows"


def cost_tiles(cost: JsonObject) -> list[tuple[str, str]]:
    """The cost of the bands as tiles."""
    return [
        (count(cost["hashes"]), "hashes per signature"),
        (amount(cost["bytes_per_document"]), "of band keys per document"),
        (duration(cost["seconds_per_million"]), "core time to sketch a million documents"),
    ]


def divided(bins: Sequence[Bin], threshold: float) -> list[Bin]:
    """Return the bins, with the bin that contains the threshold divided there, by width.

    >>> divided([(0.0, 0.5, 2.0), (0.5, 1.0, 4.0)], 0.75)
    [(0.0, 0.5, 2.0), (0.5, 0.75, 2.0), (0.75, 1.0, 2.0)]
    """
    parts = []
    for low, high, pairs in bins:
        if low < threshold < high:
            share = (high - threshold) / (high - low)
            parts += [(low, threshold, pairs * (1 - share)), (threshold, high, pairs * share)]
        else:
            parts.append((low, high, pairs))
    return parts


def histogram_note(tuned: JsonObject, bins: Sequence[Bin], bands: Bands, threshold: float) -> Markup:
    """The expected result for a collection."""
    met = [
        (low >= threshold - 1e-9, pairs, pairs * bands.probability((low + high) / 2))
        for low, high, pairs in divided(bins, threshold)
    ]
    above = sum(pairs for is_above, pairs, _ in met if is_above)
    matches = sum(number for is_above, _, number in met if is_above)
    wasted = sum(number for is_above, _, number in met if not is_above)
    sampled = tuned["read"] < tuned["documents"] and not tuned["prices"]
    source = "Estimated. Identical documents count once"
    if sampled:
        read = count(tuned["read"])
        source = f"Estimated for all {counted(tuned['documents'], 'document')} from a random sample of {read}"
    of_them = Markup()
    if above:
        of_them = Markup("; <strong>{}</strong> of them would be found").format(
            ratio(min(matches / above, 1))
        )
    similar = "pair is" if round(above) == 1 else "pairs are"
    return Markup(
        "About <strong>{}</strong> {} at least {} similar{}, with about {} comparisons without a match. {}."
    ).format(about(above), similar, setting(threshold), of_them, about(wasted), source)


def unequal(counts: Sequence[float]) -> bool:
    """Whether counts differ so much that the small ones are visible only on a logarithmic scale."""
    some = sorted(number for number in counts if number > 0)
    return len(some) > 1 and some[-1] > UNEQUAL * some[len(some) // 2]


def histogram(bins: Sequence[Bin], bands: Bands, threshold: float, *, logarithmic: bool) -> Markup:
    """The pairs of a collection by similarity: found, missed, compared without a match, and not compared."""
    most = max(1.0, *(pairs for _, _, pairs in bins))
    scale: Callable[[float], float] = math.log1p if logarithmic else float
    tens = [0, *(10**power for power in range(1, int(math.log10(most)) + 1))]
    marks = tens[:: max(1, len(tens) // 6)] if logarithmic else ticks(max(most, 1))
    axes = Axes((0, 1), (0, scale(most)), SIMILARITY, ESTIMATED)
    cut, floor = axes.across(threshold), axes.up(0)
    parts = [
        Markup('<rect class="above" x="{}" y="{}" width="{}" height="{}"/>').format(
            cut, TOP, round(axes.across(1) - cut, 2), round(floor - TOP, 2)
        ),
        axes.frame(TENTHS, [(scale(position), short(position)) for position in marks]),
    ]
    whole = {(low, high): pairs for low, high, pairs in bins}
    for low, high, _ in divided(bins, threshold):
        pairs = next(number for (start, end), number in whole.items() if start <= low and high <= end)
        if pairs <= 0:
            continue
        behind, front = ("missed", "found") if low >= threshold - 1e-9 else ("passed", "compared")
        met = pairs * bands.probability((low + high) / 2)
        for look, number in ((behind, pairs), (front, met)):
            if look == behind or met >= 0.5:
                top = min(axes.up(scale(number)), floor - 1)
                left, right = axes.across(low), axes.across(high)
                parts.append(
                    Markup('<rect class="bar {}" x="{}" y="{}" width="{}" height="{}"/>').format(
                        look, left, top, round(max(right - left, 0.5), 2), round(floor - top, 2)
                    )
                )
    parts.append(
        Markup('<line class="threshold" x1="{x}" x2="{x}" y1="{}" y2="{}"/>').format(
            TOP - 6, HEIGHT - BOTTOM, x=cut
        )
    )
    said = (
        f"A histogram of the estimated number of pairs by similarity, with the threshold at {setting(threshold)}. "
        "The table below has all numbers."
    )
    name = "log-histogram" if logarithmic else "histogram"
    parts.append(READING_LINE)
    return figure(
        f"{name}-chart", "Number of pairs of the collection by similarity", said, Markup("").join(parts)
    )


def bin_rows(bins: Sequence[Bin], bands: Bands, threshold: float) -> list[tuple[str, ...]]:
    """The histogram as a table: all bins with pairs."""
    rows: list[tuple[str, ...]] = []
    for low, high, pairs in bins:
        if pairs > 0:
            side = "contains the threshold"
            if low >= threshold - 1e-9 or high <= threshold + 1e-9:
                side = "above" if low >= threshold - 1e-9 else "below"
            met = pairs * bands.probability((low + high) / 2)
            rows.append((f"{setting(low)} to {setting(high)}", about(pairs), about(met), side))
    return rows


def prices_note(tuned: JsonObject) -> str:
    """Describe the sample on which the estimates are based, and the cheapest method."""
    cheapest = f"Cheapest method at {setting(tuned['tune']['threshold'])}: {tuned['plan']['reason']}."
    if not tuned["prices"]:
        return (
            "This index is too large to estimate the number of removed documents here. Export it and run "
            f"benzer dedupe --dry-run. {cheapest}"
        )
    return f"{prices.note(tuned)} {cheapest}"


def example_of(example: JsonObject) -> dict[str, Any]:
    """A pair near the threshold."""
    sides = example["left"], example["right"]
    thumbnails = [side.get("thumbnails") or {} for side in sides]
    fields = {
        name: {"similarity": None, "evidence": evidence} for name, evidence in example["evidence"].items()
    }
    kinds = dict.fromkeys([*thumbnails[0], *thumbnails[1]], "image")
    ids = sides[0]["id"], sides[1]["id"]
    return {
        "ids": ids,
        "similarity": example["similarity"],
        "fields": fields_of(fields, ids, thumbnails, kinds),
    }


def codes_of(threshold: float, recall: float, schema: Schema, index: str, origin: str) -> dict[str, Any]:
    """The settings as a command, as Python code, as a request, and as values for other pages."""
    text = rerun.plain_text(schema)
    unit, size = ("", "") if text is None else (text[1].unit, text[1].shingle_size)
    values = {"threshold": threshold, "recall": recall}
    return {
        "index": index,
        "duplicates": {"index": index, **values} if index else {**values, "unit": unit, "size": size},
        "create": {**values, "unit": unit, "size": size},
        "command": rerun.search_command(threshold, recall, schema),
        "python": rerun.search_code(threshold, recall, schema),
        "request": rerun.search_request(threshold, recall, schema, index, origin),
    }


def general_schema(unit: str, size: int) -> Schema:
    """The schema of a text with some shingles."""
    return Schema(text=Text(unit="char" if unit == "char" else "word", shingle_size=min(max(size, 1), 64)))
