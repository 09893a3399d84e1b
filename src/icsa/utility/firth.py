"""Logistic regression by Firth's penalised likelihood, which exists where the usual one does not.

Where predictors tell some values of the response without error, the likelihood has no maximum.
With half the logarithm of the information's determinant added to it, it has one [1]_ [2]_.

References
----------
.. [1] D. Firth (1993). Bias reduction of maximum likelihood estimates. Biometrika 80, 27-38.
.. [2] G. Heinze, M. Schemper (2002). A solution to the problem of separation in logistic
   regression. Statistics in Medicine 21, 2409-2419.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize, special

from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.utility.chance import LIMIT

__all__ = ["FirthFit", "firth_logistic"]

# Of the squared distance from the maximum, in standard errors: far above rounding, and below what
# matters.
_SMALL = 1e-7


@dataclass(frozen=True, eq=False)
class FirthFit:
    """Coefficients and their standard errors."""

    params: Vector
    bse: Vector

    def conf_int(self, _alpha: float = 0.05) -> Matrix:
        """Return normal 95% intervals, a row each."""
        half = LIMIT * self.bse
        return np.column_stack([self.params - half, self.params + half])


def firth_logistic(design: Matrix, response: Vector) -> FirthFit | NotEstimable:
    """Return the maximum of log-likelihood + log det(information) / 2.

    Its score is X'(y - p + h (1/2 - p)), h the leverages of the weighted rows.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_coefficients)
        Of full rank.
    response : ndarray of shape (n_rows,)
        0 and 1.

    Examples
    --------
    With an intercept alone p is (events + 1/2) / (rows + 1): here 4.5 / 5, log odds log 9.

    >>> found = firth_logistic(np.ones((4, 1)), np.ones(4))
    >>> bool(np.isclose(found.params[0], np.log(9.0)))
    True
    """
    # The penalty does not depend on the coordinates: orthonormal ones make every step well scaled.
    basis, triangle = np.linalg.qr(design)

    def downhill(place: Vector) -> tuple[float, Vector]:
        value, score, _ = _at(basis, response, place)
        return -value, -score

    found = optimize.minimize(downhill, np.zeros(design.shape[1]), jac=True, method="BFGS")
    value, score, information = _at(basis, response, found.x)
    if not np.isfinite(value) or score @ linalg.solve(information, score) > _SMALL:
        return NotEstimable("Firth's likelihood did not converge")
    inverse = linalg.solve_triangular(triangle, np.eye(found.x.size))
    covariance = inverse @ linalg.inv(information) @ inverse.T
    return FirthFit(inverse @ found.x, np.sqrt(np.diag(covariance)))


def _at(basis: Matrix, response: Vector, place: Vector) -> tuple[float, Vector, Matrix]:
    """Return the penalised log-likelihood, its score and the information at some coefficients."""
    eta = basis @ place
    chance = special.expit(eta)
    weighted = basis * np.sqrt(chance * (1.0 - chance))[:, None]
    information = weighted.T @ weighted
    sign, log_determinant = np.linalg.slogdet(information)
    if sign <= 0.0 or not np.isfinite(log_determinant):
        return -np.inf, np.zeros_like(place), information
    leverage = np.sum(weighted * linalg.solve(information, weighted.T, assume_a="pos").T, axis=1)
    likelihood = float(np.sum(response * eta - np.logaddexp(0.0, eta)))
    score = basis.T @ (response - chance + leverage * (0.5 - chance))
    return likelihood + 0.5 * float(log_determinant), score, information
