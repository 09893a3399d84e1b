"""Your analysis, on the original and on the release: regressions by formula, or any function.

Regressions need the extra ``models``: statsmodels, formulaic and pandas.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import linalg

from icsa.correlations import varies
from icsa.errors import InputError, UnknownNameError
from icsa.matrices import Matrix
from icsa.measures import NotEstimable
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome, compare_estimates
from icsa.utility.firth import firth_logistic
from icsa.utility.formulas import library, read_formula
from icsa.utility.model_data import (
    Family,
    ModelData,
    both_frames,
    column_names,
    model_data,
    with_common_levels,
)

__all__ = ["Analysis", "Choice", "fit", "fit_models", "run_analysis", "unusable"]

Analysis: TypeAlias = Callable[[Any], Mapping[str, tuple[float, float]]]
Choice: TypeAlias = Literal["auto", "least squares", "logistic", "poisson"]

# A column whose part that is orthogonal to the others is smaller than this depends on them.
_LEAST_SINE = 1e-9


def fit_models(
    original: Any,
    released: Any,
    formula: str,
    *,
    family: Choice = "auto",
    bias_reduced: bool = False,
) -> AnalysisComparison:
    """Return a regression's coefficients on both tables, side by side.

    Two values of the response in the original (0 and 1, False and True, or two labels, of which the
    later one in their order is the event) are a logistic regression. Whole numbers from 0 on, with
    at most 30 different values, are counts: a Poisson regression. Other numbers are least squares.
    ``surv(time, status) ~ ...`` is Cox's regression, with Efron's way with ties; status is 1 or
    True for an event and 0 or False for a censored time.

    Rows with a missing cell in the formula's columns are left out. Texts are categories, with the
    first level in their order as the reference; dates count as days. Transformations that depend on
    the data (``center``, ``scale``, ``bs``, ``poly``) are those of the original on both tables, so
    that coefficients mean the same.

    Parameters
    ----------
    original, released : data frame
        Of pandas, polars or pyarrow; only the columns of the formula are read.
    formula : str
        See `icsa.utility.formulas.read_formula`.
    family : "auto", "least squares", "logistic" or "poisson"
    bias_reduced : bool
        Whether logistic regressions are Firth's, which exist where predictors separate the
        response.

    Returns
    -------
    AnalysisComparison
        Where the release cannot be fitted its estimates are `NotEstimable`, with the reason. That
        the original cannot be fitted is an error.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> x = np.arange(20.0)
    >>> original = pd.DataFrame({"dose": x, "effect": 3 * x + np.cos(x)})
    >>> released = pd.DataFrame({"dose": x, "effect": 3 * x + np.sin(x)})
    >>> found = fit_models(original, released, "effect ~ dose")
    >>> found.method, found.n_original, found.significance_flips
    ('least squares', 20, 0)
    >>> slope = found.estimates[1]
    >>> slope.name, round(slope.original.value, 2), round(slope.released.value, 2)
    ('dose', 3.0, 2.98)
    """
    if family not in get_args(Choice):
        raise UnknownNameError("family", str(family), get_args(Choice))
    asked = read_formula(formula, column_names(original, "original"))
    if asked.time and family != "auto":
        raise InputError(f"A survival model has no other family: got {family!r}. Leave it out.")
    tables = with_common_levels(*both_frames(original, released, asked.columns))
    first, second = model_data(*tables, asked, family)
    if isinstance(first, NotEstimable):
        raise unusable(asked.text, first)
    outcomes = fit(first, bias_reduced=bias_reduced)
    if isinstance(outcomes, NotEstimable):
        raise unusable(asked.text, outcomes)
    found = second if isinstance(second, NotEstimable) else fit(second, bias_reduced=bias_reduced)
    released_outcomes: Mapping[str, Outcome] = (
        dict.fromkeys(outcomes, found) if isinstance(found, NotEstimable) else found
    )
    return compare_estimates(
        asked.text,
        outcomes,
        released_outcomes,
        n_original=first.response.size,
        n_released=max(
            1, len(tables[1]) if isinstance(second, NotEstimable) else second.response.size
        ),
        method=_METHODS[first.family],
    )


def run_analysis(
    original: Any, released: Any, analysis: Analysis, *, name: str
) -> AnalysisComparison:
    """Return the named estimates of any analysis on both tables, side by side.

    Parameters
    ----------
    original, released : object
        Given to `analysis` as they are.
    analysis : callable
        From a table to a mapping of names to (estimate, standard error).
    name : str
        What to call it.

    Examples
    --------
    >>> import numpy as np
    >>> def mean(x):
    ...     return {"mean": (x.mean(), x.std(ddof=1) / len(x) ** 0.5)}
    >>> found = run_analysis(np.arange(9.0), np.arange(9.0) + 1.0, mean, name="mean")
    >>> print(found.error)
    1.10
    """
    return compare_estimates(
        name,
        _estimates(analysis, original, name, "original"),
        _estimates(analysis, released, name, "release"),
        n_original=len(original),
        n_released=len(released),
    )


def fit(data: ModelData, *, bias_reduced: bool = False) -> dict[str, Outcome] | NotEstimable:
    """Return every coefficient with its standard error and 95% interval.

    Columns that are 0 throughout (a level that no row has) are left out and not estimable. Logistic
    regressions are Firth's where `bias_reduced` is true.
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
    firth = bias_reduced and data.family == "logistic"
    fitted: Any = firth_logistic(design, data.response) if firth else _fitted(data, design)
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


def unusable(formula: str, why: NotEstimable) -> InputError:
    """Return the error of a model that the original does not allow."""
    return InputError(
        f"The model {formula!r} cannot be fitted to the original: {why.reason}. Change the formula."
    )


def _estimates(analysis: Analysis, table: Any, name: str, which: str) -> dict[str, Outcome]:
    try:
        found = {
            str(key): (float(pair[0]), float(pair[1])) for key, pair in analysis(table).items()
        }
    except Exception as error:
        # the error's own text may hold a cell
        raise InputError(
            f"The analysis {name!r} failed on the {which} ({type(error).__name__}). It must return "
            "a mapping of names to (estimate, standard error). Run it alone to see more."
        ) from None
    if not found:
        raise InputError(f"The analysis {name!r} returned no estimate for the {which}.")
    return {key: _outcome(*pair) for key, pair in found.items()}


def _outcome(value: float, standard_error: float) -> Outcome:
    if not (math.isfinite(value) and math.isfinite(standard_error)) or standard_error < 0.0:
        return NotEstimable("the analysis gave no finite estimate with a standard error")
    return Estimated.of(value, standard_error)


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


_METHODS: dict[Family, str] = {
    "least squares": "least squares",
    "logistic": "logistic",
    "poisson": "Poisson",
    "cox": "Cox",
}
