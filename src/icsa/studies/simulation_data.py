"""The data sets of the simulation: predictors, a response, and rows that stand out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.matrices import Matrix, Vector

__all__ = ["DataSet", "draw_data"]

# Standard deviation of the noise on an outlier's shift.
_SHIFT_NOISE = 0.4
# Share of the rows that the second scenario shifts.
_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table of predictors and response (last column), the true coefficients, the outliers."""

    table: Matrix
    coefficients: Vector
    outliers: np.ndarray


def draw_data(
    scenario: int, n: int, columns: int, severity: float, generator: np.random.Generator
) -> DataSet:
    """Return one data set of the simulation.

    y = X beta + N(0, 1), beta_j = (-1)^(j+1) / sqrt(j), p = columns - 1 predictors. Scenario 1: X
    is normal with variances p, p - 1, ..., 1, and the last row's y is shifted. Scenario 2: X is
    normal with covariance Q L Q', Q uniformly random, L the descending (p - j + 1)/p + U(0, .05),
    and the y of a random tenth of the rows is shifted. A shift is severity + N(0, .4^2).

    Examples
    --------
    >>> data = draw_data(1, 20, 4, 16.0, np.random.default_rng(0))
    >>> data.table.shape, data.outliers, data.coefficients.round(3)
    ((20, 4), array([19]), array([ 1.   , -0.707,  0.577]))
    """
    p = columns - 1
    order = np.arange(1, p + 1)
    coefficients = (-1.0) ** (order + 1) / np.sqrt(order)
    if scenario == 1:
        x = generator.normal(size=(n, p)) * np.sqrt(order[::-1])
        outliers = np.array([n - 1])
    else:
        spread = np.sort((p - order + 1) / p + generator.uniform(0.0, 0.05, size=p))[::-1]
        # The signs of R's diagonal make the orthogonal factor uniform (Mezzadri 2007).
        q, r = np.linalg.qr(generator.normal(size=(p, p)))
        x = (generator.normal(size=(n, p)) * np.sqrt(spread)) @ (q * np.sign(np.diagonal(r))).T
        count = max(1, round(_SHARE * n))
        outliers = np.sort(generator.choice(n, size=count, replace=False))
    y = x @ coefficients + generator.normal(size=n)
    y[outliers] += severity + _SHIFT_NOISE * generator.normal(size=outliers.size)
    return DataSet(np.column_stack([x, y]), coefficients, outliers)
