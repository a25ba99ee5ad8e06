"""`dedupe`: the kept documents of an input in memory, in the kind that was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benzer.clusters import Keep
from benzer.fields import Schema
from benzer.pipeline.flow import Progress, find_duplicates
from benzer.pipeline.options import Options
from benzer.sources.frames import ONE_SHOT, is_frame, kind_of
from benzer.sources.returning import check_in_memory


def dedupe(
    data: Any,
    *,
    threshold: float | None = None,
    recall: float | None = None,
    schema: Schema | None = None,
    text: str | Mapping[str, str] | None = None,
    id: str | None = None,
    keep: str | Keep = "first",
    against: Any = (),
    method: str | None = None,
    threads: int = 0,
    memory: str | int | None = None,
    progress: Progress | None = None,
    options: Options | None = None,
) -> Any:
    """Return data without its near-duplicates, in the kind that was given: a list of a list, a table of a table.

    The same as `find_duplicates(data, ...).apply(data)`, where the result also says what was removed and why. The other
    arguments are those of `benzer.find_duplicates`.

    Args:
        data: Texts, documents or tables in memory (see `benzer.sources.open_sources`). Of an iterator, an iterator over
            the kept items is returned.

    Returns:
        The kept rows, in their order.

    Raises:
        InputError: The input is a path or cannot be read.

    >>> dedupe(["one two three four", "five six", "One, two, three, four!"])
    ['one two three four', 'five six']
    """
    check_in_memory(data)
    result = find_duplicates(
        data, threshold=threshold, recall=recall, schema=schema, text=text, id=id, keep=keep, against=against,
        method=method, threads=threads, memory=memory, progress=progress, options=options,
    )  # fmt: skip
    if not isinstance(data, Iterator) and kind_of(data) not in ONE_SHOT:
        return result.apply(data)
    sources: list[Any] = list(result.reading.sources)
    parts = [source.select(stays) for source, stays in zip(sources, result.stays_by_source(), strict=True)]
    if is_frame(data):
        return parts[0]
    return iter(parts[0] if isinstance(parts[0], list) else parts)
