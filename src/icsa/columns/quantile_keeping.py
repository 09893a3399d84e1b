"""Quantiles of a measurement that a release keeps, so that its margin is that of the original.

A masked score is a sum of masked components: its distribution is nearer to a normal one than the
original's was. Masked scores are therefore moved between knots, from their own quantiles to those
of the original's scores. Every knot has at least ten people on each side and between it and the
next one, so that none tells of a single person. Beyond the outermost a tail is built from its
ranks, by further knots with 10, 20, 40, ... people beyond. The last ten people, or up to twice as
many, are as far out on average as the original's and shaped like them, but where the two outermost
are is not looked at, and every other gap counts at most five times what those farther in let
expect, so that lone people far out do not make the tail longer. Where a bound comes, or a last
value that ten people share, the shape is one that ends there, with the same mean, so that nobody
lies beyond and none are piled up.

A tail shows its outermost knot, mean and shape to the last digit, and each of them is a function of
all people in it: who knew all but one could solve for the last. So the key draws them, each within
a share of its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from icsa.columns.counts import moved_counts
from icsa.columns.transforms import Transform
from icsa.lattice import Lattice
from icsa.matrices import Vector
from icsa.randomness import Stream

__all__ = ["KeptQuantiles"]

# People between a knot and the next, or beyond the outermost.
_PEOPLE = 10
# Steps between levels that are equally far apart, and levels outside of them, if rows allow.
_STEPS = 20
_OUTER_LEVELS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025)
# Outermost people of either end that are not looked at.
_UNSEEN = 2
# Spacings of an end that are looked at: those of the last people, up to twenty, and two times as
# many that tell what to expect of them.
_LOOKED_AT = 60
# Tails end as abruptly as a uniform one, or fall exponentially: scales have bent heavier ones.
_SHAPES = (-1.0, 0.0)
# A tail's mean is drawn within this share of its standard error to both sides, its shape within so
# much, and its knot within so many people.
_DRAWN_SHARE = 0.5
_DRAWN_SHAPE = 0.1
_DRAWN_PEOPLE = 1.5
# The mean of a tail is at most this share of the room before a bound.
_MOST_OF_ROOM = 0.9
# Masked scores whose quantiles are taken, at most: ten people beyond the outermost level.
_ENOUGH_SCORES = 40_000


@dataclass(frozen=True, eq=False)
class Tail:
    """What lies beyond an outermost knot, as lengths from there.

    Attributes
    ----------
    people, lengths : Vector
        How many of the original's people are farther out than each length: ten or up to twice as
        many, and so on to everybody of the tail, beyond a length of 0.
    mean : float
        Of what the first of these have beyond theirs.
    shape : float
        Of their generalised Pareto law: 0 is exponential, less ends sooner.
    room : float
        From there up to the bound; infinite where there is none.
    """

    people: Vector
    lengths: Vector
    mean: float
    shape: float
    room: float

    def by_rank(self, count: int) -> Vector:
        """Return so many lengths, the longest first."""
        rank = (np.arange(count) + 0.5) / count * self.people[-1]
        beyond = -np.log(np.minimum(rank / self.people[0], 1.0))
        mean, shape = self._within_room()
        if shape != 0.0:
            beyond = np.expm1(shape * beyond) / shape
        return np.asarray(
            np.interp(rank, self.people, self.lengths) + mean * (1.0 - shape) * beyond
        )

    def _within_room(self) -> tuple[float, float]:
        """Return mean and shape of the law, which ends at the bound if not before.

        A law of mean m and shape -a ends at m (1 + a)/a: at the room r for a = m/(r - m).
        """
        if np.isinf(self.room):
            return self.mean, self.shape
        mean = min(self.mean, _MOST_OF_ROOM * max(self.room, 0.0))
        return mean, min(self.shape, -mean / (self.room - mean)) if mean > 0.0 else self.shape

    def drawn(self, stream: Stream) -> Self:
        """Return the tail with all that it is made of drawn near to what it is."""
        uniform = _uniform(self.lengths.size + 1, stream)
        people = -np.diff(self.people[::-1], append=0.0)
        factors = 1.0 + _DRAWN_SHARE * uniform[:-1] / np.sqrt(people)
        parts = np.append(np.diff(self.lengths[::-1]), self.mean) * factors
        lengths = np.append(0.0, np.cumsum(parts[:-1]))[::-1]
        shape = float(np.clip(self.shape + _DRAWN_SHAPE * uniform[-1], *_SHAPES))
        room = self.room + float(self.lengths[0] - lengths[0])
        return replace(self, lengths=lengths, mean=float(parts[-1]), shape=shape, room=room)

    @property
    def spacing(self) -> float:
        """How far apart people are on average."""
        return float((self.lengths[0] + self.mean) / self.people[-1])


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
    >>> kept.regained(100.0 + 2.0 * np.arange(40.0))[[15, 29]].round(1)
    array([15., 29.])
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
        levels = _levels(ordered.size)
        if levels.size == 0:
            return cls(levels, levels, ())
        numbers = (
            _quantiles(ordered, levels, lattice),
            _ends(ordered, lattice, bounds),
            _outermost(ordered, levels[0], lattice),
        )
        with np.errstate(over="ignore", invalid="ignore"):
            # As encoded: what lies beyond a scale's limit is not to be released.
            scores, ends, outer = (
                np.clip(transform.forward(some), -transform.limit, transform.limit)
                for some in numbers
            )
        if not (np.isfinite(scores).all() and np.isfinite(outer).all()):
            return cls(levels[:0], scores[:0], ())
        below, above = np.split(outer, 2)
        people = float(levels[0] * ordered.size)
        low = _tail(-below, -float(scores[0]), -float(ends[0]), people)
        high = _tail(above[::-1], float(scores[-1]), float(ends[1]), people)
        return cls(levels, scores, (low, high))

    def with_moved_counts(self, n_rows: int, stream: Stream) -> Self:
        """Return the same scores at levels that are moved by a few of so many people."""
        borders = np.rint(np.concatenate([[0.0], self.levels, [1.0]]) * n_rows).astype(np.int64)
        # A quantile moves by what all intervals before it do: so less for each.
        moved = np.cumsum(moved_counts(np.diff(borders), stream, fewest=1))[:-1] - borders[1:-1]
        return replace(self, levels=self.levels + moved / n_rows)

    def with_drawn_tails(self, stream: Stream) -> Self:
        """Return the same knots but for the outermost ones, which are drawn as the tails are."""
        if self.levels.size == 0:
            return self
        scores, tails = self.scores.copy(), []
        inwards = np.diff(scores)[[0, -1]] if scores.size > 1 else np.full(2, np.inf)
        for side, place, tail, inward in zip(
            (-1.0, 1.0), (0, -1), self.tails, inwards, strict=True
        ):
            outward = _DRAWN_PEOPLE * float(_uniform(1, stream)[0]) * tail.spacing
            outward = min(max(outward, -0.4 * float(inward)), 0.4 * max(tail.room, 0.0))
            scores[place] += side * outward
            tails.append(replace(tail, room=tail.room - outward).drawn(stream))
        return replace(self, scores=scores, tails=tuple(tails))

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
        for side, tail, knot in zip((-1.0, 1.0), self.tails, target[[0, -1]], strict=True):
            rows = np.flatnonzero(moved > knot if side > 0.0 else moved < knot)
            outermost_first = rows[np.argsort(-side * moved[rows], kind="stable")]
            moved[outermost_first] = knot + side * tail.by_rank(rows.size)
        return moved


def _uniform(size: int, stream: Stream) -> Vector:
    """Return numbers between -1 and 1."""
    return (stream.words(size) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


def _levels(n_rows: int) -> Vector:
    steps = max(1, min(_STEPS, n_rows // _PEOPLE))
    inner = np.arange(1, steps) / steps
    outer = [level for level in _OUTER_LEVELS if level * n_rows >= _PEOPLE]
    return np.concatenate([outer, inner, 1.0 - np.array(outer[::-1])])


def _quantiles(ordered: Vector, levels: Vector, lattice: Lattice | None) -> Vector:
    """Return quantiles of numbers that are spread evenly over their cells of the lattice."""
    n = ordered.size
    between = _between(ordered, levels * n - 0.5)
    if lattice is None:
        return between
    value = ordered[np.minimum((levels * n).astype(np.intp), n - 1)]
    first, last = (np.searchsorted(ordered, value, side) for side in ("left", "right"))
    return value + lattice.width * ((levels * n - first) / (last - first) - 0.5)


def _between(ordered: Vector, places: Vector) -> Vector:
    """Return numbers at places between those of sorted ones; beyond the ends, the ends.

    What ``np.interp`` does with the places 0, 1, 2 ..., which it would need in memory.
    """
    held = np.clip(places, 0.0, ordered.size - 1.0)
    below = np.minimum(held.astype(np.intp), ordered.size - 2)
    slope = ordered[below + 1] - ordered[below]
    found: Vector = slope * (held - below) + ordered[below]
    return np.where(held == ordered.size - 1.0, ordered[-1], found)


def _ends(ordered: Vector, lattice: Lattice | None, bounds: tuple[float, float]) -> Vector:
    """Return where numbers end: at bounds, or at a last value that ten people share."""
    low, high = bounds
    if ordered[0] == ordered[_PEOPLE - 1]:
        low = max(low, ordered[0])
    if ordered[-1] == ordered[-_PEOPLE]:
        high = min(high, ordered[-1])
    # What is rounded to an end may lie half a step beyond it.
    half = 0.0 if lattice is None else 0.5 * lattice.width
    return np.array([low - half, high + half])


def _outermost(ordered: Vector, level: float, lattice: Lattice | None) -> Vector:
    """Return the numbers of both tails and of as many people as are looked at, ascending each."""
    n = ordered.size
    count = max(min(_LOOKED_AT, n // 4), round(level * n) + 1) + 1
    levels = (np.arange(count) + 0.5) / n
    return _quantiles(ordered, np.concatenate([levels, 1.0 - levels[::-1]]), lattice)


def _tail(outward: Vector, knot: float, end: float, people: float) -> Tail:
    """Return the tail above a knot from the outermost scores, the farthest first.

    Scores are in robust standard deviations. For a lower tail all signs are turned.
    """
    from icsa.masks.redraw_kernels import tail_law

    doubled = _PEOPLE * 2.0 ** np.arange(32)
    counts: Vector = np.append(doubled[doubled <= people - _PEOPLE], people)
    between = np.interp(counts[:-1] - 0.5, np.arange(outward.size), outward)
    knots = np.append(np.maximum(between, knot), knot)
    looked_at = np.ascontiguousarray(outward[: _LOOKED_AT + 1])
    centre, _, shape = tail_law(looked_at, round(counts[0]), _UNSEEN, 1.0, *_SHAPES)
    mean = max(float(centre) - knots[0], 0.0)
    return Tail(counts, knots - knot, mean, float(shape), end - float(knots[0]))
