"""Simple numbers near fitted coefficients: whole numbers, small fractions, units of time."""

from __future__ import annotations

from functools import cache

import numpy as np

from icsa.matrices import Vector

__all__ = ["simple_numbers", "snap"]

# Days of a year and a month, hours, minutes, seconds, dozens, centimetres of an inch, kilograms of
# a pound, Fahrenheit's degrees: what derived columns are multiplied or divided by.
_UNITS = (
    15,
    24,
    30,
    30.4375,
    48,
    52,
    60,
    90,
    360,
    365,
    365.25,
    1440,
    3600,
    86400,
    2.54,
    0.45359237,
)
_LARGEST_PART = 12


@cache
def simple_numbers() -> Vector:
    """Return the positive numbers that count as simple, sorted.

    Fractions of whole numbers up to 12, 1, 2 and 5 times powers of ten, and factors between units.

    Examples
    --------
    >>> [bool(np.isin(number, simple_numbers())) for number in (1, 0.5, 7, 12, 100, 365.25, 0.3137)]
    [True, True, True, True, True, True, False]
    """
    parts = np.arange(1, _LARGEST_PART + 1)
    fractions = (parts[:, None] / parts).ravel()
    tens = np.array([mantissa * 10.0**power for mantissa in (1, 2, 5) for power in range(7)])
    units = np.array(_UNITS)
    decimals = np.array([1 / ten for ten in tens])
    return np.unique(np.concatenate([fractions, tens, decimals, units, 1 / units]))


def snap(values: Vector, slack: Vector) -> Vector | None:
    """Return the simple numbers nearest to `values`, None where one is off by more than its slack.

    Examples
    --------
    >>> snap(np.array([1.0000001, -0.4999999]), np.array([1e-6, 1e-6]))
    array([ 1. , -0.5])
    >>> snap(np.array([0.3137]), np.array([1e-6])) is None
    True
    """
    known = simple_numbers()
    sizes = np.abs(values)
    above = np.clip(np.searchsorted(known, sizes), 1, known.size - 1)
    nearest = np.where(
        sizes - known[above - 1] < known[above] - sizes, known[above - 1], known[above]
    )
    if np.any(np.abs(nearest - sizes) > slack):
        return None
    snapped: Vector = np.sign(values) * nearest
    return snapped
