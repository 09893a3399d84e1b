"""Your analysis, on the original and on the release: regressions by formula, or any function.

Regressions need the extra ``models``: statsmodels, formulaic and pandas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from icsa.errors import InputError, UnknownNameError
from icsa.measures import NotEstimable
from icsa.utility.estimates import AnalysisComparison, Estimated, Outcome, compare_estimates
from icsa.utility.fits import Family, fit
from icsa.utility.formulas import read_formula
from icsa.utility.frames import as_pandas, model_data, with_common_levels

__all__ = ["Analysis", "Choice", "fit_models", "run_analysis"]

Analysis: TypeAlias = Callable[[Any], Mapping[str, tuple[float, float]]]
Choice: TypeAlias = Literal["auto", "least squares", "logistic", "poisson"]


def fit_models(
    original: Any, released: Any, formula: str, *, family: Choice = "auto"
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
        Of pandas, or anything with a method ``to_pandas`` (polars, pyarrow).
    formula : str
        See `icsa.utility.formulas.read_formula`.
    family : "auto", "least squares", "logistic" or "poisson"

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
    frames = as_pandas(original, "original"), as_pandas(released, "release")
    asked = read_formula(formula, [str(name) for name in frames[0].columns])
    for name in asked.columns:
        if name not in frames[1].columns:
            raise InputError(
                f"Column {name!r} of the formula is in the original but not in the release. "
                "Leave it out of the formula."
            )
    if asked.time and family != "auto":
        raise InputError(f"A survival model has no other family: got {family!r}. Leave it out.")
    tables = with_common_levels(frames[0][list(asked.columns)], frames[1][list(asked.columns)])
    first, second = model_data(*tables, asked, family)
    if isinstance(first, NotEstimable):
        raise _unusable(asked.text, first)
    outcomes = fit(first)
    if isinstance(outcomes, NotEstimable):
        raise _unusable(asked.text, outcomes)
    found = second if isinstance(second, NotEstimable) else fit(second)
    released_outcomes: Mapping[str, Outcome] = (
        dict.fromkeys(outcomes, found) if isinstance(found, NotEstimable) else found
    )
    return compare_estimates(
        asked.text,
        outcomes,
        released_outcomes,
        n_original=first.response.size,
        n_released=max(
            1, len(frames[1]) if isinstance(second, NotEstimable) else second.response.size
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


_METHODS: dict[Family, str] = {
    "least squares": "least squares",
    "logistic": "logistic",
    "poisson": "Poisson",
    "cox": "Cox",
}


def _unusable(formula: str, why: NotEstimable) -> InputError:
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
