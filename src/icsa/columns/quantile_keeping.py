"""Quantiles of a measurement that a release keeps, so that its margin is that of the original.

A masked score is a sum of permuted components: its distribution is nearer to a normal one than the
original's was. Masked scores are therefore moved between knots, from their own quantiles to those
of the original's scores. Every knot has at least ten people on each side and between it and the
next one, so that none tells of a single person. What lies beyond the outermost is shifted, not
stretched; where a bound comes, it is squeezed into the room before it, instead of being piled up
there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from icsa.columns.lattice import Lattice
from icsa.columns.transforms import Transform
from icsa.matrices import Vector

__all__ = ["KeptQuantiles"]

# People between a knot and the next, or beyond the outermost.
_PEOPLE = 10
# Steps between levels that are equally far apart, and levels outside of them, if rows allow.
_STEPS = 20
_OUTER_LEVELS = (0.01, 0.025)
# Masked scores whose quantiles are taken, at most.
_ENOUGH_SCORES = 40_000


@dataclass(frozen=True, eq=False, repr=False)
class KeptQuantiles:
    """Levels, the original's scores there, and the scores of the bounds.

    Examples
    --------
    >>> from icsa.columns.transforms import LinearScale
    >>> linear = LinearScale(centre=0.0, spread=1.0)
    >>> kept = KeptQuantiles.of(np.arange(40.0), None, linear, (0.0, np.inf))
    >>> kept.levels, kept.scores
    (array([0.25, 0.5 , 0.75]), array([ 9.5, 19.5, 29.5]))
    >>> kept.regained(100.0 + 2.0 * np.arange(40.0))[[0, 15, 39]].round(1)
    array([ 1.3, 15. , 48.5])
    """

    levels: Vector
    scores: Vector
    bounds: tuple[float, float]

    @classmethod
    def of(
        cls,
        ordered: Vector,
        lattice: Lattice | None,
        transform: Transform,
        bounds: tuple[float, float],
    ) -> Self:
        """Return those of sorted numbers within bounds; none where there are too few of them."""
        levels = _levels(ordered.size)
        # What is rounded to a bound may lie half a step beyond it.
        half = 0.0 if lattice is None else 0.5 * lattice.width
        ends = np.array([bounds[0] - half, bounds[1] + half])
        with np.errstate(over="ignore", invalid="ignore"):
            scores = transform.forward(_quantiles(ordered, levels, lattice))
            low, high = transform.forward(ends).tolist()
        if not np.isfinite(scores).all():
            levels, scores = levels[:0], scores[:0]
        return cls(levels, scores, (low, high))

    def regained(self, scores: Vector) -> Vector:
        """Return masked scores moved so that their quantiles are the original's."""
        from icsa.columns.scale_kernels import moved_between

        if self.levels.size == 0 or scores.size == 0:
            return scores
        sample = np.sort(scores[:: 1 + scores.size // _ENOUGH_SCORES])
        knots = np.interp(self.levels * sample.size - 0.5, np.arange(sample.size), sample)
        distinct = np.concatenate([[True], np.diff(knots) > 0.0])
        moved = np.empty(scores.size)
        source, target = knots[distinct], self.scores[distinct]
        moved_between(np.ascontiguousarray(scores), source, target, moved)
        low, high = self.bounds
        _squeeze(moved, np.flatnonzero(moved < target[0]), target[0], low)
        _squeeze(moved, np.flatnonzero(moved > target[-1]), target[-1], high)
        return moved


def _squeeze(scores: Vector, beyond: npt.NDArray[np.intp], knot: float, bound: float) -> None:
    """Bring scores beyond a knot in place into the room between it and a bound."""
    room = bound - knot
    if np.isfinite(room) and room != 0.0:
        scores[beyond] = knot - room * np.expm1(-np.abs((scores[beyond] - knot) / room))


def _levels(n_rows: int) -> Vector:
    steps = max(1, min(_STEPS, n_rows // _PEOPLE))
    inner = np.arange(1, steps) / steps
    outer = [level for level in _OUTER_LEVELS if level * n_rows >= _PEOPLE]
    return np.concatenate([outer, inner, 1.0 - np.array(outer[::-1])])


def _quantiles(ordered: Vector, levels: Vector, lattice: Lattice | None) -> Vector:
    """Return quantiles of numbers that are spread evenly over their cells of the lattice."""
    n = ordered.size
    between: Vector = np.interp(levels * n - 0.5, np.arange(n), ordered)
    if lattice is None:
        return between
    value = ordered[np.minimum((levels * n).astype(np.intp), n - 1)]
    first, last = (np.searchsorted(ordered, value, side) for side in ("left", "right"))
    return value + lattice.width * ((levels * n - first) / (last - first) - 0.5)
