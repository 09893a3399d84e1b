"""Calibration on two levels: what decoding takes from units and rows is given back.

After decoding, three things are compared with the original, all with the shared curve removed: how
much of each score's variance lies between units, how scores go together within units, and how means
of units follow the columns of units. Levels are stretched, residuals moved linearly, and what the
means lack is added to the levels, round by round; the best round counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from icsa.inspection.unit_rows import Flags, Places
from icsa.limits import LONG
from icsa.matrices import Matrix, Vector
from icsa.release.calibration import least_move, score_correlation, view_correlation
from icsa.release.units.end_values import Ends

__all__ = [
    "Correction",
    "LevelStatistics",
    "Middle",
    "Parts",
    "calibrated",
    "level_statistics",
    "middle_of",
]

# Share of what means of units lack that is added at once.
_ADDED: Final = 0.7
_RIDGE: Final = 0.02
# Levels are stretched by at most this factor in a round, and by its square in all.
_MOST_STRETCH: Final = 1.5
_SHARES: Final = (0.005, 0.995)


@dataclass(frozen=True, eq=False)
class LevelStatistics:
    """What calibration compares.

    Attributes
    ----------
    between : ndarray of shape (n_scores,)
        Share of the variance that lies between units.
    within : ndarray of shape (n_scores, n_scores)
        Correlations within units, NaN where there are none.
    on_x : ndarray of shape (n_columns, n_scores)
        How means of units, in total standard deviations, follow columns of units.
    over_time : ndarray of shape (1 + n_columns, n_scores)
        How slopes over time, in total standard deviations, follow columns of units.
    at_ends : ndarray of shape (2, 1 + n_columns, n_scores)
        How first and last values, in total standard deviations, follow columns of units.
    """

    between: Vector
    within: Matrix
    on_x: Matrix
    over_time: Matrix
    at_ends: Matrix

    def distance(self, other: LevelStatistics) -> float:
        """Return how far two are apart, in one number."""
        lacks = [self.between - other.between, self.within - other.within, self.on_x - other.on_x]
        lacks += [self.over_time - other.over_time, self.at_ends - other.at_ends]
        squares = (float(np.nanmean(lack**2)) for lack in lacks if lack.size)
        return float(np.sqrt(sum(squares)))


def level_statistics(
    view: Matrix,
    design: Matrix,
    starts: Places,
    x: Matrix,
    times: Vector,
    weights: Vector | None = None,
    ends: Ends | None = None,
) -> LevelStatistics:
    """Return what calibration compares of a view, NaN where cells are missing.

    Times are those of slopes, 0 without any. With weights, units count as many times, with all
    their rows.
    """
    sizes = np.diff(starts)
    of_unit = np.ones(x.shape[0]) if weights is None else weights / weights.mean()
    of_row = np.repeat(of_unit, sizes)[:, None]
    there = ~np.isnan(view)
    counted = of_row * there
    total_count = np.maximum(counted.sum(axis=0), 1e-300)
    means = (of_row * np.where(there, view, 0.0)).sum(axis=0) / total_count
    filled = np.where(there, view, means)
    gram = (design * of_row).T @ design
    gram[np.diag_indices_from(gram)] += 1e-6 * design.shape[0]
    curve = design @ np.linalg.solve(gram, (design * of_row).T @ filled)
    rest = np.where(there, filled - curve, 0.0)
    counts = np.add.reduceat(there.astype(np.float64), starts[:-1], axis=0)
    of_units = np.add.reduceat(rest, starts[:-1], axis=0) / np.maximum(counts, 1.0)
    inside = np.where(there, rest - np.repeat(of_units, sizes, axis=0), np.nan)
    squares_within = np.nansum(of_row * inside**2, axis=0)
    squares_between = (of_unit[:, None] * counts * of_units**2).sum(axis=0)
    total = np.maximum(squares_within + squares_between, 1e-300)
    deviation = np.sqrt(np.maximum(total / total_count, 1e-300))
    gram_x = (x * of_unit[:, None]).T @ x
    gram_x[np.diag_indices_from(gram_x)] += _RIDGE * x.shape[0]
    weighted_x = (x * of_unit[:, None]).T @ of_units
    on_x = np.linalg.solve(gram_x, weighted_x) / deviation if x.shape[1] else weighted_x
    over_time = _slopes_on_x(view, there, counts, starts, times, x, of_unit) / deviation
    correlation = view_correlation(inside, None if weights is None else of_row[:, 0])
    at_ends = np.zeros((2, 1 + x.shape[1], view.shape[1]))
    if ends is not None:
        at_ends = ends.on_x(view - means, starts, x, of_unit) / deviation
    return LevelStatistics(squares_between / total, correlation, on_x, over_time, at_ends)


def _slopes_on_x(
    view: Matrix,
    there: Flags,
    counts: Matrix,
    starts: Places,
    times: Vector,
    x: Matrix,
    of_unit: Vector,
) -> Matrix:
    """Return how slopes over time, each within its unit, follow columns of units; a mean first.

    A unit counts by s / (s + median s), s the squares of its times around their mean, as in a model
    with slopes that vary about as much as they are uncertain; and by its own weight.
    """
    sizes = np.diff(starts)
    known = np.column_stack([np.ones(x.shape[0]), x])
    if not times.any():
        return np.zeros((known.shape[1], view.shape[1]))
    z = np.where(there, times[:, None], 0.0)
    y = np.where(there, view, 0.0)
    own = np.maximum(counts, 1.0)
    z = z - there * np.repeat(np.add.reduceat(z, starts[:-1], axis=0) / own, sizes, axis=0)
    squares = np.add.reduceat(z**2, starts[:-1], axis=0)
    slopes = np.add.reduceat(z * y, starts[:-1], axis=0) / np.where(squares > 0.0, squares, 1.0)
    found = np.zeros((known.shape[1], view.shape[1]))
    for j in range(view.shape[1]):
        several = squares[:, j] > 0.0
        if several.any():
            usual = np.median(squares[several, j])
            weights = of_unit * squares[:, j] / (squares[:, j] + usual)
            gram = (known * weights[:, None]).T @ known
            gram[np.diag_indices_from(gram)] += _RIDGE * weights.sum()
            found[:, j] = np.linalg.solve(gram, known.T @ (weights * slopes[:, j]))
    return found


@dataclass(frozen=True, eq=False)
class Correction:
    """How parts are changed before they are put together.

    Attributes
    ----------
    stretch : ndarray of shape (n_scores,)
    added : ndarray of shape (n_columns, n_scores)
    matrix : ndarray of shape (n_scores, n_scores)
    tilt : ndarray of shape (1 + n_columns, n_scores)
    at_ends : ndarray of shape (2, 1 + n_columns, n_scores)
        Added by how near a row is to its unit's first and last.
    """

    stretch: Vector
    added: Matrix
    matrix: Matrix
    tilt: Matrix
    at_ends: Matrix


@dataclass(frozen=True, eq=False)
class Middle:
    """Around what units are corrected: mean levels of units, and the mean time of rows.

    Attributes
    ----------
    levels : ndarray of shape (n_scores,)
    time : float
    has_times : bool
    """

    levels: Vector
    time: float
    has_times: bool


def middle_of(levels: Iterable[Vector], times: Vector, n_units: int) -> Middle:
    """Return the middle of units with such levels, score by score, and rows at such times.

    Levels of many units are asked for one after the other.
    """
    if n_units > LONG:
        means = np.array([np.ascontiguousarray(level).mean() for level in levels])
    else:
        means = np.column_stack(list(levels)).mean(axis=0)
    return Middle(means, float(times.mean()), bool(times.any()))


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """The parts of masked scores.

    Attributes
    ----------
    curve : ndarray of shape (n_rows, n_scores)
        What all share, and slopes.
    levels : ndarray of shape (n_units, n_scores)
    residuals : ndarray of shape (n_rows, n_scores)
    starts : array of int of shape (n_units + 1,)
    design : ndarray of shape (n_rows, n_terms)
    x : ndarray of shape (n_units, n_columns)
    times : ndarray of shape (n_rows,)
        Of slopes.
    weights : ndarray of shape (n_units,), optional
        How many units each stands for.
    ends : Ends, optional
        How first and last rows are compared, where there are times.
    """

    curve: Matrix
    levels: Matrix
    residuals: Matrix
    starts: Places
    design: Matrix
    x: Matrix
    times: Vector
    weights: Vector | None = None
    ends: Ends | None = None

    def first(self, n_rows: int) -> Parts:
        """Return the first units with as many rows at most."""
        if n_rows >= self.starts[-1]:
            return self
        units = max(int(np.searchsorted(self.starts, n_rows, side="right")) - 1, 1)
        rows = slice(0, int(self.starts[units]))
        return Parts(
            self.curve[rows],
            self.levels[:units],
            self.residuals[rows],
            self.starts[: units + 1],
            self.design[rows],
            self.x[:units],
            self.times[rows],
            None if self.weights is None else self.weights[:units],
            self.ends,
        )

    def put_together(
        self, correction: Correction | None = None, middle: Middle | None = None
    ) -> Matrix:
        """Return the scores; the middle is that of these units where none is given."""
        levels, middle = self.levels, middle or self.middle
        residuals = self.residuals
        if correction is not None:
            residuals = residuals @ correction.matrix
            centre = middle.levels
            levels = centre + (levels - centre) * correction.stretch + self.x @ correction.added
        whole = np.array(residuals, order="F")
        slopes, z = None, self.times
        if correction is not None and middle.has_times:
            slopes = correction.tilt[0] + self.x @ correction.tilt[1:]
            z = self.times - middle.time
        sizes = np.diff(self.starts)
        near = None
        if correction is not None and self.ends is not None:
            near = self.ends.nearness(self.times, self.starts)
        for j, column in enumerate(whole.T):  # one at a time: less room
            column += self.curve[:, j]
            column += np.repeat(levels[:, j], sizes)
            if slopes is not None:
                column += z * np.repeat(slopes[:, j], sizes)
            if near is not None and correction is not None:
                for own, added in zip(near, correction.at_ends[:, :, j], strict=True):
                    column += own * np.repeat(added[0] + self.x @ added[1:], sizes)
        return whole

    @property
    def middle(self) -> Middle:
        """Around which these units are corrected."""
        return middle_of(self.levels.T, self.times, self.levels.shape[0])


def calibrated(
    parts: Parts, wanted: LevelStatistics, view_of: Callable[[Matrix], Matrix], rounds: int
) -> Correction | None:
    """Return the correction after which decoded scores are nearest to what is wanted.

    Parameters
    ----------
    parts : Parts
    wanted : LevelStatistics
    view_of : function
        From scores to the view of what they decode to.
    rounds : int
        Number of comparisons; with 0 there is no correction.
    """
    p, q = parts.x.shape[1], parts.levels.shape[1]
    best: Correction | None = None
    correction = Correction(
        np.ones(q),
        np.zeros((p, q)),
        np.eye(q),
        np.zeros((p + 1, q)),
        np.zeros((2, p + 1, q)),
    )
    target = np.where(np.isnan(wanted.within), score_correlation(parts.residuals), wanted.within)
    aim, least = target, np.inf
    for place in range(rounds + 1 if rounds else 0):
        view = view_of(parts.put_together(correction if place else None))
        found = level_statistics(
            view, parts.design, parts.starts, parts.x, parts.times, parts.weights, parts.ends
        )
        distance = wanted.distance(found)
        if distance < least:
            best, least = correction, distance
        lacking = np.where(np.isnan(found.within), 0.0, target - np.nan_to_num(found.within))
        aim = aim + lacking
        wide = np.sqrt(_odds(wanted.between) / _odds(found.between))
        stretch = correction.stretch * np.clip(wide, 1.0 / _MOST_STRETCH, _MOST_STRETCH)
        correction = Correction(
            np.clip(stretch, _MOST_STRETCH**-2, _MOST_STRETCH**2),
            correction.added + _ADDED * (wanted.on_x - found.on_x),
            least_move(parts.residuals, aim),
            correction.tilt + _ADDED * (wanted.over_time - found.over_time),
            correction.at_ends + _ADDED * (wanted.at_ends - found.at_ends),
        )
    return best


def _odds(shares: Vector) -> Vector:
    held = np.clip(shares, *_SHARES)
    return np.asarray(held / (1.0 - held))
