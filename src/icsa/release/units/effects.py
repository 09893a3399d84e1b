"""What of a unit's scores is its own: levels, slopes over time, and what remains in each row.

    Y = B(t) beta + b0 + b1 z + e,   b | x ~ N(Gamma x, D),   e ~ N(0, Sigma)

with a curve that all share, a level and (for measurements) a slope of each unit, and residuals that
remember the row before (phi to the power of the gap). Found by stochastic EM: effects and missing
scores are drawn, then all parameters are computed from them, covariances with Huber weights. The
last draws are what is masked: they have the covariances D and Sigma, so that nothing needs to be
corrected for how many rows a unit has. Draws are the same each time: they are no secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from icsa.inspection.unit_rows import Places, some_units, unit_leaves
from icsa.limits import LONG
from icsa.linalg import symmetrize
from icsa.matrices import Matrix, Vector
from icsa.release.units.effect_kernels import draw_effects, whiten_rows

__all__ = [
    "FITTED_ROWS",
    "Curve",
    "Effects",
    "Law",
    "RowsOfUnits",
    "curve_of",
    "draws_of_leaf",
    "fit_effects",
    "fitted_law",
    "last_draws",
    "memories",
]

_ROUNDS: Final = 30
# Quantiles of the times at which the shared curve may bend.
_KNOTS: Final = (0.02, 0.35, 0.65, 0.98)
# Added to what is inverted, in units of the number of rows or units: stable with many columns.
_RIDGE: Final = 0.01
_LEAST_VARIANCE: Final = 1e-4
# Rows whose distance is beyond this quantile of the chi-squared law count less.
_HUBER: Final = 0.99
_MEMORIES: Final = np.linspace(0.0, 0.95, 20)
# Rows from which the law is found at most: covariances within 1%.
FITTED_ROWS: Final = 60_000
# Draws of everybody's effects and missing scores, since each depends on the others.
_LAST_DRAWS: Final = 3


@dataclass(frozen=True, eq=False)
class Curve:
    """The design of what all units share: a curve of time, the first row, the end of follow-up.

    Attributes
    ----------
    knots : ndarray
        Of the restricted cubic spline; empty without times.
    listed : ndarray, optional
        Times that have a mean each, where they are few.
    usual_gap : float
    scale : float
        What times are divided by for slopes.
    first : bool
        Whether first rows have a mean of their own.
    """

    knots: Vector
    listed: Vector | None
    usual_gap: float
    scale: float
    first: bool

    def slopes(self, times: Vector | None, n_rows: int) -> Vector:
        """Return times on the scale of slopes; 0 without times."""
        return np.zeros(n_rows) if times is None else times / self.scale

    def design(
        self, times: Vector | None, starts: Places, ends: Vector | None, x: Matrix
    ) -> Matrix:
        """Return the columns of the shared curve, shape (n_rows, n_terms)."""
        sizes = np.diff(starts)
        n_rows = int(starts[-1])
        columns = [np.ones(n_rows)]
        if times is not None:
            if self.listed is not None:
                columns += [(times == time).astype(np.float64) for time in self.listed[1:]]
            else:
                columns += list(_spline(times, self.knots))
            if self.first:
                flag = np.zeros(n_rows)
                flag[starts[:-1]] = 1.0
                columns.append(flag)
            if ends is not None:
                left = np.repeat(ends, sizes) - times
                near = np.exp(-np.clip(left, 0.0, None) / self.usual_gap)
                columns += [near, *(near * np.repeat(own, sizes) for own in x.T)]
        return np.column_stack(columns)

    def lags(self, times: Vector | None, starts: Places) -> Vector:
        """Return the gap before each row in units of the usual one; 1 without times."""
        if times is None:
            return np.ones(int(starts[-1]))
        return np.maximum(np.diff(times, prepend=times[:1]), 0.0) / self.usual_gap


def curve_of(times: Vector | None, starts: Places, listed: Vector | None) -> Curve:
    """Return the curve for times since each unit's start."""
    if times is None:
        return Curve(np.empty(0), None, 1.0, 1.0, first=False)
    gaps = np.diff(times)
    gaps = gaps[gaps > 0.0]
    usual = float(np.median(gaps)) if gaps.size else 1.0
    knots = np.unique(np.quantile(times, _KNOTS))
    scale = float(times.std()) or 1.0
    first = listed is None and bool(np.any(np.diff(starts) > 1))
    return Curve(knots, listed, usual, scale, first)


def _spline(times: Vector, knots: Vector) -> Iterator[Vector]:
    """Yield a restricted cubic spline: linear beyond the outer knots."""
    width = float(np.ptp(knots)) or 1.0
    yield times / width
    if knots.size < 3:
        return
    last, before = knots[-1], knots[-2]

    def cubed(knot: float) -> Vector:
        return np.asarray(np.maximum((times - knot) / width, 0.0) ** 3)

    for knot in knots[:-2]:
        yield (
            cubed(knot)
            - cubed(before) * (last - knot) / (last - before)
            + cubed(last) * (before - knot) / (last - before)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Effects:
    """The parts of all scores.

    Attributes
    ----------
    shared : ndarray of shape (n_terms, n_scores)
        Of the curve: beta.
    levels, slopes : ndarray of shape (n_units, ...)
        The last draws; slopes of the scores `sloped` only.
    residuals : ndarray of shape (n_rows, n_scores)
        The last draws, what is new in each row.
    memory : ndarray of shape (n_scores,)
        phi of each score.
    sloped : array of int
    """

    shared: Matrix
    levels: Matrix
    slopes: Matrix
    residuals: Matrix
    memory: Vector
    sloped: Places

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Effects of {self.levels.shape[0]} units, {self.residuals.shape[0]} rows>"


@dataclass(frozen=True, eq=False)
class Law:
    """What is estimated: the shared curve, how effects follow x, and both covariances."""

    shared: Matrix
    gamma: Matrix
    between: Matrix
    within: Matrix


@dataclass(frozen=True, eq=False)
class RowsOfUnits:
    """Rows of some units with all that explains their scores.

    Attributes
    ----------
    scores : ndarray of shape (n_rows, n_scores)
        Gaps are filled in place.
    gaps : list of pairs of arrays
        Rows in which the same scores are missing, and which.
    """

    scores: Matrix
    gaps: list[tuple[Places, Places]]
    starts: Places
    design: Matrix
    times: Vector
    sloped: Places
    x: Matrix

    @classmethod
    def of(
        cls,
        scores: Matrix,
        starts: Places,
        design: Matrix,
        times: Vector,
        sloped: Places,
        x: Matrix,
    ) -> RowsOfUnits:
        """Return rows whose gaps are known, and filled with 0 in place."""
        gaps = list(_patterns(scores))
        np.nan_to_num(scores, copy=False)
        return cls(scores, gaps, starts, design, times, sloped, x)

    def draw(self, law: Law, rng: np.random.Generator) -> tuple[Matrix, Matrix, Matrix]:
        """Return a draw of effects, what they make of each row, and errors; gaps are filled."""
        n_units, q = self.starts.size - 1, self.scores.shape[1]
        curve = self.design @ law.shared
        effects = np.empty((n_units, law.between.shape[0]))
        draw_effects(
            self.scores - curve,
            self.starts,
            self.times,
            self.sloped,
            self.x @ law.gamma,
            _inverse(law.between),
            _inverse(law.within),
            rng.standard_normal(effects.shape),
            effects,
        )
        sizes = np.diff(self.starts)
        own = np.repeat(effects[:, :q], sizes, axis=0)
        own[:, self.sloped] += np.repeat(effects[:, q:], sizes, axis=0) * self.times[:, None]
        errors = self.scores - curve - own
        for rows, missing in self.gaps:
            _fill(errors, rows, missing, law.within, rng)
            place = np.ix_(rows, missing)
            self.scores[place] = curve[place] + own[place] + errors[place]
        return effects, own, errors


def fit_effects(
    scores: Matrix,
    starts: Places,
    design: Matrix,
    slopes_of: Vector,
    lags: Vector,
    sloped: Places,
    x: Matrix,
) -> Effects:
    """Return the parts of scores, which are used up.

    The law of a long table is found from some of its units; then everybody's effects are drawn,
    some units at a time.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_scores)
        Standardised, NaN where missing; rows of a unit together.
    starts : array of int of shape (n_units + 1,)
    design : ndarray of shape (n_rows, n_terms)
        `Curve.design`.
    slopes_of, lags : ndarray of shape (n_rows,)
        `Curve.slopes` and `Curve.lags`.
    sloped : array of int
        Which scores have slopes.
    x : ndarray of shape (n_units, n_columns)
        Columns of units, standardised.
    """
    units, rows = some_units(starts, FITTED_ROWS)
    own = _starts(np.diff(starts)[units])
    some = RowsOfUnits.of(scores[rows], own, design[rows], slopes_of[rows], sloped, x[units])
    law = fitted_law(some)
    effects = np.empty((starts.size - 1, law.between.shape[0]))
    rng = np.random.default_rng(1)
    for number, leaf in enumerate(unit_leaves(starts)):
        part = slice(int(starts[leaf.start]), int(starts[leaf.stop]))
        block = RowsOfUnits.of(
            scores[part],
            starts[leaf.start : leaf.stop + 1] - starts[leaf.start],
            design[part],
            slopes_of[part],
            sloped,
            x[leaf],
        )
        if starts[-1] > LONG:
            rng = draws_of_leaf(number)
        effects[leaf], scores[part] = last_draws(block, law, rng)
    memory = memories(scores[rows], own, lags[rows])
    whiten_rows(scores, starts, lags, memory)
    q = scores.shape[1]
    return Effects(law.shared, effects[:, :q], effects[:, q:], scores, memory, sloped)


def draws_of_leaf(number: int) -> np.random.Generator:
    """Return what a leaf of a long table is drawn by: the same whoever draws the others."""
    return np.random.default_rng([1, number])


def last_draws(block: RowsOfUnits, law: Law, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Return the effects of some units, and the errors of their rows."""
    for _ in range(_LAST_DRAWS):
        effects, _, errors = block.draw(law, rng)
    return effects, errors


def fitted_law(units: RowsOfUnits) -> Law:
    """Return the law by stochastic EM: draws, then what these let expect."""
    rng = np.random.default_rng(0)
    q, m = units.scores.shape[1], units.scores.shape[1] + units.sloped.size
    solve_shared, solve_x = _solver(units.design, 1e-6), _solver(units.x, _RIDGE)
    law = Law(
        solve_shared(units.scores),
        np.zeros((units.x.shape[1], m)),
        0.5 * np.eye(m),
        0.5 * np.eye(q),
    )
    for _ in range(_ROUNDS):
        effects, own, errors = units.draw(law, rng)
        gamma = solve_x(effects)
        law = Law(
            solve_shared(units.scores - own),
            gamma,
            _held_covariance(effects - units.x @ gamma, law.between),
            _held_covariance(errors, law.within),
        )
    return law


def _starts(sizes: Places) -> Places:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _inverse(covariance: Matrix) -> Matrix:
    return np.ascontiguousarray(np.linalg.inv(covariance), dtype=np.float64)


def _solver(design: Matrix, ridge: float) -> Callable[[Matrix], Matrix]:
    """Return a function from what is explained to its coefficients."""
    gram = design.T @ design
    gram[np.diag_indices_from(gram)] += ridge * design.shape[0]
    inverse = np.linalg.pinv(gram) if gram.size else gram

    def solve(target: Matrix) -> Matrix:
        return np.asarray(inverse @ (design.T @ target))

    return solve


def _patterns(scores: Matrix) -> Iterator[tuple[Places, Places]]:
    """Yield rows in which the same scores are missing, and which."""
    missing = np.isnan(scores)
    rows = np.flatnonzero(missing.any(axis=1))
    if not rows.size:
        return
    kinds, which = np.unique(np.packbits(missing[rows], axis=1), axis=0, return_inverse=True)
    for kind in range(kinds.shape[0]):
        own = rows[which.ravel() == kind]
        yield own, np.flatnonzero(missing[own[0]])


def _fill(
    errors: Matrix, rows: Places, missing: Places, within: Matrix, rng: np.random.Generator
) -> None:
    """Draw the missing residuals of rows given those that are there."""
    there = np.setdiff1d(np.arange(errors.shape[1]), missing)
    noise = rng.standard_normal((rows.size, missing.size))
    spread = within[np.ix_(missing, missing)]
    mean = np.zeros((rows.size, missing.size))
    if there.size:
        weights = np.linalg.solve(within[np.ix_(there, there)], within[np.ix_(there, missing)])
        mean = errors[np.ix_(rows, there)] @ weights
        spread = spread - within[np.ix_(missing, there)] @ weights
    values, vectors = np.linalg.eigh(symmetrize(spread))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    errors[np.ix_(rows, missing)] = mean + noise @ root.T


def _held_covariance(rows: Matrix, before: Matrix) -> Matrix:
    """Return the covariance with Huber weights, by distances under the one before."""
    from scipy.special import gammaincinv  # quantiles of chi-squared, without scipy.stats

    limit = 2.0 * gammaincinv(rows.shape[1] / 2.0, _HUBER)
    distances = np.einsum("ij,ij->i", rows, np.linalg.solve(before, rows.T).T)
    weights = np.minimum(1.0, limit / np.maximum(distances, 1e-12))
    found = (rows * weights[:, None]).T @ rows / rows.shape[0]
    found[np.diag_indices_from(found)] += _LEAST_VARIANCE
    return symmetrize(found)


def memories(errors: Matrix, starts: Places, lags: Vector) -> Vector:
    """Return for each score the memory under which its residuals are likeliest."""
    later = np.ones(errors.shape[0], dtype=bool)
    later[starts[:-1]] = False
    rows = np.flatnonzero(later)
    best = np.zeros(errors.shape[1])
    if rows.size < 2 * errors.shape[1]:
        return best
    now, before, lag = errors[rows], errors[rows - 1], np.minimum(lags[rows], 50.0)
    variance = np.maximum(errors.var(axis=0), _LEAST_VARIANCE)
    least = np.full(errors.shape[1], np.inf)
    for memory in _MEMORIES:
        rho = (memory**lag if memory > 0.0 else np.zeros(rows.size))[:, None]
        left = np.maximum(1.0 - rho**2, 1e-6)
        cost = (np.log(left) + (now - rho * before) ** 2 / (variance * left)).mean(axis=0)
        better = cost < least - 1e-12
        best[better], least[better] = memory, cost[better]
    return best
