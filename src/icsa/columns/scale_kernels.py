"""Kernels of scales: one pass over a column."""

from __future__ import annotations

import math

import numpy as np

from icsa.compilation import kernel
from icsa.matrices import Vector

__all__ = ["moved_between", "power_of", "power_undone"]

# From this exponent on the quicker exp and log lose no digit that matters to a score.
_PLAIN = 0.25
_SCORES_AT_A_TIME = 1024


@kernel
def power_of(
    numbers: Vector,
    centre: float,
    spread: float,
    exponent: float,
    ends: tuple[float, float],
    slopes: tuple[float, float],
    out: Vector,
) -> None:
    """Set the scores of numbers: the power of the standardised ones, beyond the ends a tangent."""
    for i in range(numbers.size):
        z, beyond = (numbers[i] - centre) / spread, 0.0
        if z < ends[0]:
            z, beyond = ends[0], slopes[0] * (z - ends[0])
        elif z > ends[1]:
            z, beyond = ends[1], slopes[1] * (z - ends[1])
        size, e = abs(z), exponent if z >= 0.0 else 2.0 - exponent
        if e >= _PLAIN:
            size = (math.exp(e * math.log(1.0 + size)) - 1.0) / e
        elif e > 0.0:
            size = math.expm1(e * math.log1p(size)) / e
        else:
            size = math.log1p(size)
        out[i] = np.copysign(size, z) + beyond


@kernel
def power_undone(
    scores: Vector,
    centre: float,
    spread: float,
    exponent: float,
    ends: tuple[float, float],
    slopes: tuple[float, float],
    out: Vector,
) -> None:
    """Set the numbers of scores; `ends` are scores here."""
    for i in range(scores.size):
        y, beyond = scores[i], 0.0
        if y < ends[0]:
            y, beyond = ends[0], (y - ends[0]) / slopes[0]
        elif y > ends[1]:
            y, beyond = ends[1], (y - ends[1]) / slopes[1]
        size, e = abs(y), exponent if y >= 0.0 else 2.0 - exponent
        if e >= _PLAIN:
            size = math.exp(math.log(1.0 + e * size) / e) - 1.0
        elif e > 0.0:
            size = math.expm1(math.log1p(e * size) / e)
        else:
            size = math.expm1(size)
        out[i] = centre + spread * (np.copysign(size, y) + beyond)


@kernel
def moved_between(scores: Vector, source: Vector, target: Vector, out: Vector) -> None:
    """Set scores moved linearly between increasing knots, and shifted beyond the outermost.

    As a sum of hinges, one at each knot where the slope changes: one knot after the other for a few
    scores at a time, which needs no search and no branches.
    """
    low, high, lowest = source[0], source[-1], target[0]
    slopes = (target[1:] - target[:-1]) / (source[1:] - source[:-1])
    for start in range(0, scores.size, _SCORES_AT_A_TIME):
        few, moved = (
            scores[start : start + _SCORES_AT_A_TIME],
            out[start : start + _SCORES_AT_A_TIME],
        )
        for i in range(few.size):
            moved[i] = lowest + (few[i] - min(max(few[i], low), high))
        before = 0.0
        for k in range(slopes.size):
            change, knot = slopes[k] - before, source[k]
            before = slopes[k]
            for i in range(few.size):
                moved[i] += change * (min(max(few[i], knot), high) - knot)
