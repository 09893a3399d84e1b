"""The lasso's path satisfies its conditions exactly and its cross-validation is scikit-learn's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import PredefinedSplit

from icsa.errors import ConvergenceError, InputError
from icsa.utility import lasso, lasso_kernels
from icsa.utility.lasso import cross_validated_lasso, lasso_path, random_folds

MALIGNANT = [28, 117, 230, 95, 370, 323, 516, 498, 33, 564]


def wisconsin(target: int) -> tuple[np.ndarray, np.ndarray]:
    table, benign = load_breast_cancer(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(benign), MALIGNANT])
    return table[rows, :20], table[rows, 20 + target]


def correlated(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns in different units that share one strong factor; every other one has an effect."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) + 5 * rng.normal(size=(n, 1))
    y = 100 + x[:, ::2].sum(axis=1) + rng.normal(size=n)
    return x * np.logspace(-3, 3, p) + 10, y


def standardized(x: np.ndarray) -> np.ndarray:
    scale = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(scale > 0, scale, 1)


def breach(x: np.ndarray, y: np.ndarray, coefficients: np.ndarray, lambda_: float) -> float:
    """Return by how much the lasso's conditions are broken, in units of the response's spread."""
    scaled, b = standardized(x), coefficients * x.std(axis=0)
    gradient = scaled.T @ (y - y.mean() - scaled @ b) / y.size
    outside = np.abs(gradient).max() - lambda_
    inside = np.abs(gradient - lambda_ * np.sign(b))[b != 0].max(initial=0)
    return max(outside, inside) / y.std()


def brute_force(x: np.ndarray, y: np.ndarray, lambda_: float) -> float:
    """Return the least value of the objective, over all sets of columns and signs."""
    scaled, response = standardized(x), y - y.mean()
    n, p = x.shape
    values = []
    for signs in product([-1.0, 0.0, 1.0], repeat=p):
        chosen = np.flatnonzero(signs)
        part = scaled[:, chosen]
        penalty = lambda_ * np.array(signs)[chosen]
        b = np.linalg.pinv(part.T @ part / n) @ (part.T @ response / n - penalty)
        values.append(objective(part @ b, response, b, lambda_))
    return min(values)


def objective(fitted: np.ndarray, y: np.ndarray, b: np.ndarray, lambda_: float) -> float:
    return ((y - fitted) ** 2).mean() / 2 + lambda_ * np.abs(b).sum()


@st.composite
def tables(draw: st.DrawFn, most_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Small tables, of few different values (ties) or of many; dependent and constant columns."""
    n, p = draw(st.integers(2, 25)), draw(st.integers(1, most_columns))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    few = draw(st.booleans())
    x = rng.integers(-2, 3, size=(n, p)).astype(float) if few else rng.normal(size=(n, p))
    y = rng.integers(-3, 4, size=n).astype(float) if few else rng.normal(size=n) + x.sum(axis=1)
    change = draw(st.sampled_from(["none", "equal", "opposite", "sum", "constant"]))
    if change == "equal":
        x[:, -1] = x[:, 0]
    elif change == "opposite":
        x[:, -1] = 3 - 2 * x[:, 0]
    elif change == "sum":
        x[:, -1] = x[:, : p // 2 + 1].sum(axis=1)
    elif change == "constant":
        x[:, -1] = 0.1
    return x, y


@given(tables(most_columns=12))
def test_the_path_satisfies_the_conditions_of_karush_kuhn_and_tucker(table) -> None:
    x, y = table
    path = lasso_path(x, y, n_lambdas=20)
    if not path.lambdas.any():
        assert not path.coefficients.any()
        return
    for lambda_, coefficients in zip(path.lambdas, path.coefficients, strict=True):
        assert breach(x, y, coefficients, lambda_) < 1e-9


@given(tables(most_columns=4), st.sampled_from([0.9, 0.5, 0.1, 0.01]))
def test_no_set_of_columns_and_signs_has_a_lower_objective(table, share: float) -> None:
    x, y = table
    path = lasso_path(x, y, n_lambdas=2, ratio=share)
    b = path.coefficients[1] * x.std(axis=0)
    found = objective(standardized(x) @ b, y - y.mean(), b, path.lambdas[1])
    assert found == pytest.approx(brute_force(x, y, path.lambdas[1]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n", "p"), [(30, 5), (200, 40), (20, 50), (300, 8)])
def test_the_path_is_that_of_a_slow_twin(n: int, p: int) -> None:
    x, y = correlated(n, p, seed=n)
    scaled, response = standardized(x), (y - y.mean()) / y.std()
    gram, c = scaled.T @ scaled / n, scaled.T @ response / n
    lambdas = np.abs(c).max() * np.geomspace(1, 1e-4, 30)
    found = np.zeros((p, 30))
    assert lasso_kernels.follow_path(gram, c, lambdas, 5000, found) == 30
    np.testing.assert_allclose(found.T, slow_path(gram, c, lambdas), atol=1e-9)


def slow_path(gram: np.ndarray, c: np.ndarray, lambdas: np.ndarray) -> np.ndarray:
    """Follow the path with a dense solution at every knot; columns in general position only."""
    active: list[int] = []
    signs, rows, above = np.zeros(c.size), [], np.inf
    while len(rows) < lambdas.size:
        u, d = np.linalg.solve(gram[np.ix_(active, active)], np.array([c, signs]).T[active]).T
        w, a = c - gram[:, active] @ u, gram[:, active] @ d
        knots = {}
        for j in range(c.size):
            if j in active:
                i = active.index(j)
                if signs[j] * d[i] < 0:
                    knots[j] = u[i] / d[i]
            elif np.sign(w[j]) * a[j] < 1 - 1e-9:
                knots[j] = abs(w[j]) / (1 - np.sign(w[j]) * a[j])
        event = max(knots, key=knots.__getitem__, default=-1)
        above = min(above, knots.get(event, 0.0))
        while len(rows) < lambdas.size and lambdas[len(rows)] >= above:
            rows.append(np.zeros(c.size))
            rows[-1][active] = u - lambdas[len(rows) - 1] * d
        if event in active:
            active.remove(event)
        else:
            active.append(event)
            signs[event] = np.sign(w[event])
    return np.array(rows)


def test_the_factor_is_cholesky_s() -> None:
    x, _ = correlated(50, 6, seed=1)
    gram = np.cov(standardized(x).T)
    sides = np.random.default_rng(0).normal(size=(2, 6))
    active = np.array([4, 0, 5, 2, 1, 3])
    lower = np.zeros((6, 8))
    assert lasso_kernels.extend_factor(gram, sides, active, 0, 4, lower)
    assert lasso_kernels.extend_factor(gram, sides, active, 4, 6, lower)
    u, d = np.empty(6), np.empty(6)
    lasso_kernels.back_substitute(lower, 6, u, d)
    ordered = gram[np.ix_(active, active)]
    factor = np.linalg.cholesky(ordered)
    both = np.tril(factor, -1) + np.tril(factor, -1).T + np.diag(1 / np.diagonal(factor))
    np.testing.assert_allclose(lower[:, :6], both, rtol=1e-9)
    np.testing.assert_allclose([u, d], np.linalg.solve(ordered, sides[:, active].T).T, rtol=1e-9)


DATA = {f"wisconsin {target}": wisconsin(target) for target in range(10)} | {
    "one factor": correlated(100, 12, seed=2),
    "more columns than rows": correlated(20, 30, seed=3),
    "few rows": correlated(11, 3, seed=4),
}


def in_scale(x: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return coefficients in units of the largest one of the scaled predictors."""
    scaled = coefficients * x.std(axis=0)
    return scaled / np.abs(scaled).max()


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("n_lambdas", "ratio"), [(30, 1e-3), pytest.param(100, 1e-4, marks=pytest.mark.thorough)]
)
def test_cross_validation_is_scikit_learn_s(name: str, n_lambdas: int, ratio: float) -> None:
    x, y = DATA[name]
    y = (y - y.mean()) / y.std()  # their tolerance is relative to its square
    folds = random_folds(y.size, 10, np.random.default_rng(7))
    fit = cross_validated_lasso(x, y, folds=folds, n_lambdas=n_lambdas, ratio=ratio)
    theirs = LassoCV(
        alphas=fit.lambdas, cv=PredefinedSplit(folds), tol=1e-11, max_iter=10**7, precompute=True
    ).fit(standardized(x), y)
    assert fit.lambda_ == pytest.approx(theirs.alpha_, rel=1e-12)
    # Theirs stop at a duality gap, ours satisfy the conditions to rounding (above).
    np.testing.assert_allclose(fit.cv_errors, theirs.mse_path_.mean(axis=1), rtol=1e-4)
    coefficients = theirs.coef_ / x.std(axis=0)
    np.testing.assert_allclose(
        in_scale(x, fit.coefficients), in_scale(x, coefficients), atol=1e-5, rtol=0
    )
    intercept = y.mean() - x.mean(axis=0) @ coefficients
    assert abs(fit.intercept - intercept) < 1e-5 * np.abs(x.mean(axis=0) @ coefficients).max()
    np.testing.assert_array_equal(fit.selected, fit.coefficients != 0)
    assert fit.selected.any()


@pytest.mark.parametrize("name", ["wisconsin 0", "one factor", "few rows"])
def test_glmnet_s_convention_scales_every_fit_and_weighs_folds_by_rows(name: str) -> None:
    x, y = DATA[name]
    folds = random_folds(y.size, 4, np.random.default_rng(1))
    fit = cross_validated_lasso(x, y, folds=folds, n_lambdas=6, ratio=1e-3, convention="glmnet")
    squares = np.zeros(6)
    for fold in range(4):
        train, held_out = folds != fold, folds == fold
        mean, scale = x[train].mean(axis=0), x[train].std(axis=0)
        for position, lambda_ in enumerate(fit.lambdas):
            model = Lasso(lambda_, tol=1e-12, max_iter=10**7, precompute=True)
            model.fit((x[train] - mean) / scale, y[train])
            predicted = model.predict((x[held_out] - mean) / scale)
            squares[position] += ((y[held_out] - predicted) ** 2).sum()
    np.testing.assert_allclose(fit.cv_errors, squares / y.size, rtol=1e-6)
    assert fit.lambda_ == fit.lambdas[squares.argmin()]


def test_the_fit_is_the_path_at_its_lambda() -> None:
    x, y = DATA["one factor"]
    fit = cross_validated_lasso(x, y, folds=np.arange(y.size) % 5)
    path = lasso_path(x, y)
    np.testing.assert_allclose(fit.lambdas, path.lambdas, rtol=1e-12)
    at = np.flatnonzero(fit.lambdas == fit.lambda_)[0]
    np.testing.assert_allclose(fit.coefficients, path.coefficients[at], rtol=1e-9)
    assert fit.intercept == pytest.approx(path.intercepts[at])
    assert path.lambdas[-1] == pytest.approx(1e-4 * path.lambdas[0])
    assert not path.coefficients[0].any()


def test_units_and_the_order_of_rows_do_not_matter() -> None:
    x, y = DATA["one factor"]
    folds = random_folds(y.size, 10, np.random.default_rng(0))
    fit = cross_validated_lasso(x, y, folds=folds)
    units, order = np.logspace(5, -5, x.shape[1]), np.random.default_rng(1).permutation(y.size)
    other = cross_validated_lasso(1e3 + x[order] * units, 9 - 1e6 * y[order], folds=folds[order])
    np.testing.assert_array_equal(other.selected, fit.selected)
    np.testing.assert_allclose(other.coefficients * units / -1e6, fit.coefficients, rtol=1e-6)
    np.testing.assert_allclose(other.cv_errors, 1e12 * fit.cv_errors, rtol=1e-6)


@pytest.mark.parametrize("convention", ["scikit-learn", "glmnet"])
def test_a_constant_response_selects_nothing(convention: str) -> None:
    x, _ = DATA["few rows"]
    fit = cross_validated_lasso(x, np.full(11, 0.1), folds=np.arange(11) % 3, convention=convention)
    assert not fit.selected.any()
    assert fit.intercept == 0.1
    assert not fit.cv_errors.any()
    assert fit.lambda_ == 0


def test_a_constant_predictor_is_never_selected() -> None:
    x, y = DATA["one factor"]
    folds = np.arange(y.size) % 10
    wider = np.column_stack([x, np.full(y.size, 0.1)])
    fit, without = (cross_validated_lasso(t, y, folds=folds) for t in (wider, x))
    assert not fit.selected[-1]
    np.testing.assert_allclose(fit.coefficients[:-1], without.coefficients, rtol=1e-9)
    constant = cross_validated_lasso(np.full((y.size, 2), 0.1), y, folds=folds)
    assert not constant.selected.any()
    assert constant.intercept == pytest.approx(y.mean())


@pytest.mark.parametrize("convention", ["scikit-learn", "glmnet"])
def test_a_predictor_that_varies_in_one_fold_only(convention: str) -> None:
    rng = np.random.default_rng(0)
    folds = np.arange(50) % 5
    x = np.column_stack([rng.normal(size=50), np.where(np.arange(50) == 3, 1.0, 0.1)])
    y = x[:, 0] + 40 * x[:, 1] + 0.1 * rng.normal(size=50)
    fit = cross_validated_lasso(x, y, folds=folds, convention=convention)
    assert np.isfinite(fit.cv_errors).all()
    assert fit.selected[0]
    # Row 3 is predicted by a fit that knows nothing of the second column: 36 off, in one of 50.
    assert 20 < fit.cv_errors.min() < 30


def test_equal_columns_are_represented_by_one_and_change_no_prediction() -> None:
    x, y = DATA["one factor"]
    folds = np.arange(y.size) % 10
    fit = cross_validated_lasso(x, y, folds=folds)
    twice = cross_validated_lasso(np.hstack([x, -2 * x]), y, folds=folds)
    p = x.shape[1]
    assert not (twice.selected[:p] & twice.selected[p:]).any()
    together = twice.coefficients[:p] - 2 * twice.coefficients[p:]
    np.testing.assert_allclose(together, fit.coefficients, rtol=1e-6)
    np.testing.assert_allclose(twice.cv_errors, fit.cv_errors, rtol=1e-9)


def test_two_rows_and_one_fold_each() -> None:
    fit = cross_validated_lasso([[0.0], [1.0]], [1.0, 3.0], folds=[0, 1], n_lambdas=5)
    assert fit.cv_errors == pytest.approx(4.0)
    assert not fit.selected.any()
    assert fit.intercept == 2.0


def test_more_columns_than_rows_are_interpolated_at_the_end() -> None:
    x, y = DATA["more columns than rows"]
    path = lasso_path(x, y)
    residuals = y - path.intercepts[-1] - x @ path.coefficients[-1]
    assert np.abs(residuals).max() < 1e-2 * y.std()
    assert np.count_nonzero(path.coefficients[-1]) <= 19


def test_folds_are_balanced_and_random() -> None:
    folds = random_folds(367, 10, np.random.default_rng(0))
    assert sorted(np.bincount(folds)) == [36] * 3 + [37] * 7
    assert not np.array_equal(folds, random_folds(367, 10, np.random.default_rng(1)))


def test_a_path_in_circles_is_tried_again_and_then_an_error(monkeypatch) -> None:
    x, y = DATA["one factor"]
    expected = lasso_path(x, y).coefficients
    real, calls = lasso.follow_path, []

    def fails_once(*arguments):
        calls.append(arguments[1])
        return 0 if len(calls) == 1 else real(*arguments)

    monkeypatch.setattr(lasso, "follow_path", fails_once)
    found = lasso_path(x, y).coefficients
    assert len(calls) == 2
    assert 0 < np.abs(calls[1] - calls[0]).max() < 1e-11
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    monkeypatch.setattr(lasso, "follow_path", real)
    monkeypatch.setattr(lasso, "_most_knots", lambda n_columns: 2)
    with pytest.raises(ConvergenceError, match="more than 2 knots for 12 column"):
        lasso_path(x, y)


def test_a_fold_whose_path_goes_in_circles_is_followed_again(monkeypatch) -> None:
    x, y = DATA["one factor"]
    folds = random_folds(y.size, 5, np.random.default_rng(0))
    expected = cross_validated_lasso(x, y, folds=folds).cv_errors
    real, failed = lasso.path_errors, []

    def fails_at_the_third_fold(total, products, first, *others):
        if first > 2:
            return real(total, products, first, *others)
        failed.append(real(total, products[:2], first, *others))
        return 2

    monkeypatch.setattr(lasso, "path_errors", fails_at_the_third_fold)
    found = cross_validated_lasso(x, y, folds=folds).cv_errors
    assert failed == [2]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [[1.0, 2.0]]}, "a minimum of 2 is required"),
        ({"x": [[np.nan]] * 4}, "missing"),
        ({"y": [1.0, 2.0]}, "one value for each of the 4 rows"),
        ({"y": [1.0, np.nan, 3.0, np.inf]}, "2 of 4 values are missing or infinite"),
        ({"y": ["a", "b", "c", "d"]}, "Convert it to float"),
        ({"y": [1e200, -1e200, 0.0, 1.0]}, "Use larger units"),
        ({"folds": [0, 1, 0]}, "one integer for each of the 4 rows"),
        ({"folds": [0.0, 1.0, 0.0, 1.0]}, "type float64"),
        ({"folds": [0, 0, 0, 0]}, "k of 2 or more"),
        ({"folds": [0, 2, 2, 0]}, "Number them anew"),
        ({"folds": [0, 1, -1, 0]}, "Number them anew"),
        ({"folds": [0, 1, 10**12, 0]}, "Number them anew"),
        ({"n_lambdas": 1}, "2 or more are needed"),
        ({"ratio": 1.0}, "between 0 and 1"),
        ({"ratio": 0.0}, "between 0 and 1"),
        ({"convention": "R"}, "Known: scikit-learn, glmnet"),
    ],
)
def test_what_cannot_be_used_is_an_error(change, message: str) -> None:
    usable = {"x": [[0.0], [1.0], [2.0], [4.0]], "y": [1.0, 2.0, 2.0, 5.0], "folds": [0, 1, 0, 1]}
    with pytest.raises(InputError, match=message):
        cross_validated_lasso(**(usable | change))


@pytest.mark.parametrize("n_folds", [1, 5])
def test_folds_that_cannot_be_made_are_an_error(n_folds: int) -> None:
    with pytest.raises(InputError, match=r"of 4 row\(s\): from 2 folds to one for every row"):
        random_folds(4, n_folds, np.random.default_rng(0))
