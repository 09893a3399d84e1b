"""Least squares: by hand, against numpy, its laws, and what is not estimable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.measures import NotEstimable
from icsa.utility import LeastSquares, coefficient_distance, least_squares, regression_loss

SIZES = st.tuples(st.integers(0, 2**32), st.integers(1, 9), st.integers(2, 40))


def drawn(size: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    seed, p, more = size
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(p + more, p)) * 10.0 ** rng.uniform(-4, 4, size=p) + rng.normal(size=p)
    return x, rng.normal(size=p + more)


def slow_fit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    means, scales = x.mean(axis=0), x.std(axis=0)
    design = np.column_stack([np.ones(len(y)), (x - means) / scales])
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    slopes = solution[1:] / scales
    return slopes, float(solution[0] - means @ slopes)


def test_four_rows_by_hand() -> None:
    # Means 1.5 and 3; sum (x - 1.5)(y - 3) = 7, sum (x - 1.5)^2 = 5: slope 1.4, intercept .9.
    fit = least_squares([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 5.0])
    assert isinstance(fit, LeastSquares)
    np.testing.assert_allclose(fit.coefficients, [1.4], rtol=1e-15)
    assert fit.intercept == pytest.approx(0.9, rel=1e-14)


def test_two_predictors_by_hand() -> None:
    # A 2 x 2 design: the slopes are the differences of the two halves' means.
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    fit = least_squares(x, [1.0, 2.0, 4.0, 7.0])
    np.testing.assert_allclose(fit.coefficients, [4.0, 2.0], rtol=1e-15)
    assert fit.intercept == pytest.approx(0.5, abs=1e-14)
    loss = regression_loss(np.array([1.0, -2.0]), np.column_stack([x, [1.0, 2.0, 4.0, 7.0]]))
    assert loss == pytest.approx(5.0, rel=1e-14)


@given(SIZES, st.sampled_from("CF"))
def test_kernel_against_numpy(size: tuple[int, int, int], order: str) -> None:
    x, y = drawn(size)
    slopes, _ = slow_fit(x, y)
    fit = least_squares(np.array(x, order=order), y)
    scales = x.std(axis=0)
    # Few rows can be badly conditioned, so digits of the largest standardised slope are compared.
    largest = np.abs(slopes * scales).max() + 1.0
    np.testing.assert_allclose(
        fit.coefficients * scales / largest, slopes * scales / largest, atol=1e-8
    )
    table = np.array(np.column_stack([x, y]), order=order)
    before = table.copy()
    loss = regression_loss(np.zeros(x.shape[1]), table)
    assert loss == pytest.approx(float(np.linalg.norm(fit.coefficients)), rel=1e-12)
    np.testing.assert_array_equal(table, before)


@given(SIZES)
def test_residuals_are_orthogonal_to_the_predictors(size: tuple[int, int, int]) -> None:
    x, y = drawn(size)
    fit = least_squares(x, y)
    residuals = y - fit.intercept - x @ fit.coefficients
    standardized = (x - x.mean(axis=0)) / x.std(axis=0)
    scale = 1.0 + np.abs(fit.coefficients * x.std(axis=0)).max() + abs(fit.intercept)
    np.testing.assert_allclose(standardized.T @ residuals / scale / len(y), 0.0, atol=1e-8)
    assert residuals.mean() / scale == pytest.approx(0.0, abs=1e-8)


@given(SIZES, st.floats(-100, 100))
def test_exact_data_give_their_coefficients(size: tuple[int, int, int], a: float) -> None:
    x, _ = drawn((size[0], size[1], size[2] + 20))
    x /= x.std(axis=0)
    truth = np.random.default_rng(size[0]).normal(size=x.shape[1])
    fit = least_squares(x, a + x @ truth)
    np.testing.assert_allclose(fit.coefficients, truth, atol=1e-9)
    assert regression_loss(truth, np.column_stack([x, a + x @ truth])) < 1e-8


def test_ill_conditioned_predictors_keep_their_digits() -> None:
    # Lauchli's matrix: normal equations lose everything at 1e-8, orthogonal factors do not.
    rng = np.random.default_rng(0)
    common = rng.normal(size=50)
    x = common[:, None] + 1e-6 * rng.normal(size=(50, 3))
    truth = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(least_squares(x, x @ truth).coefficients, truth, atol=1e-7)


def test_columns_far_from_zero() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2))
    y = x @ [1.0, 2.0] + rng.normal(size=60)
    near, far = least_squares(x, y), least_squares(x + np.array([1.7e9, -1e6]), y + 1e6)
    np.testing.assert_allclose(far.coefficients, near.coefficients, rtol=1e-5)


def test_too_few_rows() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3))
    missing = least_squares(x, np.arange(4.0))
    assert missing == NotEstimable(
        "least squares needs more rows than predictors + 1: got 4 rows, 3 predictor(s)"
    )
    assert regression_loss(np.ones(3), np.column_stack([x, x[:, 0]])) == missing
    assert isinstance(least_squares(np.vstack([x, x[:1] ** 2]), np.arange(5.0)), LeastSquares)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_dependent_and_constant_predictors(scale: float) -> None:
    x = np.random.default_rng(0).normal(size=(300, 3)) + 5.0
    x[:, 2] = scale * (x[:, 0] - 0.3 * x[:, 1] + 0.1)
    missing = least_squares(x, np.arange(300.0))
    assert missing == NotEstimable(
        "predictor 2 is constant or depends on earlier predictors exactly"
    )
    x[:, 1] = 0.1 * scale
    missing = least_squares(x, np.arange(300.0))
    assert missing.reason.startswith("predictor 1 is constant")
    assert regression_loss(np.ones(2), x[:, [1, 0, 2]]).reason.startswith("predictor 0 is")
    assert isinstance(least_squares(x[:, [0]], np.arange(300.0)), LeastSquares)


def test_a_constant_response_has_slope_zero() -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    fit = least_squares(x, np.full(20, 0.1))
    assert fit.intercept == pytest.approx(0.1, rel=1e-15)
    assert not fit.coefficients.any()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("column", [0, 2])
def test_cells_that_are_not_finite(value: float, column: int) -> None:
    table = np.random.default_rng(0).normal(size=(20, 3))
    table[7, column] = value
    with pytest.raises(InputError, match="1 of 20 values"):
        regression_loss(np.ones(2), table)
    with pytest.raises(InputError, match="1 of 20 values"):
        least_squares(table[:, :2], table[:, 2])


def test_errors() -> None:
    x = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match="same rows: got 20 and 19"):
        least_squares(x, np.ones(19))
    with pytest.raises(InputError, match="k - 1 coefficients"):
        regression_loss(np.ones(3), x)
    with pytest.raises(InputError, match="coefficients are not finite"):
        regression_loss(np.full(2, np.nan), x)
    with pytest.raises(InputError, match="one length"):
        coefficient_distance([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="not finite"):
        coefficient_distance([1.0], [math.nan])


def test_distance_by_hand() -> None:
    assert coefficient_distance([1.0, 2.0, 0.0, 5.0], [1.0, 5.0, 4.0, 5.0]) == 5.0
    assert coefficient_distance([1.0, 2.0], [1.0, 2.0]) == 0.0
    assert coefficient_distance([3e200, 0.0], [0.0, 4e200]) == pytest.approx(5e200)
