"""Your analysis: coefficients by hand, by statsmodels, by a partial likelihood; refusals."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from icsa.errors import InputError, UnknownNameError
from icsa.measures import NotEstimable
from icsa.utility.estimates import (
    Estimated,
    compare_estimates,
    interval_overlap,
    overlap_of_a_sample,
)
from icsa.utility.formulas import library, read_formula, with_aliases
from icsa.utility.models import fit_models, run_analysis

N = 240


def people(seed: int, n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, bmi = rng.normal(60, 12, size=n), rng.normal(26, 4, size=n)
    sex = rng.choice(["female", "male"], size=n)
    pressure = 80 + 0.6 * age + bmi + 6 * (sex == "male") + 10 * rng.normal(size=n)
    risk = (age - 60) / 12 + 0.5 * (sex == "male")
    time = rng.exponential(np.exp(-risk)) + 0.01
    limit = rng.exponential(2.0, size=n)
    return pd.DataFrame(
        {
            "age": age,
            "bmi": bmi,
            "sex": sex,
            "ward": rng.choice(["a", "b", "c"], size=n),
            "pressure": pressure,
            "ill": np.where(risk + rng.logistic(size=n) > 0, "yes", "no"),
            "visits": rng.poisson(np.exp(0.3 + 0.4 * risk)),
            "time": np.round(np.minimum(time, limit), 1),
            "died": (time <= limit).astype(int),
            "day": pd.Timestamp(2024, 1, 1) + pd.to_timedelta(np.arange(n), unit="D"),
        }
    )


FIRST, SECOND = people(1), people(2)


def by_name(found: Any, table: str) -> dict[str, Estimated]:
    return {each.name: getattr(each, table) for each in found.estimates}


@pytest.mark.parametrize(
    ("formula", "method", "reference"),
    [
        ("pressure ~ age + bmi + sex", "least squares", smf.ols),
        ("pressure ~ age * sex + ward", "least squares", smf.ols),
        ("np.log(pressure) ~ age + np.sqrt(bmi)", "least squares", smf.ols),
        ("visits ~ age + sex", "Poisson", smf.poisson),
        ("died ~ age + bmi", "logistic", smf.logit),
    ],
)
def test_coefficients_are_those_of_statsmodels(formula: str, method: str, reference: Any) -> None:
    found = fit_models(FIRST, SECOND, formula)
    assert found.method == method
    assert found.n_original == found.n_released == N
    for table, frame in (("original", FIRST), ("released", SECOND)):
        options = {} if reference is smf.ols else {"disp": 0}
        truth = reference(formula, frame).fit(**options)
        estimates = by_name(found, table)
        assert len(estimates) == len(truth.params)
        for name, estimate in estimates.items():
            assert estimate.value == pytest.approx(truth.params[name], rel=1e-5)
            assert estimate.standard_error == pytest.approx(truth.bse[name], rel=1e-4)
            interval = truth.conf_int().loc[name]
            assert (estimate.low, estimate.high) == pytest.approx(tuple(interval), rel=1e-3)


def test_two_labels_are_a_logistic_regression_of_the_later_one() -> None:
    found = fit_models(FIRST, SECOND, "ill ~ age")
    truth = smf.logit("ill ~ age", FIRST.assign(ill=(FIRST["ill"] == "yes") + 0)).fit(disp=0)
    assert found.method == "logistic"
    assert by_name(found, "original")["age"].value == pytest.approx(truth.params["age"], rel=1e-6)
    as_bool = [frame.assign(ill=frame["ill"] == "yes") for frame in (FIRST, SECOND)]
    again = fit_models(*as_bool, "ill ~ age")
    assert by_name(again, "original") == by_name(found, "original")


def efron(b: np.ndarray, x: np.ndarray, time: np.ndarray, died: np.ndarray) -> float:
    """Return minus the log partial likelihood, with Efron's way with ties, term by term."""
    risk, total = np.exp(x @ b), 0.0
    for moment in np.unique(time[died == 1]):
        events = (time == moment) & (died == 1)
        at_risk, tied = risk[time >= moment].sum(), risk[events].sum()
        total += (x[events] @ b).sum()
        count = int(events.sum())
        total -= sum(math.log(at_risk - part / count * tied) for part in range(count))
    return -total


def test_cox_is_the_maximum_of_the_partial_likelihood() -> None:
    found = fit_models(FIRST, SECOND, "surv(time, died) ~ age + sex")
    assert found.method == "Cox"
    x = np.column_stack([FIRST["age"] - 60, FIRST["sex"] == "male"]).astype(float)
    time, died = FIRST["time"].to_numpy(), FIRST["died"].to_numpy()
    best = optimize.minimize(efron, np.zeros(2), (x, time, died), method="BFGS", tol=1e-10)
    estimates = by_name(found, "original")
    assert list(estimates) == ["age", "sex[T.male]"]
    values = [estimate.value for estimate in estimates.values()]
    np.testing.assert_allclose(values, best.x, rtol=1e-4)
    step = 1e-4
    for j, estimate in enumerate(estimates.values()):
        # the inverse of numerical second derivatives
        hessian = np.array(
            [
                optimize.approx_fprime(best.x, lambda b, k=k: gradient(b, k, x, time, died), step)
                for k in range(2)
            ]
        )
        error = np.sqrt(np.linalg.inv(hessian)[j, j])
        assert estimate.standard_error == pytest.approx(error, rel=0.02)


def gradient(b: np.ndarray, k: int, x: np.ndarray, time: np.ndarray, died: np.ndarray) -> float:
    step = np.zeros(2)
    step[k] = 1e-5
    both = efron(b + step, x, time, died) - efron(b - step, x, time, died)
    return float(both / 2e-5)


def test_cox_of_three_rows_by_hand() -> None:
    # Events at 1 (x = 1) and 2 (x = 0), the last (x = 1) censored: with r = exp(b) the likelihood
    # is r / (2r + 1) * 1 / (1 + r), largest where r^2 = 1/2.
    frame = pd.DataFrame({"t": [1.0, 2.0, 3.0], "s": [1, 1, 0], "x": [1.0, 0.0, 1.0]})
    found = fit_models(frame, frame, "surv(t, s) ~ x")
    assert by_name(found, "original")["x"].value == pytest.approx(-0.5 * math.log(2), abs=1e-5)


def test_a_copy_has_full_overlap_and_no_error() -> None:
    found = fit_models(FIRST, FIRST, "pressure ~ age + ward")
    assert found.overlap.value == pytest.approx(1.0)
    assert found.error.value == 0.0
    assert found.sign_flips == found.significance_flips == 0


def test_another_sample_is_as_the_yardstick_says() -> None:
    errors, overlaps = [], []
    for seed in range(40):
        found = fit_models(
            people(100 + seed), people(200 + seed, 480), "pressure ~ age + bmi + sex"
        )
        errors.append(found.error.value)
        overlaps.append(found.overlap.value)
    assert found.error_of_a_sample == pytest.approx(math.sqrt(2 / math.pi * 1.5))
    assert np.mean(errors) == pytest.approx(found.error_of_a_sample, rel=0.15)
    assert np.mean(overlaps) == pytest.approx(found.overlap_of_a_sample, abs=0.05)


def test_flips_are_seen() -> None:
    turned = FIRST.assign(pressure=300 - FIRST["pressure"])
    found = fit_models(FIRST, turned, "pressure ~ age")
    assert found.sign_flips == found.significance_flips == 1
    assert found.overlap.value < 0


def test_missing_rows_labels_and_dates() -> None:
    holes = FIRST.copy()
    holes.loc[:9, "bmi"] = np.nan
    holes.loc[5:14, "ward"] = None
    found = fit_models(holes, SECOND, "pressure ~ bmi + ward")
    assert (found.n_original, found.n_released) == (N - 15, N)
    slope = by_name(fit_models(FIRST, FIRST, "pressure ~ day"), "original")["day"]
    truth = smf.ols("pressure ~ d", FIRST.assign(d=np.arange(float(N)))).fit()
    assert slope.value == pytest.approx(truth.params["d"], rel=1e-4)


def test_polars_gives_the_same() -> None:
    formula = "pressure ~ age + ward"
    found = fit_models(pl.from_pandas(FIRST), pl.from_pandas(SECOND), formula)
    assert found.estimates == fit_models(FIRST, SECOND, formula).estimates


def test_bases_are_those_of_the_original() -> None:
    inside = SECOND.assign(age=SECOND["age"].clip(FIRST["age"].min(), FIRST["age"].max()))
    for term in ("bs(age, df=4)", "poly(age, 2)", "scale(age)"):
        found = fit_models(FIRST, inside, f"pressure ~ {term}")
        assert found.overlap.value is not None
    outside = SECOND.assign(age=SECOND["age"] * 3)
    found = fit_models(FIRST, outside, "pressure ~ bs(age, df=4)")
    assert "cells beyond their range" in found.overlap.reason


def test_a_level_that_one_table_lacks_is_not_estimable_there() -> None:
    without = SECOND[SECOND["ward"] != "c"]
    found = fit_models(FIRST, without, "pressure ~ age + ward")
    released = by_name(found, "released")
    assert released["ward[T.c]"] == NotEstimable("no row has this level")
    assert isinstance(released["ward[T.b]"], Estimated)
    assert found.overlap.n_undefined == 1
    other_way = by_name(fit_models(without, FIRST, "pressure ~ ward"), "original")
    assert isinstance(other_way["ward[T.c]"], NotEstimable)


def test_a_release_that_cannot_be_fitted_says_why() -> None:
    def reason(changed: dict[str, Any], formula: str) -> str:
        return fit_models(FIRST, SECOND.assign(**changed), formula).overlap.reason

    assert "release: the model is singular" in reason(
        {"bmi": SECOND["age"]}, "pressure ~ age + bmi"
    )
    assert "constant" in reason({"pressure": 1.0}, "pressure ~ age")
    assert "one value only" in reason({"died": 1}, "died ~ age")
    assert "every row has a missing cell" in reason({"age": np.nan}, "pressure ~ age")
    assert "values that the original's has not" in reason({"ill": "maybe"}, "ill ~ age")
    assert "negative" in reason({"visits": -1}, "visits ~ age")
    assert "negative" in reason({"time": -1.0}, "surv(time, died) ~ age")
    assert "no event" in reason({"died": 0}, "surv(time, died) ~ age")
    assert "0 (censored) or 1 (event)" in reason({"died": 2}, "surv(time, died) ~ age")
    assert "not finite in 240 row(s)" in reason({"pressure": 0.0}, "log(pressure) ~ age")
    apart = {"age": 100.0 * SECOND["died"] + SECOND["age"] / 100}
    assert reason(apart, "died ~ age")
    assert reason({"age": SECOND["died"]}, "surv(time, died) ~ age")
    assert "exact function" in reason({"pressure": 2 * SECOND["age"]}, "pressure ~ age")


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("pressure", "needs a response, one ~ and predictors"),
        ("~ age", "needs a response"),
        ("pressure ~ age ~ bmi", "one ~"),
        ("pressure ~ age +", "right side .* cannot be read"),
        ("pressure ~ log(", "right side .* cannot be read"),
        ("pressure ~ age | bmi", "several parts"),
        ("pressure + bmi ~ age", "one response"),
        ("pressure - bmi ~ age", "one response"),
        ("pressure ~ agee", "No column 'agee'. Did you mean 'age'"),
        ("pressure ~ log(agee)", "No column 'agee'. Did you mean 'age'"),
        ("presure ~ age", "Did you mean 'pressure'"),
        ("surv(time) ~ age", r"two columns in surv\(time, status\)"),
        ("surv(time, dead) ~ age", "No column 'dead'"),
        ("surv(time, died) ~ 1", "no predictor"),
        ("surv(time, ill) ~ age", r"surv\(\) needs numbers"),
        ("surv(time, visits) ~ age", r"status must be 0 \(censored\)"),
        ("ward ~ age", r"category with 3 level\(s\)"),
        ("pressure ~ age + I(2 * age)", "singular"),
        ("pressure ~ log(sex)", "cannot be evaluated"),
        ("log(visits) ~ age", "not finite in"),
        ("pressure ~ {__import__('os').getcwd()}", "not allowed"),
        ("pressure ~ {open('file')}", "not allowed"),
        ("pressure ~ {age.__class__}", "not allowed"),
        ("pressure ~ {[x for x in age]}", "not allowed"),
        ("pressure ~ {(lambda: age)()}", "not allowed"),
        ("pressure ~ np.load(age)", "not allowed"),
        ("pressure ~ I(_private)", "not allowed"),
    ],
)
def test_formulas_that_are_refused(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_models(FIRST, SECOND, formula)


def test_other_refusals() -> None:
    with pytest.raises(InputError, match="'age' of the formula is in the original but not in"):
        fit_models(FIRST, SECOND.drop(columns="age"), "pressure ~ age")
    with pytest.raises(InputError, match="another kind of cells"):
        fit_models(FIRST, SECOND.assign(age="old"), "pressure ~ age")
    with pytest.raises(InputError, match="constant"):
        fit_models(FIRST.assign(pressure=1.0), SECOND, "pressure ~ age")
    with pytest.raises(InputError, match="240 different texts"):
        fit_models(*[f.assign(name=f.index.astype(str)) for f in (FIRST, SECOND)], "age ~ name")
    with pytest.raises(InputError, match="240 coefficients on the original; 100"):
        fit_models(*[f.assign(number=f.index) for f in (FIRST, SECOND)], "age ~ C(number)")
    with pytest.raises(InputError, match="must be a data frame of pandas, polars or pyarrow"):
        fit_models([1, 2], SECOND, "pressure ~ age")
    with pytest.raises(InputError, match="several columns of one name"):
        fit_models(pd.concat([FIRST, FIRST], axis=1), SECOND, "pressure ~ age")
    with pytest.raises(InputError, match="every row has a missing cell"):
        fit_models(FIRST.assign(age=np.nan), SECOND, "pressure ~ age")
    with pytest.raises(UnknownNameError, match="family 'gamma'"):
        fit_models(FIRST, SECOND, "pressure ~ age", family="gamma")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two values: that of"):
        fit_models(FIRST, SECOND, "pressure ~ age", family="logistic")
    with pytest.raises(InputError, match="needs counts"):
        fit_models(FIRST.assign(visits=-FIRST["visits"]), SECOND, "visits ~ age", family="poisson")
    with pytest.raises(InputError, match="no other family"):
        fit_models(FIRST, SECOND, "surv(time, died) ~ age", family="poisson")


def test_the_family_can_be_chosen() -> None:
    assert fit_models(FIRST, SECOND, "visits ~ age", family="least squares").method == (
        "least squares"
    )
    assert fit_models(FIRST, SECOND, "died ~ age", family="poisson").method == "Poisson"


def test_names_with_blanks() -> None:
    frames = [frame.rename(columns={"age": "age in years"}) for frame in (FIRST, SECOND)]
    found = fit_models(*frames, "pressure ~ `age in years`")
    assert found.estimates[1].name == "age in years"
    assert read_formula("surv(`a b`, c) ~ d", ["a b", "c", "d"]).time == "a b"


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(InputError, match=r"pip install 'icsa\[models\]'"):
        library("statsmodels")


def test_an_analysis_of_ones_own() -> None:
    def median(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
        values = frame["age"]
        return {"median": (values.median(), 1.25 * values.std() / len(values) ** 0.5)}

    found = run_analysis(FIRST, SECOND, median, name="median age")
    assert found.name == "median age"
    assert found.method == "own analysis"
    assert found.overlap.value > 0.2
    nothing = run_analysis(FIRST, SECOND, lambda frame: {"x": (math.nan, 1.0)}, name="nothing")
    assert isinstance(nothing.estimates[0].original, NotEstimable)


def test_an_analysis_that_fails_shows_no_cell() -> None:
    def failing(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
        raise KeyError("secret cell")

    with pytest.raises(InputError, match=r"failed on the original \(KeyError\)") as caught:
        run_analysis(FIRST, SECOND, failing, name="mine")
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(InputError, match="returned no estimate"):
        run_analysis(FIRST, SECOND, lambda frame: {}, name="mine")


def test_overlap_and_flips_by_hand() -> None:
    first = {"a": Estimated.of(2.0, 0.5), "b": Estimated.of(0.1, 1.0), "only": Estimated.of(1, 1)}
    second = {"a": Estimated.of(-2.0, 0.5), "b": Estimated.of(-0.1, 1.0)}
    found = compare_estimates("x", first, second, n_original=10, n_released=10)
    a, b, only = found.estimates
    assert (a.sign_flip, a.significance_flip) == (True, True)
    assert (b.sign_flip, b.significance_flip) == (True, False)
    assert a.error.value == -8.0
    # 2 - 1.96/2 and -2 + 1.96/2 are 2.04 apart, over a width of 1.96
    assert a.overlap.value == pytest.approx(-(4 - 1.959964) / 1.959964, rel=1e-5)
    assert "no such estimate" in only.overlap.reason
    assert found.error.value == pytest.approx((8.0 + 0.2) / 2)
    assert found.error.n_undefined == 1
    # 0 to 4 and 3 to 5 share 1: a quarter and a half
    wide, narrow = Estimated(2.0, 1.0, 0.0, 4.0), Estimated(4.0, 0.5, 3.0, 5.0)
    assert interval_overlap(wide, narrow) == interval_overlap(narrow, wide) == 0.375
    point = Estimated(1.0, 0.0, 1.0, 1.0)
    assert isinstance(interval_overlap(point, first["a"]), NotEstimable)
    with pytest.raises(InputError, match="must be finite"):
        Estimated(math.nan, 1.0, 0.0, 1.0)
    with pytest.raises(InputError, match="not negative"):
        Estimated.of(1.0, -1.0)
    with pytest.raises(InputError, match="needs rows"):
        compare_estimates("x", first, second, n_original=0, n_released=1)


@given(st.floats(0.01, 100.0))
def test_overlap_of_a_sample_is_between_the_ends(ratio: float) -> None:
    assert 0.0 < overlap_of_a_sample(ratio) < 1.0


class WideFrame:
    """A frame of which only some columns may be copied."""

    def __init__(self, cells: pl.DataFrame) -> None:
        self.cells, self.columns, self.read = cells, cells.columns, []

    def select(self, names: list[str]) -> pl.DataFrame:
        self.read.append(names)
        return self.cells.select(names)

    def to_pandas(self) -> None:
        raise AssertionError("the whole frame was copied")


def test_only_the_columns_of_the_formula_are_copied() -> None:
    x = np.arange(30.0)
    cells = pl.DataFrame({"x": x, "y": np.cos(x), "long": x})
    frame = WideFrame(cells)
    found = fit_models(frame, frame, "y ~ x")
    assert frame.read == [["x", "y"]] * 2
    assert found.estimates[1].released == fit_models(cells, cells, "y ~ x").estimates[1].original


def test_names_that_python_cannot_hold_are_read_inside_functions() -> None:
    usual = people(1)
    odd = usual.rename(columns={"age": "lambda", "bmi": "b.m.i", "pressure": "blood pressure"})
    wanted = fit_models(usual, usual, "log(pressure) ~ log(age) + np.sqrt(bmi) + sex")
    found = fit_models(odd, odd, "log(`blood pressure`) ~ log(lambda) + np.sqrt(b.m.i) + sex")
    names = ["Intercept", "sex[T.male]", "log(lambda)", "np.sqrt(b.m.i)"]
    assert sorted(by_name(found, "original")) == sorted(names)
    others = ["Intercept", "sex[T.male]", "log(age)", "np.sqrt(bmi)"]
    for name, other in zip(names, others, strict=True):
        assert by_name(found, "released")[name] == by_name(wanted, "released")[other]


def test_what_is_quoted_is_no_column() -> None:
    assert with_aliases("C(a, Treatment('lambda'))", {"lambda": "x"}) == "C(a, Treatment('lambda'))"
