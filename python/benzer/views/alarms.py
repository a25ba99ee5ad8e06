"""Alarms of a result, as sentences with examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benzer.wording import brief, counted, plain

PER_KIND = 10
"""Maximum number of alarms per kind."""
EXAMPLES = 2
ALARMS = 5
"""Alarms that a terminal lists."""
NONE = (
    "None: no source lost more than half of its documents, no cluster is giant, no chain or boilerplate was found, and "
    "few documents are short or malformed."
)
NONE_IN_PART = (
    "None: no source lost more than half of its documents, no cluster is giant, and few documents are short or "
    "malformed. Chains were only searched in the clusters below, boilerplate was not searched."
)


@dataclass(frozen=True)
class AlarmView:
    """An alarm: its kind, its sentence, ids of examples, a shared passage, and the number of omitted ones after it."""

    kind: str
    message: str
    examples: Sequence[str | int]
    passage: str
    more: str = ""


def alarms_of(alarms: Sequence[Mapping[str, Any]]) -> list[AlarmView]:
    """The alarms of each kind, as `Alarm.to_dict` returns them; sources with the highest loss come first.

    >>> [view] = alarms_of([{"kind": "short", "message": "30 % are short", "examples": ["a"], "passage": ""}])
    >>> view.message
    '30 % are short.'
    """
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for alarm in alarms:
        kinds.setdefault(alarm["kind"], []).append(alarm)
    kinds.get("source", []).sort(
        key=lambda entry: (-float(entry["numbers"]["share"]), -float(entry["numbers"]["removed"]))
    )
    views = []
    for of_kind in kinds.values():
        listed = of_kind[:PER_KIND]
        left_out = len(of_kind) - len(listed)
        for place, item in enumerate(listed, 1):
            more = more_alarms(left_out) if left_out and place == len(listed) else ""
            views.append(
                AlarmView(
                    item["kind"],
                    f"{brief(item['message'], 1000)}.",
                    item["examples"][:EXAMPLES],
                    item["passage"],
                    more,
                )
            )
    return views


def alarm_lines(messages: Sequence[str]) -> Iterator[str]:
    """The first alarms of a run.

    >>> list(alarm_lines(["30 % are short"]))
    ['please check', '  30 % are short']
    """
    if not messages:
        return
    yield "please check"
    yield from (f"  {plain(message)}" for message in messages[:ALARMS])
    if len(messages) > ALARMS:
        yield f"  {more_alarms(len(messages) - ALARMS)}: see all in summary.json"


def more_alarms(left: int) -> str:
    """The number of alarms that are not shown.

    >>> more_alarms(2)
    'and 2 more alarms'
    """
    return f"and {counted(left, 'more alarm')}"
