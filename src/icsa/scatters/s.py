"""S: the scatter of smallest determinant at which a bounded mean of the distances is fixed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, solve_triangular

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import squared_distances, symmetrize
from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked, search_generator
from icsa.scatters.ogk import deterministic_distances
from icsa.scatters.univariate import (
    bisquare_cutoff,
    bisquare_radii,
    bisquare_weights,
    median_mad,
    tied_direction_error,
)

__all__ = ["SScatter", "column_units", "reweighted_fixed_point", "s"]

# After so many steps from all starts, so many candidates go on; then again; then again.
_ROUNDS = ((3, 50), (6, 15), (10, 6), (30, 2))

# Random starts by default: as many as this budget of multiplications a step allows, within limits.
_START_BUDGET = 5e7
_FEWEST_STARTS, _MOST_STARTS = 500, 1500

# Candidates whose squared radii agree to this are taken to be on the way to the same minimum.
_SAME = 1e-7

# The random starts of longer tables are first tried on this many rows.
_SCREENING_ROWS = 1000

# Candidates are stepped together, in blocks that hold about this many numbers.
_BLOCK_NUMBERS = 1 << 18

# Newton's method doubles the digits, so that radii found to this are right to its square.
_SEARCH_TOLERANCE = 1e-5

# A pivot below this fraction of the largest makes a few rows singular.
_NO_SPREAD = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class SScatter(LocationScatter):
    """The S-estimate and what it minimises.

    Attributes
    ----------
    scale : float
        det(scatter)^(1/(2p)), the objective: the smallest that the search met.
    cutoff : float
        The distance from which on rows have no weight.
    breakdown : float
        The fraction of outlying rows that the estimate withstands in large tables.
    """

    scale: float
    cutoff: float
    breakdown: float


def s(
    x: object,
    *,
    breakdown: float = 0.5,
    n_starts: int | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 2000,
    random_state: object = None,
) -> SScatter:
    """Return the bisquare S-estimate of location and scatter.

    Among all locations t and positive definite C with

        mean(rho(d_i/c)) = breakdown,    d_i² = (x_i - t)' C^-1 (x_i - t),
        rho(u) = 1 - (1 - min(u, 1)²)³,

    it has the smallest det(C). The cut-off c makes C the covariance under normality. With weights
    w_i = (1 - (d_i/c)²)² inside the cut-off and 0 outside it, t is the weighted mean and C
    proportional to the weighted covariance around it.

    The objective has many local minima. The search starts from six deterministic estimates and from
    random sets of p + 1 rows, takes a few steps from each, goes on with the best and iterates the
    very best to its fixed point. The random sets do not depend on the order of the rows or on an
    affine change of the columns; the deterministic starts do on the latter.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The rows, more than p/(1 - breakdown) of them.
    breakdown : float
        The breakdown point, above 0 and at most 0.5.
    n_starts : int, optional
        Number of random starts; with 0 only the deterministic ones are used. By default 1500 for
        small tables, down to 500 for large ones.
    tolerance : float
        Largest change, free of units, of location and shape in the last step.
    max_iterations : int
        Limit of the last iteration.
    random_state : None, int, bytes or numpy Generator
        Of the random starts; None is a fixed seed.

    Returns
    -------
    SScatter
        `location`, `scatter`, `scale` (the objective), `cutoff`, `breakdown`.

    Raises
    ------
    ExactFitError
        When n (1 - breakdown) rows or more lie on one hyperplane, so that the minimum is 0.

    References
    ----------
    Lopuhaä, H. P. (1989). On the relation between S-estimators and M-estimators of multivariate
    location and covariance. Annals of Statistics 17, 1662-1683.

    Salibian-Barrera, M. and Yohai, V. J. (2006). A fast algorithm for S-regression estimates.
    Journal of Computational and Graphical Statistics 15, 414-427.

    Hubert, M., Rousseeuw, P. J., Vanpaemel, D. and Verdonck, T. (2015). The DetS and DetMM
    estimators for multivariate location and scatter. Computational Statistics & Data Analysis 81,
    64-75.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(100, 2))
    >>> rows[:30] += 50.0
    >>> estimate = s(rows)
    >>> bool(np.all(np.abs(estimate.location) < 0.5)), bool(estimate.scale < 1.5)
    (True, True)
    """
    matrix = _checked_rows(x, breakdown)
    n_starts = _number_of_starts(matrix, n_starts)
    centre, spread = column_units(matrix)
    unit = _canonical_order((matrix - centre) / spread)
    start = _search(unit, breakdown, n_starts, search_generator(random_state))

    def weigh(squared: Vector) -> Vector:
        return bisquare_weights(squared, bisquare_radii(squared[None], breakdown)[0])

    location, factor, iterations = reweighted_fixed_point(
        unit, start.locations[0], start.factors[0], weigh, "s", tolerance, max_iterations
    )
    squared = squared_distances(unit, location, factor @ factor.T)
    cutoff = bisquare_cutoff(matrix.shape[1], breakdown)
    scale = math.sqrt(float(bisquare_radii(squared[None], breakdown)[0])) / cutoff
    half = spread[:, None] * factor * scale
    return SScatter(
        location=centre + spread * location,
        scatter=symmetrize(half @ half.T),
        iterations=iterations,
        scale=scale * math.exp(float(np.mean(np.log(spread)))),
        cutoff=cutoff,
        breakdown=breakdown,
    )


def column_units(rows: Matrix) -> tuple[Vector, Vector]:
    """Return the centre and the unit of length of each column in which the iterations run.

    Examples
    --------
    >>> column_units(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [90.0, 5.0]]))
    (array([3., 0.]), array([1., 2.]))
    """
    centre, spread = median_mad(rows)
    return centre, np.where(spread > 0, spread, np.std(rows, axis=0))


def reweighted_fixed_point(
    rows: Matrix,
    location: Vector,
    factor: Matrix,
    weigh: Callable[[Vector], Vector],
    name: str,
    tolerance: float,
    max_iterations: int,
) -> tuple[Vector, Matrix, int]:
    """Return the location and shape that are the weighted mean and covariance of their own weights.

    The shape is given and returned as its lower triangular factor, of determinant 1; `weigh` maps
    the squared distances in the shape's metric to weights. Also returns the number of steps.
    """
    for iteration in range(1, max_iterations + 1):
        white = solve_triangular(factor, (rows - location).T, lower=True)
        squared = np.einsum("ji,ji->i", white, white)
        weights = weigh(squared)
        total = max(float(weights.sum()), np.finfo(float).tiny)
        shift = white @ weights / total
        white -= shift[:, None]
        step = _unit_factors(((white * weights) @ white.T)[None])[0]
        if not np.isfinite(step[0, 0]):
            raise ConvergenceError(
                f"{name}: in step {iteration} the rows that have weight lie on a hyperplane. "
                "Start from another estimate, or drop columns."
            )
        location = location + factor @ shift
        factor = factor @ step
        typical = math.sqrt(float(weights @ squared) / (total * location.size))
        moved = float(np.linalg.norm(shift)) / typical
        if max(moved, float(np.linalg.norm(step - np.eye(location.size)))) < tolerance:
            return location, factor, iteration
    raise ConvergenceError(
        f"{name}: location and shape still change by more than {tolerance:g} after "
        f"{max_iterations} steps. Raise max_iterations or the tolerance."
    )


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Locations, lower triangular factors of determinant 1, and squared radii of no weight."""

    locations: Matrix  # (candidates, columns)
    factors: Matrix  # (candidates, columns, columns)
    radii: Vector  # (candidates,), what the search lowers; infinite before the first step

    def best(self, number: int) -> _Candidates:
        """Return the candidates with the smallest radii, one a minimum."""
        order = np.argsort(self.radii, kind="stable")
        order = order[np.isfinite(self.radii[order])]
        gaps = np.diff(self.radii[order], prepend=0.0)
        return self.take(order[gaps > _SAME * self.radii[order]][:number])

    def take(self, which: slice | npt.NDArray[np.intp]) -> _Candidates:
        return _Candidates(self.locations[which], self.factors[which], self.radii[which])


def _search(
    unit: Matrix, breakdown: float, n_starts: int, generator: np.random.Generator
) -> _Candidates:
    """Return the candidate from which the smallest radius is expected."""
    screen = unit
    if unit.shape[0] > _SCREENING_ROWS:
        screen = unit[np.sort(generator.choice(unit.shape[0], _SCREENING_ROWS, replace=False))]
    (steps, keep), *later = _ROUNDS
    drawn = _from_subsets(_random_subsets(screen, n_starts, generator), unit.shape[1])
    fixed = _from_subsets(_central_halves(unit), unit.shape[1])
    drawn = _stepped(screen, drawn, breakdown, steps, unit).best(keep)
    fixed = _stepped(unit, fixed, breakdown, steps, unit)
    found = _joined(drawn, fixed)
    for steps, keep in later:
        found = _stepped(unit, found, breakdown, steps, unit).best(keep)
    if not found.radii.size:
        raise InputError(
            f"s found no start of full rank in {n_starts} random ones: too many rows are equal. "
            "Use more starts (n_starts), or drop columns that take few values."
        )
    return found.best(1)


def _random_subsets(rows: Matrix, number: int, generator: np.random.Generator) -> Iterator[Matrix]:
    for _ in range(number):
        yield rows[generator.choice(rows.shape[0], rows.shape[1] + 1, replace=False)]


def _central_halves(unit: Matrix) -> Iterator[Matrix]:
    """Yield the half of the rows nearest the centre of each deterministic start."""
    half = (unit.shape[0] + 1) // 2
    try:
        for distances in deterministic_distances(unit):
            yield unit[np.argsort(distances, kind="stable")[:half]]
    except ExactFitError:
        return  # more than half, but fewer than n (1 - breakdown) rows tie: random starts remain


def _from_subsets(subsets: Iterable[Matrix], n_columns: int) -> _Candidates:
    """Return mean and covariance of each subset; those that do not span the space are left out."""
    locations, factors = [], []
    for subset in subsets:
        mean = subset.mean(axis=0)
        upper = np.linalg.qr(subset - mean)[1]
        pivots = np.diagonal(upper)
        size = np.abs(pivots)
        if size.min() > _NO_SPREAD * size.max():
            locations.append(mean)
            factors.append(upper.T * (np.sign(pivots) / math.exp(float(np.mean(np.log(size))))))
    number = len(locations)
    return _Candidates(
        np.array(locations).reshape(number, n_columns),
        np.array(factors).reshape(number, n_columns, n_columns),
        np.full(number, np.inf),
    )


def _joined(one: _Candidates, other: _Candidates) -> _Candidates:
    return _Candidates(
        np.concatenate([one.locations, other.locations]),
        np.concatenate([one.factors, other.factors]),
        np.concatenate([one.radii, other.radii]),
    )


def _stepped(
    rows: Matrix, candidates: _Candidates, breakdown: float, steps: int, table: Matrix
) -> _Candidates:
    """Return the candidates after some reweighting steps on rows of the table, block by block."""
    size = max(1, _BLOCK_NUMBERS // rows.size)
    done = candidates.take(slice(0, 0))
    for first in range(0, candidates.radii.size, size):
        block = candidates.take(slice(first, first + size))
        done = _joined(done, _stepped_block(rows, block, breakdown, steps, table))
    return done


def _stepped_block(
    rows: Matrix, block: _Candidates, breakdown: float, steps: int, table: Matrix
) -> _Candidates:
    """Return the block after some steps; radii are those of the last but one step's metric."""
    locations, factors, radii = block.locations, block.factors, block.radii
    for _ in range(steps):
        white = (rows - locations[:, None]) @ np.linalg.inv(factors).transpose(0, 2, 1)
        squared = np.einsum("bij,bij->bi", white, white)
        guess = radii if np.isfinite(radii).all() else None
        radii = bisquare_radii(squared, breakdown, guess, _SEARCH_TOLERANCE)
        weights = bisquare_weights(squared, radii[:, None])
        weights /= weights.sum(axis=1, keepdims=True)
        shifts = np.einsum("bi,bij->bj", weights, white)
        white -= shifts[:, None]
        changes = _unit_factors((white * weights[:, :, None]).transpose(0, 2, 1) @ white)
        locations = locations + np.einsum("bij,bj->bi", factors, shifts)
        factors = factors @ changes
        full = np.isfinite(changes[:, 0, 0])
        for lost in np.flatnonzero(~full):
            _reject_hyperplane(rows[weights[lost] > 0], table, breakdown)
        locations, factors, radii = locations[full], factors[full], radii[full]
    return _Candidates(locations, factors, radii)


def _unit_factors(matrices: Matrix) -> Matrix:
    """Return Cholesky factors divided to determinant 1; NaN where a matrix is singular."""
    try:
        factors = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        if matrices.shape[0] == 1:
            return np.full_like(matrices, np.nan)
        return np.concatenate([_unit_factors(matrix[None]) for matrix in matrices])
    pivots = np.diagonal(factors, axis1=1, axis2=2)
    size = np.exp(np.mean(np.log(pivots), axis=1))
    size[pivots.min(axis=1) < _NO_SPREAD * pivots.max(axis=1)] = np.nan
    scaled: Matrix = factors / size[:, None, None]
    return scaled


def _reject_hyperplane(weighted: Matrix, table: Matrix, breakdown: float) -> None:
    """Raise when the hyperplane nearest the rows of weight really holds too much of the table."""
    normal = eigh(np.atleast_2d(np.cov(weighted, rowvar=False)))[1][:, 0]
    allowed = math.ceil(table.shape[0] * (1.0 - breakdown)) - 1
    error = tied_direction_error("s", table, normal, allowed=allowed)
    if error.rows_on_it > allowed:
        raise error


def _canonical_order(unit: Matrix) -> Matrix:
    """Return the rows in an order that neither their own order nor an affine map changes."""
    covariance = np.atleast_2d(np.cov(unit, rowvar=False))
    distances = squared_distances(unit, unit.mean(axis=0), covariance)
    return unit[np.argsort(distances, kind="stable")]


def _number_of_starts(rows: Matrix, asked: int | None) -> int:
    if asked is None:
        affordable = int(_START_BUDGET / (rows.size * rows.shape[1]))
        return min(max(affordable, _FEWEST_STARTS), _MOST_STARTS)
    if asked < 0:
        raise InputError(f"s needs 0 or more random starts: got n_starts={asked}. Leave it out.")
    return asked


def _checked_rows(x: object, breakdown: float) -> Matrix:
    if not 0 < breakdown <= 0.5:
        raise InputError(
            f"s needs a breakdown point above 0 and at most 0.5: got {breakdown}. "
            "The usual value is 0.5."
        )
    matrix = checked(x, "s")
    n_rows, n_columns = matrix.shape
    allowed = math.ceil(n_rows * (1.0 - breakdown)) - 1
    if n_columns > allowed:  # any p rows lie on a hyperplane
        raise InputError(
            f"s needs more than {n_columns / (1.0 - breakdown):g} rows for {n_columns} columns at "
            f"breakdown={breakdown}: got {n_rows}. Drop columns or use a smaller breakdown point."
        )
    tied = np.sum(matrix == np.median(matrix, axis=0), axis=0) > allowed
    if tied.any():
        column = np.eye(n_columns)[int(np.argmax(tied))]
        raise tied_direction_error("s", matrix, column, allowed=allowed)
    return matrix
