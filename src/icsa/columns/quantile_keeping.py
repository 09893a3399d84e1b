"""Quantiles of a measurement that a release keeps, so that its margin is that of the original.

A masked score is a sum of permuted components: its distribution is nearer to a normal one than the
original's was. Masked scores are therefore moved between knots, from their own quantiles to those
of the original's scores. Every knot has at least ten people on each side and between it and the
next one, so that none tells of a single person; what lies beyond the outermost is shifted, not
stretched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

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
    """Levels, and the original's scores there.

    Examples
    --------
    >>> from icsa.columns.transforms import LinearScale
    >>> kept = KeptQuantiles.of(np.arange(40.0), None, LinearScale(centre=0.0, spread=1.0))
    >>> kept.levels, kept.scores
    (array([0.25, 0.5 , 0.75]), array([ 9.5, 19.5, 29.5]))
    >>> kept.regained(100.0 + 2.0 * np.arange(40.0))[[0, 15, 39]].round(1)
    array([-9.5, 15. , 48.5])
    """

    levels: Vector
    scores: Vector

    @classmethod
    def of(cls, ordered: Vector, lattice: Lattice | None, transform: Transform) -> Self:
        """Return those of sorted numbers; none where there are too few of them."""
        levels = _levels(ordered.size)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = transform.forward(_quantiles(ordered, levels, lattice))
        return cls(levels, scores) if np.isfinite(scores).all() else cls(levels[:0], scores[:0])

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
        return moved


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
