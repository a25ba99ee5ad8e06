"""Which nodes hang together? By walking along the edges, and by filling boxes one edge at a time."""

from __future__ import annotations

from collections.abc import Iterable

Edge = tuple[int, int]


def least_reachable(edges: Iterable[Edge]) -> dict[int, int]:
    """For each node the least that can be reached from it.

    >>> least_reachable([(3, 2), (2, -1), (7, 8)])
    {-1: -1, 2: -1, 3: -1, 7: 7, 8: 7}
    """
    near: dict[int, set[int]] = {}
    for one, other in edges:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    found: dict[int, int] = {}
    for start in sorted(near):
        ahead = [] if start in found else [start]
        while ahead:
            at = ahead.pop()
            found[at] = start
            ahead += [other for other in near[at] if other not in found]
    return dict(sorted(found.items()))


def filled(edges: Iterable[Edge], nodes: int, most: int) -> list[list[Edge]]:
    """Boxes of at most so many nodes and edges, each filled as far as it goes before the next one is begun.

    >>> filled([(1, 2), (1, 3), (4, 5)], nodes=3, most=9)
    [[(1, 2), (1, 3)], [(4, 5)]]
    """
    boxes: list[list[Edge]] = []
    for edge in edges:
        if (
            boxes
            and len(boxes[-1]) < most
            and len({end for one in [*boxes[-1], edge] for end in one}) <= nodes
        ):
            boxes[-1].append(edge)
        else:
            boxes.append([edge])
    return boxes
