"""Models and figures of tables with several rows a person, by statsmodels: estimates and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from patsy import dmatrices, dmatrix
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.regression.mixed_linear_model import MixedLM

from icsa.utility.estimates import Estimated, Outcome

__all__ = [
    "Model",
    "at_first_rows",
    "cox_at_baseline",
    "cox_over_time",
    "lag_1",
    "mixed_model",
    "regression",
    "rows_a_unit",
    "share_between",
    "weighted_mean",
    "weighted_regression",
]


# A standard error of standardised columns beyond which a fit has failed without saying so.
_FAR = 100.0


@dataclass(frozen=True)
class Model:
    """A model by name: of a table, every coefficient with its error but the intercept."""

    name: str
    fit: Callable[[pd.DataFrame], dict[str, Outcome]]


def mixed_model(formula: str, unit: str, random: str = "1") -> Model:
    """Return a linear mixed model with random terms of each unit."""

    def fit(frame: pd.DataFrame) -> dict[str, Outcome]:
        needed = frame.dropna(subset=_columns_in(f"{formula} + {random}", frame))
        response, design = dmatrices(formula, needed, return_type="dataframe")
        spread = np.sqrt((design**2).mean())  # an optimiser goes astray with different sizes
        size = float(response.iloc[:, 0].std())
        effects = dmatrix(random, needed)
        model = MixedLM(
            response.iloc[:, 0].to_numpy() / size,
            (design / spread).to_numpy(),
            groups=pd.factorize(needed[unit])[0],
            exog_re=np.asarray(effects) / np.sqrt(np.mean(np.square(effects), axis=0)),
        )
        ways = ("lbfgs", "powell", "bfgs")  # the last is slow where it fails
        best = next((f for way in ways if (f := _optimum(model, way)) is not None), None)
        if best is None:
            return {}
        values = pd.Series(best.fe_params, design.columns) * size / spread
        return _outcomes(values, pd.Series(best.bse_fe, design.columns) * size / spread)

    return Model(f"{formula} + ({random} | {unit})", fit)


def _optimum(model: MixedLM, way: str) -> Any:
    """Return a fit with errors that can be; None for others."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = model.fit(method=way, maxiter=200)
        except (np.linalg.LinAlgError, ValueError):
            return None
    usable = found.converged and np.isfinite(found.bse_fe).all() and found.bse_fe.max() < _FAR
    return found if usable else None


def regression(formula: str, unit: str) -> Model:
    """Return least squares with errors by unit."""

    def fit(frame: pd.DataFrame) -> dict[str, Outcome]:
        needed = frame.dropna(subset=_columns_in(formula, frame))
        groups = pd.factorize(needed[unit])[0]
        found = smf.ols(formula, needed).fit(cov_type="cluster", cov_kwds={"groups": groups})
        return _outcomes(found.params, found.bse)

    return Model(formula, fit)


def cox_at_baseline(terms: str, unit: str, time: str, end: str, event: str) -> Model:
    """Return a Cox model of what each unit's first row says; `event` is an expression."""

    def fit(frame: pd.DataFrame) -> dict[str, Outcome]:
        first = at_first_rows(frame, unit, time)
        first = first.dropna(subset=[*_columns_in(terms, frame), end])
        return _cox(first, terms, first[end], first.eval(event), None)

    return Model(f"Cox at the first row: {terms}", fit)


def cox_over_time(terms: str, unit: str, time: str, end: str, event: str) -> Model:
    """Return a Cox model in which each row's values count until the next row, or the end."""

    def fit(frame: pd.DataFrame) -> dict[str, Outcome]:
        rows = frame.sort_values([unit, time], kind="stable")
        rows = rows.dropna(subset=_columns_in(terms, frame))
        until = rows.groupby(unit)[time].shift(-1)
        last = until.isna()
        until = until.fillna(rows[end])
        kept = until > rows[time]
        happened = (last & rows.eval(event))[kept]
        return _cox(rows[kept], terms, until[kept], happened, rows[time][kept])

    return Model(f"Cox over time: {terms}", fit)


def _cox(
    rows: pd.DataFrame,
    terms: str,
    until: pd.Series,
    event: pd.Series,
    since: pd.Series | None,
) -> dict[str, Outcome]:
    design = dmatrix(f"{terms} - 1", rows, return_type="dataframe")
    spread = design.std(ddof=0)  # Newton's steps go astray with columns of different sizes
    entry = None if since is None else since.to_numpy(dtype=float)
    model = PHReg(
        until.to_numpy(dtype=float),
        ((design - design.mean()) / spread).to_numpy(),
        status=event.to_numpy(dtype=int),
        entry=entry,
        ties="breslow",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(disp=0)
    names = design.columns
    return _outcomes(pd.Series(found.params, names) / spread, pd.Series(found.bse, names) / spread)


def weighted_mean(column: str, weight: str) -> Model:
    """Return a weighted mean, with the error of rows drawn one by one."""

    def fit(frame: pd.DataFrame) -> dict[str, Outcome]:
        known = frame.dropna(subset=[column])
        weights, values = known[weight].to_numpy(float), known[column].to_numpy(float)
        mean = float(weights @ values / weights.sum())
        error = np.sqrt(np.sum((weights * (values - mean)) ** 2)) / weights.sum()
        return {f"mean of {column}": Estimated.of(mean, float(error))}

    return Model(f"weighted mean of {column}", fit)


def weighted_regression(formula: str, weight: str) -> Model:
    """Return weighted least squares with errors that hold for any variances."""

    def fit(frame: pd.DataFrame) -> dict[str, Outcome]:
        needed = frame.dropna(subset=_columns_in(formula, frame))
        found = smf.wls(formula, needed, weights=needed[weight]).fit(cov_type="HC1")
        return _outcomes(found.params, found.bse)

    return Model(f"{formula}, weighted", fit)


def _outcomes(values: pd.Series, errors: pd.Series) -> dict[str, Outcome]:
    """Return all coefficients but the intercept; none where one could not be found."""
    if not np.isfinite([*values, *errors[values.index]]).all():
        return {}
    return {
        str(name): Estimated.of(float(value), float(errors[name]))
        for name, value in values.items()
        if name != "Intercept"
    }


def _columns_in(formula: str, frame: pd.DataFrame) -> list[str]:
    """Return the columns that a formula's text names."""
    signs = str.maketrans(dict.fromkeys("()+*:~-^", " "))
    words = set(formula.translate(signs).split())
    return [name for name in frame.columns if name in words]


def at_first_rows(frame: pd.DataFrame, unit: str, time: str) -> pd.DataFrame:
    """Return the first row of each unit."""
    return frame.sort_values([unit, time], kind="stable").groupby(unit, sort=False).head(1)


def share_between(frame: pd.DataFrame, unit: str, column: str) -> float:
    """Return the share of a column's variance that lies between units, by analysis of variance."""
    known = frame.dropna(subset=[column])
    groups = known.groupby(unit)[column]
    sizes, means = groups.size().to_numpy(float), groups.mean().to_numpy()
    values = known[column].to_numpy(float)
    total, units = sizes.sum(), sizes.size
    within = float(((values - groups.transform("mean").to_numpy()) ** 2).sum()) / (total - units)
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (units - 1)
    usual = (total - (sizes**2).sum() / total) / (units - 1)
    above = max((between - within) / usual, 0.0)
    return above / (above + within)


def lag_1(frame: pd.DataFrame, unit: str, time: str, column: str) -> float:
    """Return the correlation of a column with what it is in the next row of the same unit."""
    rows = frame.sort_values([unit, time], kind="stable").dropna(subset=[column])
    later = rows.groupby(unit)[column].shift(-1)
    known = later.notna().to_numpy()
    return float(np.corrcoef(rows[column].to_numpy(float)[known], later.to_numpy()[known])[0, 1])


def rows_a_unit(frame: pd.DataFrame, unit: str) -> Iterator[tuple[str, float]]:
    """Yield the mean, standard deviation and largest number of rows a unit."""
    sizes = frame.groupby(unit).size()
    yield "rows a unit: mean", float(sizes.mean())
    yield "rows a unit: sd", float(sizes.std())
    yield "rows a unit: largest", float(sizes.max())
