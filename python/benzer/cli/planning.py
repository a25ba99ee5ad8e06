"""What do the documents themselves say of a threshold: how alike are they, and which way is the cheapest?"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from benzer.cli import console, fields
from benzer.errors import SettingsError

if TYPE_CHECKING:
    from benzer.bands import Bands
    from benzer.planner import Plan, Spread

BAR = 2.5  # characters for each power of ten


class Bin(NamedTuple):
    """How many pairs are expected of a range of similarities, and with which probability its middle is found."""

    least: float
    below: float
    pairs: float
    probability: float


class Planned(NamedTuple):
    """What a sample of the documents says of a threshold."""

    plan: Plan
    spread: Spread
    threshold: float
    bands: Bands
    candidates: float

    def histogram(self) -> list[Bin]:
        """Pairs by similarity, in tenths; exact copies are left out, as they are found without bands."""
        middles = [(2 * tenth + 1) / 20 for tenth in range(10)]
        return [
            Bin(
                round(middle - 0.05, 1), round(middle + 0.05, 1), float(count), self.bands.probability(middle)
            )
            for middle, count in zip(middles, self.spread.histogram(bins=10), strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan and the histogram, JSON-able."""
        bins = [
            {"least": one.least, "below": one.below, "pairs": round(one.pairs)} for one in self.histogram()
        ]
        return {
            "plan": self.plan.to_dict(),
            "predicted_candidates": round(self.candidates),
            "similarities": bins,
        }


def planned(
    inputs: Sequence[str],
    options: dict[str, Any],
    threshold: float | None,
    recall: float,
    num_hashes: int | None,
    bands: Bands | None,
) -> Planned:
    """Read the inputs, look at a sample, and plan; with bands that are given, or with the best."""
    from benzer.pipeline.reading import read
    from benzer.planner import look, plan

    asked = {name: options[name] for name in fields.OPTIONS}
    schema, columns = fields.described(asked, {})
    threshold = fields.threshold_of(schema, threshold)
    found = read(list(inputs), schema, columns, options["id_column"], format=fields.format_of(asked, inputs))
    spread = look(found.corpus, schema)
    chosen = plan(spread, schema, threshold, recall, "auto", num_hashes)
    used = bands or chosen.bands
    if used is None:  # pragma: no cover - a recall below 1 has bands
        raise SettingsError(f"no bands keep a recall of {recall}: ask for less")
    return Planned(chosen, spread, threshold, used, spread.candidates(used))


def show(found: Planned, given: bool) -> None:
    """Print how alike the documents are, and the plan."""
    from benzer.planner import rounded

    spread, used = found.spread, found.bands
    console.show(
        f"{console.count(spread.sample)} of {console.count(spread.contents)} different documents were looked at"
    )
    console.show()
    rows = [
        (
            f"{one.least:.1f} to {one.below:.1f}",
            rounded(one.pairs),
            console.ratio(one.probability),
            "█" * round(BAR * log10(one.pairs + 1)),
        )
        for one in reversed(found.histogram())
    ]
    console.show(console.headed_table(["similarity", "pairs, about", "found with", ""], rows, right=3))
    console.show()
    if given:
        seconds = f"{console.setting(found.threshold)} and above: about {rounded(spread.pairs(found.threshold))} pairs"
        console.show(
            f"{seconds}, among {rounded(found.candidates)} candidates of the bands {used.bands} x {used.rows}"
        )
    console.show(f"method auto would take {found.plan.reason}")
    console.show()
