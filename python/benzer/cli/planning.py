"""Estimates for `benzer tune INPUT`: similarities, expected pairs and the cheapest method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from benzer.cli import console, fields
from benzer.errors import SettingsError

if TYPE_CHECKING:
    from benzer.bands import Bands
    from benzer.planner import Plan, SampleSpread
    from benzer.views.plans import PairsBin


class Planned(NamedTuple):
    """A plan for a threshold, estimated from a sample of the documents."""

    plan: Plan
    spread: SampleSpread
    threshold: float
    bands: Bands
    candidates: float

    def histogram(self) -> list[PairsBin]:
        """Pairs by similarity, in tenths, without exact copies, which are found without bands."""
        from benzer.views.plans import PairsBin

        middles = [(2 * tenth + 1) / 20 for tenth in range(10)]
        return [
            PairsBin(
                round(middle - 0.05, 1), round(middle + 0.05, 1), float(count), self.bands.probability(middle)
            )
            for middle, count in zip(middles, self.spread.histogram(bins=10), strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan and the histogram, JSON-able."""
        bins = [
            {"least": item.least, "below": item.below, "pairs": round(item.pairs)}
            for item in self.histogram()
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
    """Read the inputs and plan from a sample, with the given bands or the best ones."""
    from benzer.pipeline import Options
    from benzer.pipeline.reading import read
    from benzer.planner import look, plan
    from benzer.sources import Files

    requested = {name: options[name] for name in fields.OPTIONS}
    schema, columns = fields.described(requested, {})
    threshold = schema.default_threshold if threshold is None else threshold
    reading = Options(format=fields.format_of(requested, inputs), **fields.layout_of(requested))
    documents = read(Files(inputs), schema, columns, options["id_column"], reading)
    spread = look(documents.corpus, schema)
    chosen = plan(spread, schema, threshold, recall, "auto", num_hashes)
    used = bands or chosen.bands
    if used is None:  # pragma: no cover - a recall below 1 has bands
        raise SettingsError(f"no bands reach a recall of {recall}: use a lower recall")
    return Planned(chosen, spread, threshold, used, spread.candidates(used))


def display(planned: Planned, given: bool) -> None:
    """Print the similarities of the documents and the plan."""
    from benzer.views import plans

    spread, used = planned.spread, planned.bands
    console.display(plans.sampled(spread.sample, spread.contents))
    console.display()
    console.display(plans.similarities_table(planned.histogram()))
    console.display()
    if given:
        console.display(
            plans.expected(planned.threshold, spread.pairs(planned.threshold), planned.candidates, used)
        )
    console.display(plans.method(planned.plan.reason))
    console.display()
