"""Which documents are kept, with large buckets, in plain Python: every round looks at everything again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

Pair = tuple[int, int]
Similarity = Callable[[int, int], float]


def ordered(a: int, b: int) -> Pair:
    """A pair, the lower position first."""
    return min(a, b), max(a, b)


def settled(rank: Sequence[int], compared: Mapping[Pair, float], threshold: float) -> list[tuple[int, float]]:
    """The kept document of each document and the similarity to it, if no further pair is compared."""
    ties: dict[int, list[tuple[int, float]]] = {position: [] for position in range(len(rank))}
    for (a, b), similarity in compared.items():
        if similarity >= threshold:
            ties[a].append((b, similarity))
            ties[b].append((a, similarity))
    found: dict[int, tuple[int, float]] = {}
    for position in sorted(ties, key=rank.__getitem__):
        kept = [
            (similarity, -rank[other], other)
            for other, similarity in ties[position]
            if rank[other] < rank[position] and found[other][0] == other
        ]
        found[position] = (max(kept)[2], max(kept)[0]) if kept else (position, 1.0)
    return [found[position] for position in range(len(rank))]


def decide(
    rank: Sequence[int],
    candidates: Collection[Pair],
    large: Sequence[Collection[int]],
    similarity: Similarity,
    threshold: float,
) -> tuple[list[tuple[int, float]], dict[Pair, float]]:
    """The kept document of each document and the similarity to it; and all pairs at the threshold that are listed.

    Candidates are compared. A kept document that is tied to a removed one is compared with the kept one of that (the
    second look), unless both are in one large bucket. When no such pair is left, the kept documents of large buckets
    that have not led before lead: in keep order, each document of their buckets is compared with the leaders before it
    that share one of its large buckets, and a new one leads if it is similar to none.

    >>> table = {(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.9}
    >>> decide([0, 1, 2], [], [[0, 1, 2]], lambda a, b: table[min(a, b), max(a, b)], 0.8)
    ([(0, 1.0), (0, 0.9), (0, 0.9)], {(0, 1): 0.9, (0, 2): 0.9})
    """
    compared = {ordered(a, b): similarity(a, b) for a, b in candidates}
    led: set[int] = set()

    def share(a: int, b: int) -> bool:
        return any(a in bucket and b in bucket for bucket in large)

    while True:
        found = settled(rank, compared, threshold)
        wanted = {
            ordered(kept, found[other][0])
            for pair, value in compared.items()
            if value >= threshold
            for kept, other in (pair, pair[::-1])
            if found[kept][0] == kept and found[other][0] not in (kept, other)
        }
        wanted = {pair for pair in wanted if pair not in compared and not share(*pair)}
        if wanted:
            compared |= {pair: similarity(*pair) for pair in wanted}
            continue
        members = {member for bucket in large for member in bucket}
        new = {member for member in members if found[member][0] == member} - led
        if not new:
            return found, {pair: value for pair, value in compared.items() if value >= threshold}
        leaders: list[int] = []
        for member in sorted(members, key=rank.__getitem__):
            similar = [
                leader
                for leader in leaders
                if share(member, leader) and similarity(member, leader) >= threshold
            ]
            compared |= {ordered(member, leader): similarity(member, leader) for leader in similar}
            if member in new and not similar:
                leaders.append(member)
        led |= set(leaders)
