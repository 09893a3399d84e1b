"""Univariate robust scales against slow truths, R's values and hand-worked columns."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.correlations import median_mad
from icsa.errors import ExactFitError
from icsa.scatters import univariate
from icsa.scatters.univariate import (
    average_ranks,
    bisquare_cutoff,
    bisquare_radii,
    bisquare_weights,
    qn_scale,
    tau_location_scale,
    tied_direction_error,
    truncated_moment,
)


def slow_kth_distance(column: np.ndarray, k: int) -> float:
    distances = [abs(a - b) for i, a in enumerate(column) for b in column[:i]]
    return sorted(distances)[k - 1]


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=12), st.data())
def test_kth_distance_is_that_of_all_pairs_with_ties(cells, data):
    column = np.array(cells) / 7.0
    k = data.draw(st.integers(1, column.size * (column.size - 1) // 2))
    found = univariate._kth_distances(np.sort(column)[None], k)
    assert found[0] == pytest.approx(slow_kth_distance(column, k), rel=1e-15, abs=0)


def test_kth_distance_of_continuous_columns_is_exact():
    columns = np.sort(np.random.default_rng(0).normal(size=(3, 40)), axis=1)
    found = univariate._kth_distances(columns, 210)
    assert found.tolist() == [slow_kth_distance(column, 210) for column in columns]


def test_pairs_within_counts_by_hand():
    assert univariate._pairs_within(np.array([0.0, 1.0, 1.0, 3.0]), 1.0) == 3


@pytest.mark.parametrize(
    ("n_rows", "factor"),  # robustbase::Qn divided by the k-th distance
    [
        (2, 0.8862268738399999),
        (7, 1.9057308578),
        (12, 1.6808432102),
        (13, 2.002339970817083),
        (30, 1.972800667258641),
        (75, 2.173565210192451),
        (1000, 2.211008833028401),
    ],
)
def test_qn_has_the_factor_of_r(n_rows, factor):
    column = np.random.default_rng(n_rows).normal(size=n_rows)
    half = n_rows // 2 + 1
    ordered = np.sort(np.abs(column[:, None] - column)[np.triu_indices(n_rows, 1)])
    expected = factor * ordered[half * (half - 1) // 2 - 1]
    assert qn_scale(column[:, None])[0] == pytest.approx(expected, rel=1e-8)


def test_tau_by_hand():
    # Median 0, MAD 1. The 100 has no weight; 9 caps it in the scale.
    column = np.array([[-1.0], [-1.0], [0.0], [1.0], [1.0], [0.0], [100.0]])
    location, scale = tau_location_scale(column)
    assert location[0] == pytest.approx(0.0, abs=1e-15)
    assert scale[0] ** 2 == pytest.approx((4 + 9) / 7 / univariate._tau_consistency(), rel=1e-12)


def test_scales_of_normal_columns_are_the_standard_deviation():
    column = np.random.default_rng(1).normal(5.0, 3.0, size=(200_000, 1))
    location, scale = tau_location_scale(column)
    assert location[0] == pytest.approx(5.0, abs=0.05)
    assert scale[0] == pytest.approx(3.0, rel=0.01)
    assert qn_scale(column)[0] == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("exponent", [-8, 8])
@pytest.mark.parametrize("scale_of", [qn_scale, lambda x: tau_location_scale(x)[1]])
def test_scales_are_equivariant(scale_of, exponent):
    x = np.random.default_rng(2).standard_t(2, size=(31, 4))
    factor = 10.0**exponent
    np.testing.assert_allclose(scale_of(factor * x + factor), factor * scale_of(x), rtol=1e-12)


def test_half_tied_column_has_scale_zero_and_its_value():
    location, scale = tau_location_scale(np.array([[2.0], [2.0], [2.0], [9.0], [7.0]]))
    assert (location[0], scale[0]) == (2.0, 0.0)
    median, mad = median_mad(np.array([[2.0], [2.0], [2.0], [9.0], [7.0]]))
    assert (median[0], mad[0]) == (2.0, 0.0)


def test_average_ranks_share_ties():
    assert average_ranks(np.array([3.0, 3.0, 1.0, 3.0])).tolist() == [3.0, 3.0, 1.0, 3.0]


@given(st.integers(0, 2**32), st.floats(0.05, 0.5), st.sampled_from([1e-12, 1.0, 1e12]))
def test_bisquare_radius_fulfils_its_equation(seed, breakdown, unit):
    squared = unit * np.random.default_rng(seed).standard_t(1, size=(3, 50)) ** 2
    radii = bisquare_radii(squared, breakdown)
    mean = np.mean(1 - (1 - np.minimum(squared / radii[:, None], 1)) ** 3, axis=1)
    np.testing.assert_allclose(mean, breakdown, rtol=1e-12)
    again = bisquare_radii(squared, breakdown, guess=37.0 * radii)
    np.testing.assert_allclose(again, radii, rtol=1e-12)


def test_bisquare_cutoff_balances_a_simulated_mean():
    squared = np.random.default_rng(3).chisquare(4, size=400_000)
    share = squared / bisquare_cutoff(4, 0.5) ** 2
    assert np.mean(1 - (1 - np.minimum(share, 1)) ** 3) == pytest.approx(0.5, abs=2e-3)


def test_bisquare_cutoffs_of_r():
    # rrcov's cc, and the constant 1.547645 of a single column.
    assert bisquare_cutoff(5, 0.5) == pytest.approx(4.652023342597687, rel=1e-8)
    assert bisquare_cutoff(6, 0.5) == pytest.approx(5.147685251367245, rel=1e-8)
    assert bisquare_cutoff(1, 0.5) == pytest.approx(1.547645, abs=1e-6)


def test_truncated_moment_by_quadrature():
    r = np.linspace(0, 2.0, 200_001)
    density = r * np.exp(-(r**2) / 2)  # of chi with 2 degrees of freedom
    expected = np.trapezoid(r**4 * density, r)
    assert truncated_moment(2, 2, 4.0) == pytest.approx(expected, rel=1e-9)


def test_weights_end_at_the_radius():
    assert bisquare_weights(np.array([1.0, 4.0, 5.0]), 4.0).tolist() == [0.5625, 0.0, 0.0]


def test_tied_direction_error_names_columns_and_survives_pickling():
    x = np.random.default_rng(4).normal(size=(20, 4)) * [1.0, 1e-6, 1e6, 1.0]
    x[:12, 2] = 1e12 * x[:12, 1] + 5.0
    error = tied_direction_error("ogk", x, np.array([0.0, 1e12, -1.0, 0.0]), allowed=10)
    assert isinstance(error, ExactFitError)
    assert (error.columns, error.rows_on_it, error.allowed) == ((1, 2), 12, 10)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
