"""One regression of one table, through statsmodels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import linalg

from icsa.correlations import varies
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.utility.estimates import Estimated, Outcome
from icsa.utility.formulas import library

__all__ = ["Family", "ModelData", "fit"]

Family: TypeAlias = Literal["least squares", "logistic", "poisson", "cox"]

# A column whose part that is orthogonal to the others is smaller than this depends on them.
_LEAST_SINE = 1e-9


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class ModelData:
    """Response and design of one table.

    Attributes
    ----------
    family : "least squares", "logistic", "poisson" or "cox"
    names : tuple of str
        Of the design's columns.
    design : ndarray of shape (n_rows, n_columns)
    response : ndarray of shape (n_rows,)
        For Cox's model the times.
    status : ndarray of shape (n_rows,), optional
        1 for an event, 0 for a censored time.
    """

    family: Family
    names: tuple[str, ...]
    design: Matrix
    response: Vector
    status: Vector | None = None

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<{self.family} model of {self.response.size} rows, {len(self.names)} columns>"


def fit(data: ModelData) -> dict[str, Outcome] | NotEstimable:
    """Return every coefficient with its standard error and 95% interval.

    Columns that are 0 throughout (a level that no row has) are left out and not estimable.
    Intervals are Student's for least squares and normal for the other families.

    Examples
    --------
    The residuals have squares of sum .75 and two degrees of freedom, sum (x - 1)^2 = 2: the
    standard error of the slope is sqrt(.75 / 2 / 2).

    >>> x = np.array([0.0, 1.0, 1.0, 2.0])
    >>> design = np.column_stack([np.ones(4), x])
    >>> data = ModelData("least squares", ("Intercept", "x"), design, np.array([1.0, 3, 4, 5]))
    >>> found = fit(data)
    >>> round(found["x"].value, 6), round(found["x"].standard_error, 6)
    (2.0, 0.433013)
    """
    used = np.flatnonzero(data.design.any(axis=0))
    design = data.design[:, used]
    reason = _why_not(data, design, [data.names[position] for position in used])
    if reason is not None:
        return reason
    fitted = _fitted(data, design)
    if isinstance(fitted, NotEstimable):
        return fitted
    if data.family == "least squares" and fitted.ssr <= _LEAST_SINE**2 * fitted.uncentered_tss:
        return NotEstimable("the response is an exact function of the predictors")
    outcomes: dict[str, Outcome] = dict.fromkeys(data.names, NotEstimable("no row has this level"))
    intervals = np.asarray(fitted.conf_int(0.05), dtype=np.float64)
    values, errors = (np.asarray(found, dtype=np.float64) for found in (fitted.params, fitted.bse))
    for place, position in enumerate(used):
        numbers = (values[place], errors[place], *intervals[place])
        if not np.isfinite(numbers).all():
            return NotEstimable("the fit has no finite standard errors")
        outcomes[data.names[position]] = Estimated(*(float(number) for number in numbers))
    return outcomes


def _why_not(data: ModelData, design: Matrix, names: list[str]) -> NotEstimable | None:
    n, k = design.shape
    if not k:
        return NotEstimable("the formula has no predictor that varies")
    if n <= k:
        return NotEstimable(f"{k} coefficients need more rows: got {n} without missing cells")
    if data.family == "logistic" and data.response.min() == data.response.max():
        return NotEstimable("the response has one value only")
    if data.family != "cox" and data.response.min() == data.response.max():
        return NotEstimable("the response is constant")
    if data.family == "cox":
        varying = varies(design)
        if not varying.all():
            return NotEstimable(f"the term {names[int(varying.argmin())]!r} is constant")
        design = design - design.mean(axis=0)
    norms = np.linalg.norm(design, axis=0)
    triangle, order = linalg.qr(design / norms, mode="r", pivoting=True)
    weak = np.abs(np.diag(triangle[:k])) < _LEAST_SINE
    if weak.any():
        listed = ", ".join(repr(names[position]) for position in sorted(order[weak]))
        return NotEstimable(f"the model is singular: {listed} depend(s) on the other terms exactly")
    return None


def _fitted(data: ModelData, design: Matrix) -> Any:
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            fitted = _FITS[data.family](data, design)
        except np.linalg.LinAlgError:
            return NotEstimable("the information matrix is singular")
        except Exception as error:
            if type(error).__name__ != "PerfectSeparationError":
                raise
            return NotEstimable(_SEPARATION)
    names = {warning.category.__name__ for warning in caught}
    if "PerfectSeparationWarning" in names:
        return NotEstimable(_SEPARATION)
    if {"ConvergenceWarning", "HessianInversionWarning"} & names:
        return NotEstimable("the fit did not converge; a term may separate the response")
    return fitted


_SEPARATION = "the predictors tell some values of the response without error (separation)"


def _least_squares(data: ModelData, design: Matrix) -> Any:
    return library("statsmodels.regression.linear_model").OLS(data.response, design).fit()


def _logistic(data: ModelData, design: Matrix) -> Any:
    model = library("statsmodels.discrete.discrete_model").Logit(data.response, design)
    return model.fit(disp=False, maxiter=100)


def _poisson(data: ModelData, design: Matrix) -> Any:
    families = library("statsmodels.genmod.families")
    linear = library("statsmodels.genmod.generalized_linear_model")
    return linear.GLM(data.response, design, family=families.Poisson()).fit()


def _cox(data: ModelData, design: Matrix) -> Any:
    hazards = library("statsmodels.duration.hazard_regression")
    model = hazards.PHReg(data.response, design, status=data.status, ties="efron")
    return model.fit(disp=False)


_FITS = {
    "least squares": _least_squares,
    "logistic": _logistic,
    "poisson": _poisson,
    "cox": _cox,
}
