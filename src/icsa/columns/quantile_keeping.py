"""Quantiles of a measurement that a release keeps, so that its margin is that of the original.

A masked score is a sum of permuted components: its distribution is nearer to a normal one than the
original's was. Masked scores are therefore moved between knots, from their own quantiles to those
of the original's scores. Every knot has at least ten people on each side and between it and the
next one, so that none tells of a single person. Beyond the outermost a tail is shifted, and drawn
in where its median is farther out than the original's: what people who stand out leave in other
columns would otherwise go on as a tail that the column does not have. For the same reason cells
that are farther out than any of the original, and than ten times the median of its tail, are drawn
in to at most twice as far. Where a bound comes, the tail is squeezed into the room before it,
instead of being piled up there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from icsa.columns.transforms import Transform
from icsa.lattice import Lattice
from icsa.matrices import Vector

__all__ = ["KeptQuantiles"]

# People between a knot and the next, or beyond the outermost.
_PEOPLE = 10
# Steps between levels that are equally far apart, and levels outside of them, if rows allow.
_STEPS = 20
_OUTER_LEVELS = (0.01, 0.025)
# Medians of a tail that its cells may be beyond the outermost knot, whatever the original's are.
_USUAL_REACH = 10.0
# Masked scores whose quantiles are taken, at most.
_ENOUGH_SCORES = 40_000


@dataclass(frozen=True)
class Tail:
    """What lies beyond an outermost knot, as lengths from there.

    Attributes
    ----------
    median : float
        Of the original's cells.
    reach : float
        Lengths beyond this are drawn in, to at most twice as much.
    room : float
        Up to the bound; infinite where there is none.
    """

    median: float
    reach: float
    room: float

    def drawn_in(self, lengths: Vector, median: float) -> Vector:
        """Return the lengths of a masked tail with this median as lengths of this one."""
        if 0.0 < self.median < median:
            lengths = lengths * (self.median / median)
        if self.reach > 0.0:
            beyond = np.maximum(lengths - self.reach, 0.0)
            lengths = np.minimum(lengths, self.reach) + _squeezed(beyond, self.reach)
        return _squeezed(lengths, self.room) if self.room > 0.0 else lengths


@dataclass(frozen=True, eq=False, repr=False)
class KeptQuantiles:
    """Levels, the original's scores there, and its tails.

    Attributes
    ----------
    levels, scores : Vector
        Knots.
    tails : tuple of Tail
        Below the first knot and above the last; none where there are no knots.

    Examples
    --------
    >>> from icsa.columns.transforms import LinearScale
    >>> linear = LinearScale(centre=0.0, spread=1.0)
    >>> kept = KeptQuantiles.of(np.arange(40.0), None, linear, (0.0, np.inf))
    >>> kept.levels, kept.scores
    (array([0.25, 0.5 , 0.75]), array([ 9.5, 19.5, 29.5]))
    >>> kept.regained(100.0 + 2.0 * np.arange(40.0))[[0, 15, 39]].round(1)
    array([ 3.5, 15. , 39. ])
    """

    levels: Vector
    scores: Vector
    tails: tuple[Tail, ...]

    @classmethod
    def of(
        cls,
        ordered: Vector,
        lattice: Lattice | None,
        transform: Transform,
        bounds: tuple[float, float],
    ) -> Self:
        """Return those of sorted numbers within bounds; none where there are too few of them."""
        levels = _with_tails(_levels(ordered.size))
        if levels.size == 0:
            return cls(levels, levels, ())
        # What is rounded to a bound may lie half a step beyond it.
        half = 0.0 if lattice is None else 0.5 * lattice.width
        ends = np.array([bounds[0] - half, bounds[1] + half])
        with np.errstate(over="ignore", invalid="ignore"):
            scores = transform.forward(_quantiles(ordered, levels, lattice))
            rooms = np.abs(transform.forward(ends) - scores[[1, -2]])
            own = np.abs(transform.forward(ordered[[0, -1]]) - scores[[1, -2]])
        if not np.isfinite(scores).all():
            return cls(levels[:0], scores[:0], ())
        tails = tuple(
            Tail(median, max(_USUAL_REACH * median, float(reach)), float(room))
            for median, reach, room in zip(_lengths(scores), own, rooms, strict=True)
        )
        return cls(levels[1:-1], scores[1:-1], tails)

    def regained(self, scores: Vector) -> Vector:
        """Return masked scores moved so that their quantiles are the original's."""
        from icsa.columns.scale_kernels import moved_between

        if self.levels.size == 0 or scores.size == 0:
            return scores
        sample = np.sort(scores[:: 1 + scores.size // _ENOUGH_SCORES])
        places = _with_tails(self.levels) * sample.size - 0.5
        quantiles = np.interp(places, np.arange(sample.size), sample)
        knots = quantiles[1:-1]
        distinct = np.concatenate([[True], np.diff(knots) > 0.0])
        moved = np.empty(scores.size)
        source, target = knots[distinct], self.scores[distinct]
        moved_between(np.ascontiguousarray(scores), source, target, moved)
        low, high = self.tails
        below, above = _lengths(quantiles)
        rows = np.flatnonzero(moved < target[0])
        moved[rows] = target[0] - low.drawn_in(target[0] - moved[rows], below)
        rows = np.flatnonzero(moved > target[-1])
        moved[rows] = target[-1] + high.drawn_in(moved[rows] - target[-1], above)
        return moved


def _with_tails(levels: Vector) -> Vector:
    """Return the levels with those of the tails' medians."""
    if levels.size == 0:
        return levels
    return np.concatenate([[0.5 * levels[0]], levels, [0.5 + 0.5 * levels[-1]]])


def _lengths(quantiles: Vector) -> tuple[float, float]:
    """Return how far the tails' medians are from the outermost knots."""
    return float(quantiles[1] - quantiles[0]), float(quantiles[-1] - quantiles[-2])


def _squeezed(lengths: Vector, room: float) -> Vector:
    """Return lengths that are shorter than the room, short ones nearly as they are."""
    return lengths if np.isinf(room) else np.asarray(-room * np.expm1(-lengths / room))


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
