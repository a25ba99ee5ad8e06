"""Confidence interval of a share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=256)  # the Tune page asks for the same counts again and again
def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share, given the number of successes (Clopper and Pearson 1934).

    The interval contains the true share with at least the confidence: each end is the share for which the observed
    number of successes, or a more extreme one, has a probability of half the rest.

    Args:
        successes: Number of successes.
        trials: Number of trials.
        confidence: Confidence of the interval, in (0, 1).

    Returns:
        The lower and the upper bound.

    >>> low, high = clopper_pearson(98, 100)
    >>> f"{low:.4f} {high:.4f}"
    '0.9296 0.9976'
    >>> clopper_pearson(0, 0)
    (0.0, 1.0)
    """
    rest = (1 - confidence) / 2
    low = 0.0 if successes == 0 else _where(lambda share: _at_least(successes, trials, share) < rest)
    high = (
        1.0
        if successes == trials
        else 1 - _where(lambda share: _at_least(trials - successes, trials, share) < rest)
    )
    return low, high


def _where(below: Callable[[float], bool]) -> float:
    """Return the largest share, to the last bit, for which a rising function is still below its limit."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def _at_least(least: int, count: int, share: float) -> float:
    """Return the probability of at least `least` successes in `count` trials of probability `share`.

    >>> [round(_at_least(least, 2, 0.5), 9) for least in (0, 1, 2)]
    [1.0, 0.75, 0.25]
    """
    if share <= 0:
        return 0.0
    yes, no = math.log(share), math.log1p(-share)
    numbers = range(least, count + 1)
    return math.fsum(
        math.exp(way + k * yes + (count - k) * no)
        for k, way in zip(numbers, _log_ways(least, count), strict=True)
    )


@lru_cache(maxsize=4)
def _log_ways(least: int, count: int) -> tuple[float, ...]:
    """Return the logarithm of the number of ways to choose k of `count`, for each k from `least` to `count`."""
    whole = math.lgamma(count + 1)
    return tuple(whole - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(least, count + 1))
