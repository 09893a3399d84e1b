"""Sizes and factors of the minimum covariance determinant, as functions of n, p and alpha alone."""

from __future__ import annotations

import functools
import math

from scipy.special import chdtr, chdtri

__all__ = ["chi2_quantile", "consistency_factor", "small_sample_factor", "subset_size"]

# Pison, Van Aelst and Willems (2002): coefficients (gamma, beta) at k = 2 and k = 3 times p^2 rows,
# for a subset of half the rows and of 7/8 of them, for the raw and for the reweighted estimate,
# when p > 2 ...
_MANY_COLUMNS = {
    "raw": {
        0.5: ((-1.42764571687802, 1.26263336932151), (-1.06141115981725, 1.28907991440387)),
        0.875: ((-0.455179464070565, 1.11192541278794), (-0.294241208320834, 1.09649329149811)),
    },
    "reweighted": {
        0.5: ((-1.02842572724793, 1.67659883081926), (-0.26800273450853, 1.35968562893582)),
        0.875: ((-0.544482443573914, 1.25994483222292), (-0.343791072183285, 1.25159004257133)),
    },
}
# ... and the two numbers of 1 - exp(a)/n^b for one and two columns.
_FEW_COLUMNS = {
    ("raw", 1): {
        0.5: (0.262024211897096, 0.604756680630497),
        0.875: (-0.351584646688712, 1.01646567502486),
    },
    ("raw", 2): {
        0.5: (0.673292623522027, 0.691365864961895),
        0.875: (0.446537815635445, 1.06690782995919),
    },
    ("reweighted", 1): {
        0.5: (1.11098143415027, 1.5182890270453),
        0.875: (-0.66046776772861, 0.88939595831888),
    },
    ("reweighted", 2): {
        0.5: (3.11101712909049, 1.91401056721863),
        0.875: (0.79473550581058, 1.10081930350091),
    },
}
# The formula leaves (0, 1] at tiny n, where a factor would be negative or above 10.
_SMALLEST_SHRINKAGE = 0.1


def subset_size(n: int, p: int, alpha: float) -> int:
    """Return h, the number of rows whose covariance has the least determinant.

    It runs from floor((n + p + 1)/2) at alpha = 1/2 (highest breakdown) to n at alpha = 1.

    Examples
    --------
    >>> subset_size(75, 3, 0.5), subset_size(75, 3, 0.75), subset_size(75, 3, 1.0)
    (39, 57, 75)
    """
    half = (n + p + 1) // 2
    return math.floor(2 * half - n + 2 * (n - half) * alpha)


@functools.lru_cache(maxsize=4096)
def chi2_quantile(probability: float, df: int) -> float:
    """Return the chi-square quantile.

    Examples
    --------
    >>> round(chi2_quantile(0.975, 2), 6)
    7.377759
    """
    return float(chdtri(df, 1.0 - probability))


@functools.lru_cache(maxsize=4096)
def consistency_factor(fraction: float, p: int) -> float:
    """Return the factor that makes the covariance of the central normal rows consistent.

    fraction / P(chi2_{p+2} <= q), q the `fraction` quantile of chi2_p (Croux and Haesbroeck 1999).

    Examples
    --------
    >>> round(consistency_factor(0.5, 2), 6), consistency_factor(1.0, 2)
    (3.258891, 1.0)
    """
    if fraction >= 1.0:
        return 1.0
    return fraction / float(chdtr(p + 2, chi2_quantile(fraction, p)))


@functools.lru_cache(maxsize=4096)
def small_sample_factor(n: int, p: int, alpha: float, estimate: str = "raw") -> float:
    """Return the factor that takes the small-sample bias out of the "raw" or "reweighted" estimate.

    The formula of Pison, Van Aelst and Willems (2002), interpolated in alpha. At a few rows more
    than columns it would be negative or huge; it is held at 10.

    Examples
    --------
    >>> round(small_sample_factor(20, 2, 0.5), 6), small_sample_factor(20, 2, 1.0)
    (1.328245, 1.0)
    >>> small_sample_factor(8, 4, 0.51, "reweighted")
    10.0
    """
    at_half = _shrinkage(n, p, 0.5, estimate)
    at_seven_eighths = _shrinkage(n, p, 0.875, estimate)
    if alpha <= 0.875:
        shrinkage = at_half + (at_seven_eighths - at_half) * (alpha - 0.5) / 0.375
    else:
        shrinkage = at_seven_eighths + (1.0 - at_seven_eighths) * (alpha - 0.875) / 0.125
    return 1.0 / max(shrinkage, _SMALLEST_SHRINKAGE)


def _shrinkage(n: int, p: int, alpha: float, estimate: str) -> float:
    """Return the mean of det^(1/p) under normality, which 1 - exp(a)/n^b fits."""
    if p <= 2:
        a, b = _FEW_COLUMNS[estimate, p][alpha]
        return 1.0 - math.exp(a - b * math.log(n))
    (gamma2, beta2), (gamma3, beta3) = _MANY_COLUMNS[estimate][alpha]
    # The line a - b log n goes through the two fitted points, at n = 2 p^2 and n = 3 p^2.
    y2 = math.log(-gamma2 / p**beta2)
    y3 = math.log(-gamma3 / p**beta3)
    b = (y2 - y3) / math.log(1.5)
    a = y2 + b * math.log(2 * p * p)
    return 1.0 - math.exp(a - b * math.log(n))
