"""MM: as robust as the S-estimate it starts from, nearly as efficient as the covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from icsa.errors import InputError, UnknownNameError
from icsa.linalg import cholesky_factor, symmetrize
from icsa.matrices import Vector
from icsa.scatters.base import LocationScatter, checked
from icsa.scatters.reweighting import column_units, reweighted_fixed_point
from icsa.scatters.s_estimate import s
from icsa.scatters.univariate import bisquare_weights, truncated_moment

__all__ = ["MMScatter", "mm"]

# Efficiencies that the search for a cut-off can reach.
_LEAST_EFFICIENCY, _LARGEST_EFFICIENCY = 0.5, 0.9999


@dataclass(frozen=True, eq=False, kw_only=True)
class MMScatter(LocationScatter):
    """The MM-estimate, and the scale that it took over.

    Attributes
    ----------
    scale : float
        det(scatter)^(1/(2p)), that of the initial estimate.
    cutoff : float
        The distance from which on rows have no weight.
    efficiency : float
        Of the shape or the location under normality, whichever was asked for.
    """

    scale: float
    cutoff: float
    efficiency: float


def mm(
    x: object,
    *,
    initial: LocationScatter | None = None,
    efficiency: float = 0.95,
    of: Literal["shape", "location"] = "shape",
    tolerance: float = 1e-10,
    max_iterations: int = 2000,
    random_state: object = None,
) -> MMScatter:
    """Return the bisquare MM-estimate of location and scatter.

    The scale σ = det(C_0)^(1/(2p)) of the initial S-estimate C_0 is kept. Location t and shape V,
    det(V) = 1, are the local minimum of ::

        mean(rho(d_i/c)),    d_i² = (x_i - t)' V^-1 (x_i - t)/σ²,    rho(u) = 1 - (1 - min(u, 1)²)³,

    that reweighting reaches from the initial ones; the scatter is σ² V. The cut-off c gives the
    asked efficiency under normality. The efficiency of the shape of p columns is that of the
    location of p + 2 columns.

    Parameters
    ----------
    x : array-like of shape (n_rows, n_columns)
        The rows, more than twice as many as columns unless `initial` is given.
    initial : LocationScatter, optional
        Where to start and what scale to keep; `s` of the rows by default.
    efficiency : float
        Relative to the mean and covariance, under normality; from 0.5 to 0.9999.
    of : {"shape", "location"}
        Which efficiency is meant. A single column has no shape, so its location is meant.
    tolerance : float
        Largest change, free of units, of location and shape in the last step.
    max_iterations : int
        Limit of the iteration.
    random_state : None, int, bytes or numpy Generator
        Of the initial S-estimate's random starts; None is a fixed seed.

    Returns
    -------
    MMScatter
        `location`, `scatter`, `scale`, `cutoff`, `efficiency`.

    References
    ----------
    Tatsuoka, K. S. and Tyler, D. E. (2000). On the uniqueness of S-functionals and M-functionals
    under nonelliptical distributions. Annals of Statistics 28, 1219-1243.

    Examples
    --------
    >>> rows = np.random.default_rng(1).normal(size=(100, 2))
    >>> rows[:30] += 50.0
    >>> estimate = mm(rows)
    >>> bool(np.all(np.abs(estimate.location) < 0.5)), bool(estimate.scale < 1.5)
    (True, True)
    """
    matrix = checked(x, "mm")
    n_columns = matrix.shape[1]
    _check_options(initial, efficiency, of, n_columns)
    if initial is None:
        initial = s(matrix, tolerance=tolerance, random_state=random_state)
    as_location_of = n_columns + 2 if of == "shape" and n_columns > 1 else n_columns
    cutoff = _efficient_cutoff(as_location_of, efficiency)
    centre, spread = column_units(matrix)
    factor = cholesky_factor(initial.scatter) / spread[:, None]
    scale = math.exp(float(np.mean(np.log(np.diagonal(factor)))))
    squared_radius = (cutoff * scale) ** 2

    def weigh(squared: Vector) -> Vector:
        return bisquare_weights(squared, squared_radius)

    location, shape, iterations = reweighted_fixed_point(
        (matrix - centre) / spread,
        (initial.location - centre) / spread,
        factor / scale,
        weigh,
        "mm",
        tolerance,
        max_iterations,
    )
    half = spread[:, None] * shape * scale
    return MMScatter(
        location=centre + spread * location,
        scatter=symmetrize(half @ half.T),
        iterations=iterations,
        scale=scale * math.exp(float(np.mean(np.log(spread)))),
        cutoff=cutoff,
        efficiency=efficiency,
    )


@cache
def _efficient_cutoff(n_columns: int, efficiency: float) -> float:
    """Return the cut-off at which the bisquare location of normal rows has the efficiency.

    With ψ(r) = r (1 - r²/c²)² inside c, the efficiency is β²/α where α = E[ψ(r)²]/p and
    β = E[(1 - 1/p) ψ(r)/r + ψ'(r)/p].
    """

    def excess(cutoff: float) -> float:
        square = cutoff * cutoff

        def expected(coefficients: tuple[float, ...], lowest: int = 0) -> float:
            """Return E[r^(2 lowest) sum_k a_k (r²/c²)^k; r < c]."""
            return sum(
                a * truncated_moment(lowest + k, n_columns, square) / square**k
                for k, a in enumerate(coefficients)
            )

        alpha = expected((1, -4, 6, -4, 1), lowest=1) / n_columns
        beta = (1 - 1 / n_columns) * expected((1, -2, 1)) + expected((1, -6, 5)) / n_columns
        return beta * beta / alpha - efficiency

    root = math.sqrt(n_columns)
    return float(brentq(excess, 0.8 * root, 100.0 * root, xtol=1e-13))


def _check_options(
    initial: LocationScatter | None, efficiency: float, of: str, n_columns: int
) -> None:
    if not _LEAST_EFFICIENCY <= efficiency <= _LARGEST_EFFICIENCY:
        raise InputError(
            f"mm needs an efficiency from {_LEAST_EFFICIENCY} to {_LARGEST_EFFICIENCY}: "
            f"got {efficiency}. The usual value is 0.95."
        )
    if of not in ("location", "shape"):
        raise UnknownNameError("efficiency", of, ("location", "shape"))
    if initial is not None and initial.scatter.shape != (n_columns, n_columns):
        raise InputError(
            f"mm needs an initial estimate of the same {n_columns} columns: got one of "
            f"{initial.scatter.shape[0]}. Compute it from the same table."
        )
