"""Who we are compared with: R packages in a running R, scikit-learn, textbook loops in NumPy."""

from __future__ import annotations

import functools
import shutil
import warnings

import numpy as np
import numpy.typing as npt

from benchmarks.data import Table
from benchmarks.r_server import RServer
from benchmarks.timing import Timing

__all__ = [
    "Glmnet",
    "Robustbase",
    "glmnet",
    "plain_hr",
    "plain_tyler",
    "robustbase",
    "sklearn_lasso",
    "sklearn_mcd_rows",
]

Rows = npt.NDArray[np.integer]
Vector = npt.NDArray[np.float64]


class Robustbase(RServer):
    """An R with robustbase that times covMcd."""

    def time_mcd(self, alpha: float, calls: int) -> Timing:
        """Return the seconds that a call of covMcd takes, by default with 500 starts."""
        return self._timing("mcd", alpha, calls, self._path("best"))

    def best_rows(self) -> Rows:
        """Return the row numbers of the last call's best subset."""
        return np.fromfile(self._path("best"), dtype=np.int32)

    def fitted_mcd(self, alpha: float, seed: int) -> tuple[Vector, Table]:
        """Return centre and scatter of covMcd, started after a seed."""
        self._ask("fit", alpha, seed, self._path("fit"))
        values = np.fromfile(self._path("fit"))
        p = round(((1 + 4 * values.size) ** 0.5 - 1) / 2)
        return values[:p], values[p:].reshape(p, p)


class Glmnet(RServer):
    """An R with glmnet that times cv.glmnet of the last column on the others."""

    def give_folds(self, folds: Rows) -> None:
        """Hand over the fold of every row."""
        folds.astype(np.int32).tofile(self._path("folds"))
        self._ask("folds", self._path("folds"))

    def time_lasso(self, calls: int) -> Timing:
        """Return the seconds that a call of cv.glmnet takes."""
        return self._timing("lasso", calls, self._path("coefficients"))

    def coefficients(self) -> Vector:
        """Return the last call's coefficients at the lambda of least error, no intercept."""
        return np.fromfile(self._path("coefficients"))[1:]


@functools.cache
def robustbase() -> Robustbase | None:
    """Return the running R with robustbase, None where either is not installed."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    try:
        server = Robustbase(rscript, "peer.R", "robustbase")
    except (OSError, RuntimeError):
        return None
    server.give(np.random.default_rng(0).normal(size=(40, 3)))
    server.time_mcd(0.5, 5)  # R compiles functions at their second call
    return server


@functools.cache
def glmnet() -> Glmnet | None:
    """Return the running R with glmnet, None where either is not installed."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    try:
        server = Glmnet(rscript, "peer_glmnet.R", "glmnet")
    except (OSError, RuntimeError):
        return None
    server.give(np.random.default_rng(0).normal(size=(40, 4)))
    server.give_folds(np.arange(40) % 10)
    server.time_lasso(5)  # R compiles functions at their second call
    return server


def sklearn_lasso(x: Table, y: Vector, folds: Rows) -> Vector:
    """Return LassoCV's coefficients on predictors scaled once, with the given folds."""
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import PredefinedSplit

    scale = x.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = LassoCV(eps=1e-4, alphas=100, cv=PredefinedSplit(folds)).fit(
            (x - x.mean(axis=0)) / scale, y
        )
    coefficients: Vector = fit.coef_ / scale
    return coefficients


def sklearn_mcd_rows(x: Table, h: int) -> Rows:
    """Return the rows of MinCovDet's raw subset of h rows."""
    from sklearn.covariance import MinCovDet

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MinCovDet(support_fraction=(h + 0.5) / x.shape[0], random_state=0).fit(x)
    return np.flatnonzero(fit.raw_support_)


def plain_tyler(x: Table, tolerance: float, max_iterations: int = 10_000) -> Table:
    """Return Tyler's shape around the mean by V <- p mean(r r' / r' V^-1 r), determinant one."""
    n, p = x.shape
    centred = x - x.mean(axis=0)
    shape: Table = np.cov(x.T)
    for _ in range(max_iterations):
        factor = np.linalg.cholesky(shape)
        y = np.linalg.solve(factor, centred.T)
        u = y / np.sqrt(np.square(y).sum(axis=0))
        step = p / n * (u @ u.T)
        shape = factor @ step @ factor.T
        shape /= np.linalg.det(shape) ** (1 / p)
        if np.linalg.norm(step - np.eye(p)) <= tolerance * np.sqrt(p):
            return shape
    raise RuntimeError("The plain Tyler loop did not converge.")


def plain_hr(x: Table, tolerance: float, max_iterations: int = 10_000) -> tuple[Vector, Table]:
    """Return the Hettmansperger-Randles location and shape by turns of their two equations."""
    n, p = x.shape
    location, shape = x.mean(axis=0), np.cov(x.T)
    for _ in range(max_iterations):
        factor = np.linalg.cholesky(shape)
        y = np.linalg.solve(factor, (x - location).T)
        length = np.sqrt(np.square(y).sum(axis=0))
        u = y / length
        pull, step = u.mean(axis=1), p / n * (u @ u.T)
        location = location + factor @ pull / np.mean(1 / length)
        shape = factor @ step @ factor.T
        shape /= np.linalg.det(shape) ** (1 / p)
        scatter_residual = np.linalg.norm(step - np.eye(p)) / np.sqrt(p)
        # The solver of icsa measures the pull with weights sqrt(p)/|y|.
        if max(scatter_residual, np.sqrt(p) * np.linalg.norm(pull)) <= tolerance:
            return location, shape
    raise RuntimeError("The plain Hettmansperger-Randles loop did not converge.")
