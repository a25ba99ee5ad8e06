"""Where does frac(x·a) have its least value, over x = 1 … n and all a? A matter of Farey sequences."""

from __future__ import annotations


def share_of_minima(first: int, of: int) -> float:
    """The probability, over a uniform in [0, 1), that the least of frac(x·a), x = 1 … n (`of`), has x <= `first`.

    Between two neighbours p/q < p'/q' of the Farey sequence of order n the least value is that of q: it is q·a - p,
    and any other x up to n is m·q - l·q' with l >= 0, which lies higher. Neighbours are 1 / (q·q') apart.
    """
    share = 0.0
    p, q, next_p, next_q = 0, 1, 1, of
    while True:
        if q <= first:
            share += 1 / (q * next_q)
        if next_p == next_q:
            return share
        times = (of + q) // next_q
        p, q, next_p, next_q = next_p, next_q, times * next_p - p, times * next_q - q
