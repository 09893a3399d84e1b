"""Symmetrised scatters: M-estimates of the differences between all pairs of rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import chdtr, chdtri

from icsa.compilation import kernel
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.fixed_point import (
    MAX_ITERATIONS,
    TOLERANCE,
    Evaluate,
    Move,
    Solution,
    UnsolvedError,
    solve,
)
from icsa.scatters.nonexistence import nonexistence
from icsa.scatters.tyler_shape import unit_factor
from icsa.scatters.weighting import finish
from icsa.scatters.whitening import centred, factor_of, whitened

__all__ = ["duembgen", "symm_huber"]

# Up to this many rows all pairs are used; beyond it, each row meets so many others.
_ALL_PAIRS_ROWS = 20_000
_PAIRS_PER_ROW = 64

# Differences that are held at a time: they stay in the cache.
_BLOCK = 1 << 12


def duembgen(
    x: Matrix,
    *,
    pairs_per_row: int | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LocationScatter:
    """Return the mean and Dümbgen's shape: Tyler's of the differences between rows.

    It needs no location, and is diagonal for independent columns.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.
    pairs_per_row : int, optional
        Use an incomplete set of pairs: the rows are put into a random cyclic order, always the
        same for the same table, and each is paired with the next `pairs_per_row`. By default all
        n (n - 1)/2 pairs up to 20,000 rows, and 64 per row beyond.
    tolerance : float
        Largest departure from the equation below, in whitened coordinates.
    max_iterations : int
        Substitutions allowed.

    Returns
    -------
    LocationScatter
        The column means, and the V with det V = 1 and p mean(u_ij u_ij') = I over pairs i < j of
        rows that are not equal, where u_ij is V^(-1/2) (x_i - x_j) scaled to length one.

    Raises
    ------
    ExactFitError
        When so many rows lie on one plane that V does not exist.
    ConvergenceError
        When the equation does not hold after `max_iterations` substitutions.

    References
    ----------
    Dümbgen, L. (1998). On Tyler's M-functional of scatter in high dimension. Annals of the
    Institute of Statistical Mathematics 50.

    Examples
    --------
    >>> square = [[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]]
    >>> duembgen(square).scatter.round(9) + 0.0
    array([[2. , 0. ],
           [0. , 0.5]])
    """
    matrix = checked(x, "duembgen")
    p = matrix.shape[1]
    mean, rows = centred(matrix)
    solution = _solve_pairs(
        "duembgen",
        mean,
        rows,
        (float(p), 0.0),
        (p + 2) / p,
        pairs_per_row,
        tolerance,
        max_iterations,
    )
    root = unit_factor(solution.factor)
    return LocationScatter(mean, root @ root.T, solution.iterations)


def symm_huber(
    x: Matrix,
    *,
    quantile: float = 0.9,
    pairs_per_row: int | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LocationScatter:
    """Return the mean and the symmetrised Huber M-estimate of scatter.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The table; more rows than columns.
    quantile : float
        The share of pairs that get full weight when the data are normal, between 0 and 1.
    pairs_per_row, tolerance, max_iterations
        As in `duembgen`.

    Returns
    -------
    LocationScatter
        The column means, and the S with mean(w_ij (x_i - x_j)(x_i - x_j)') = S over pairs i < j
        of rows that are not equal. With d_ij = (x_i - x_j)' S^-1 (x_i - x_j) and c^2/2 the
        quantile of chi-square with p degrees of freedom, w_ij = 1/s^2 up to d_ij = c^2 and
        c^2/(d_ij s^2) beyond; s^2 makes S the covariance of normal data.

    Raises
    ------
    ExactFitError
        When so many rows lie on one plane that S does not exist.
    ConvergenceError
        When the equation does not hold after `max_iterations` substitutions.

    References
    ----------
    Sirkiä, S., Taskinen, S., Oja, H. (2007). Symmetrised M-estimators of multivariate scatter.
    Journal of Multivariate Analysis 98.

    Examples
    --------
    >>> square = [[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]]
    >>> scatter = symm_huber(square).scatter
    >>> float(round(scatter[0, 0] / scatter[1, 1], 9))
    4.0
    """
    if not 0.0 < quantile < 1.0:
        raise InputError(f"symm_huber needs a quantile between 0 and 1: got quantile={quantile}.")
    matrix = checked(x, "symm_huber")
    p = matrix.shape[1]
    cut = 2.0 * float(chdtri(p, 1.0 - quantile))
    scale = 2.0 * float(chdtr(p + 2, cut / 2.0)) + cut / p * (1.0 - quantile)
    mean, rows = centred(matrix)
    solution = _solve_pairs(
        "symm_huber",
        mean,
        rows,
        (cut / scale, cut),
        1.0 / (1.0 - 2.0 * (1.0 - quantile) * cut / scale / (p * (p + 2))),
        pairs_per_row,
        tolerance,
        max_iterations,
    )
    return LocationScatter(mean, solution.factor @ solution.factor.T, solution.iterations)


def _solve_pairs(
    name: str,
    mean: Vector,
    rows: Matrix,
    weight: tuple[float, float],
    gain: float,
    pairs_per_row: int | None,
    tolerance: float,
    max_iterations: int,
) -> Solution:
    """Return the M-estimate of scatter of differences with weights w(d) = top / max(floor, d)."""
    p, n = rows.shape
    if pairs_per_row is not None and pairs_per_row < 1:
        raise InputError(f"{name} needs at least one pair per row: got {pairs_per_row}.")
    start = factor_of(rows, mean, name)
    if pairs_per_row is None and n > _ALL_PAIRS_ROWS:
        pairs_per_row = _PAIRS_PER_ROW
    pairs = n * (n - 1) // 2
    if pairs_per_row is not None and pairs_per_row * n < pairs:
        pairs = pairs_per_row * n
        rows = rows[:, _cyclic_order(rows, start)]
    # Equal rows must stay equal after whitening, so each distinct row is whitened once.
    distinct, copies = np.unique(rows.T, axis=0, return_inverse=True)
    step = _pair_substitution(copies.ravel(), pairs, *weight)
    distinct_rows = np.ascontiguousarray(distinct.T)
    try:
        return solve(
            distinct_rows,
            step,
            np.zeros(p),
            start,
            gains=(1.0, gain),
            tolerance=tolerance,
            max_iterations=max_iterations,
        )
    except UnsolvedError as unsolved:
        # top bounds w(d) d, so a plane may hold less than this share of the pairs.
        # Of the rows that is its square root.
        raise nonexistence(
            name, rows, start, unsolved, lambda q: math.sqrt(1.0 - (p - q) / weight[0]), affine=True
        ) from None


def _cyclic_order(rows: Matrix, factor: Matrix) -> npt.NDArray[np.intp]:
    """Return a random order that neither reordering nor an affine change of the rows alters."""
    y = whitened(rows, factor)
    by_distance = np.argsort(np.einsum("ji,ji->i", y, y), kind="stable")
    return by_distance[np.random.default_rng(0).permutation(by_distance.size)]


def _pair_substitution(
    copies: npt.NDArray[np.intp], pairs: int, top: float, floor: float
) -> Evaluate:
    """Return the substitution for the first `pairs` pairs of the rows ``base[:, copies]``."""

    def evaluate(base: Matrix, a: Matrix, b: Vector) -> Move:
        p = b.size
        y = np.take(a @ base, copies, axis=1)
        twice = np.concatenate([y, y], axis=1)
        differences = np.empty((p, min(_BLOCK, pairs)))
        sums, squares, location = np.array([0.0, 1.0, 0.0]), np.zeros((p, p)), np.zeros(p)
        for first in range(0, pairs, _BLOCK):
            part = differences[:, : min(_BLOCK, pairs - first)]
            sums[2] += _weighted_differences(twice, first, top, floor, part)
            squares += part @ part.T
        residual = finish(squares, location, sums, False)
        return Move(location, squares, residual)

    return evaluate


@kernel
def _weighted_differences(
    twice: Matrix, first: int, top: float, floor: float, differences: Matrix
) -> int:
    """Fill `differences` with sqrt(w) (y_j - y_i) for pairs from `first` on; return how many count.

    Pair number k is row i = k mod n and the row k div n + 1 places after it in cyclic order; the
    first n (n - 1)/2 are all pairs, each once. `twice` holds the rows twice, so that no place
    wraps around.
    """
    p, count = differences.shape
    n = twice.shape[1] // 2
    squared = np.zeros(count)
    done = 0
    while done < count:
        shift, i = (first + done) // n + 1, (first + done) % n
        run = min(n - i, count - done)
        for j in range(p):
            for k in range(run):
                difference = twice[j, i + shift + k] - twice[j, i + k]
                differences[j, done + k] = difference
                squared[done + k] += difference * difference
        done += run
    used = 0
    for k in range(count):
        if squared[k] > 0.0 or floor > 0.0:
            used += 1
            squared[k] = math.sqrt(top / max(floor, squared[k]))
    for j in range(p):
        for k in range(count):
            differences[j, k] *= squared[k]
    return used
