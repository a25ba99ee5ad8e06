"""How far may chance carry a measurement? The bounds of statistical tests, each with the rate at which it fails."""

from __future__ import annotations

from math import log, sqrt

Z = 6.0
"""A standard normal passes it once in 10^9, on each side."""
RATE = 1e-9


def chi_square(freedom: float, z: float = Z) -> float:
    """The quantile of chi-square that a standard normal passes at z (Wilson and Hilferty 1931).

    Six standard deviations of chi-square itself do not do: with 120 degrees of freedom it exceeds them once in
    2,500,000, not once in 10^9.

    >>> round(chi_square(1, 2.0), 1), round(chi_square(100, 0.0), 1), round(chi_square(120), 1)
    (5.1, 99.3, 238.0)
    """
    spread = 2 / (9 * freedom)
    return float(freedom * max(1 - spread + z * sqrt(spread), 0.0) ** 3)


def deviation(variance: float, rate: float = RATE) -> float:
    """What a sum of independent yes-or-no values exceeds around its mean only at this rate, both sides together.

    Bernstein's inequality (1946): no approximation, for any number of values with any probabilities whose variances
    have this sum. It holds for draws without replacement too (Hoeffding 1963).

    >>> round(deviation(10_000.0)), round(deviation(0.0), 1)
    (662, 14.3)
    """
    length = log(2 / rate)
    return length / 3 + sqrt(length**2 / 9 + 2 * length * variance)


def share_deviation(share: float, count: int) -> float:
    """The same for the share of yes among so many values, each of which is yes with probability `share`.

    >>> round(share_deviation(0.5, 10_000), 3)
    0.033
    """
    return deviation(count * share * (1 - share)) / count
