"""Scales are strictly increasing, their inverses exact, and outliers do not steer them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from icsa.columns.transforms import (
    SCALES,
    LinearScale,
    PowerScale,
    QuantileScale,
    Scale,
    fit_linear,
    fit_scale,
    quantiles,
    robust_spread,
)
from icsa.errors import UnknownNameError

# Magnitudes from 1e-300 to 1e300, each column within thirty orders of magnitude.
NUMBERS = arrays(
    np.float64, st.integers(2, 40), elements=st.floats(-1e3, 1e3, allow_subnormal=False)
)
UNITS = st.sampled_from([1e-300, 1e-12, 1.0, 1e12, 1e297])


@given(numbers=NUMBERS, unit=UNITS, scale=st.sampled_from(SCALES))
def test_the_inverse_undoes_the_scale(numbers: np.ndarray, unit: float, scale: Scale) -> None:
    ordered = np.sort(numbers) * unit
    assume(robust_spread(np.sort(numbers)) > 1e-6)
    fitted = fit_scale(ordered, scale)
    scores = fitted.forward(ordered)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(
        fitted.inverse(scores), ordered, rtol=1e-9, atol=1e-9 * np.abs(ordered).max()
    )


@given(numbers=NUMBERS, unit=UNITS, scale=st.sampled_from(SCALES))
def test_scales_increase_strictly(numbers: np.ndarray, unit: float, scale: Scale) -> None:
    ordered = np.sort(numbers)
    spread = robust_spread(ordered)
    assume(spread > 1e-3)
    fitted = fit_scale(ordered * unit, scale)
    grid = np.linspace(ordered[0] - 5 * spread, ordered[-1] + 5 * spread, 97)
    assert np.all(np.diff(fitted.forward(grid * unit)) > 0)
    scores = np.linspace(-20.0, 20.0, 97)
    assert np.all(np.diff(fitted.inverse(scores)) > 0)


@given(
    z=arrays(np.float64, 20, elements=st.floats(-50, 50)),
    exponent=st.integers(0, 200).map(lambda percent: percent / 100),
)
def test_the_power_is_that_of_yeo_and_johnson(z: np.ndarray, exponent: float) -> None:
    scale = PowerScale(centre=0.0, spread=1.0, exponent=exponent, low=-50.0, high=50.0)

    def slowly(value: float) -> float:
        if value >= 0:
            return ((value + 1) ** exponent - 1) / exponent if exponent else math.log(value + 1)
        other = 2 - exponent
        return -(((1 - value) ** other - 1) / other if other else math.log(1 - value))

    expected = [slowly(value) for value in z]
    np.testing.assert_allclose(scale.forward(z), expected, rtol=1e-9, atol=1e-12)


def test_logarithm_and_square_are_the_ends_of_the_power() -> None:
    z = np.array([-3.0, 0.0, 3.0])
    logarithm = PowerScale(centre=0.0, spread=1.0, exponent=0.0, low=-9.0, high=9.0)
    np.testing.assert_allclose(logarithm.forward(z), [-7.5, 0.0, math.log(4)])
    square = PowerScale(centre=0.0, spread=1.0, exponent=2.0, low=-9.0, high=9.0)
    np.testing.assert_allclose(square.forward(z), [-math.log(4), 0.0, 7.5])


def test_tails_of_the_power_are_tangents() -> None:
    scale = PowerScale(centre=10.0, spread=2.0, exponent=0.0, low=-1.0, high=1.0)
    # z = 5 is 4 beyond 1, where the logarithm's slope is 1/2; z = -5 is 4 below -1, slope 2.
    np.testing.assert_allclose(scale.forward(np.array([20.0, 0.0])), [math.log(2) + 2, -1.5 - 8])
    np.testing.assert_allclose(scale.inverse(np.array([math.log(2) + 2, -9.5])), [20.0, 0.0])


def test_exponents_follow_the_skewness_and_not_the_outliers() -> None:
    normal = np.sort(np.random.default_rng(1).normal(size=3000))
    assert fit_scale(np.exp(normal), "power").exponent == 0.0
    assert fit_scale(np.sort(-np.exp(normal)), "power").exponent == 2.0
    assert abs(fit_scale(normal, "power").exponent - 1.0) < 0.1
    contaminated = normal.copy()
    contaminated[-60:] = 1e6
    clean, dirty = fit_scale(normal, "power"), fit_scale(contaminated, "power")
    assert abs(clean.exponent - dirty.exponent) < 0.1


def test_a_skewed_column_is_not_blown_up_beyond_its_range() -> None:
    numbers = np.sort(np.random.default_rng(2).lognormal(size=1000))
    scale = fit_scale(numbers, "power")
    largest = scale.forward(numbers[-1:])
    assert scale.inverse(1.5 * largest)[0] < 3 * numbers[-1]


def test_knots_of_quantiles_have_normal_scores() -> None:
    numbers = np.arange(101.0)
    scale = fit_scale(numbers, "quantile")
    np.testing.assert_allclose(
        scale.forward(np.array([5.0, 50.0, 95.0, 75.0])),
        [-1.6448536269514715, 0.0, 1.6448536269514715, 0.6744897501960817],
        atol=1e-12,
    )
    slope = (1.6448536269514715 - 0.6744897501960817) / 20
    np.testing.assert_allclose(scale.forward(np.array([105.0])), [1.6448536269514715 + 10 * slope])
    assert scale.limit == 5.0


def test_tied_knots_share_their_mean_score() -> None:
    numbers = np.array([0.0] * 80 + [1.0] * 10 + [2.0] * 11)
    scale = fit_scale(numbers, "quantile")
    assert isinstance(scale, QuantileScale)
    np.testing.assert_array_equal(scale.knots, [0.0, 1.0, 2.0])
    assert np.all(np.diff(scale.scores) > 0)


def test_one_knot_is_enough() -> None:
    numbers = np.array([0.0] * 99 + [1.0])
    scale = fit_scale(numbers, "quantile")
    np.testing.assert_allclose(scale.inverse(scale.forward(numbers)), numbers)


def test_spread_worked_by_hand() -> None:
    # Deviations from 3 are 2, 1, 0, 1, 87: their median is 1.
    assert robust_spread(np.array([1.0, 2.0, 3.0, 4.0, 90.0])) == pytest.approx(1.4826, abs=1e-4)
    # The MAD is 0, the quartiles are 0 and 1.
    tied = np.array([0.0] * 5 + [1.0] * 3 + [2.0])
    assert robust_spread(tied) == pytest.approx(0.7413, abs=1e-4)
    # MAD and IQR are 0; the mean squared deviation from the median is 100/10.
    assert robust_spread(np.array([0.0] * 9 + [10.0])) == pytest.approx(math.sqrt(10))
    assert robust_spread(np.array([0.0] * 9 + [1e-300])) == pytest.approx(1e-300 / math.sqrt(10))
    assert robust_spread(np.ones(3)) == 0.0


@given(
    arrays(float, st.integers(2, 60), elements=st.integers(-40, 40).map(lambda k: k / 8)).map(
        np.sort
    )
)
def test_the_spread_is_the_median_absolute_deviation(ordered: np.ndarray) -> None:
    mad = np.median(np.abs(ordered - np.median(ordered)))
    assume(mad > 0.0)
    assert robust_spread(ordered) == pytest.approx(1.482602218505602 * mad, rel=1e-14)


def test_quantiles_are_those_of_numpy() -> None:
    numbers = np.sort(np.random.default_rng(3).normal(size=37))
    levels = np.linspace(0, 1, 23)
    np.testing.assert_allclose(quantiles(numbers, levels), np.quantile(numbers, levels))
    assert quantiles(np.array([1.7e308, 1.7e308]), 0.5) == 1.7e308


def test_the_linear_scale_is_given_back() -> None:
    linear = fit_linear(np.array([1.0, 2.0, 4.0]))
    assert fit_scale(np.array([1.0, 2.0, 4.0]), "linear", linear) is linear
    assert isinstance(linear, LinearScale)


def test_an_unknown_scale_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"No scale 'powr'. Did you mean 'power'\?"):
        fit_scale(np.array([1.0, 2.0]), "powr")  # type: ignore[arg-type]
