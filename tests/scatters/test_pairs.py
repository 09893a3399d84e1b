"""Symmetrised scatters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chi2

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import affine_distance, cholesky_factor
from icsa.scatters import pairs
from icsa.scatters.pairs import _weighted_differences, duembgen, symm_huber
from icsa.scatters.tyler_shape import tyler
from tests.conftest import load_reference
from tests.scatters.laws import (
    SMALL_SETS,
    assert_equivariant,
    assert_order_free,
    tables_and_maps,
    tight,
)

BOTH = pytest.mark.parametrize("scatter", [duembgen, symm_huber])


def all_differences(x):
    return np.array([x[j] - x[i] for i, j in combinations(range(len(x)), 2)])


@pytest.mark.parametrize("name", SMALL_SETS)
@pytest.mark.parametrize(
    ("key", "scatter"), [("duembgen_shape", duembgen), ("symm_huber_qg0.9", symm_huber)]
)
def test_as_in_r(name, key, scatter):
    x, reference, _ = tight(name, key)
    result = scatter(x)
    assert affine_distance(reference, result.scatter) < 1e-9
    np.testing.assert_allclose(result.location, x.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("name", ["iris", "wood", "starsCYG"])
def test_duembgen_is_tyler_of_the_differences(name):
    x, _ = load_reference(name)
    differences = all_differences(x)
    slow = tyler(differences, location=np.zeros(x.shape[1]))
    assert affine_distance(slow.scatter, duembgen(x).scatter) < 1e-10


@pytest.mark.parametrize("quantile", [0.5, 0.9])
@pytest.mark.parametrize("name", ["iris", "wood"])
def test_huber_equation(name, quantile):
    x, _ = load_reference(name)
    p = x.shape[1]
    scatter = symm_huber(x, quantile=quantile).scatter
    y = np.linalg.solve(cholesky_factor(scatter), all_differences(x).T)
    d = np.square(y).sum(axis=0)
    cut = 2 * chi2.ppf(quantile, p)
    scale = 2 * chi2.cdf(cut / 2, p + 2) + cut / p * (1 - quantile)
    w = np.where(d <= cut, 1.0, cut / np.maximum(d, cut)) / scale
    assert np.abs((y * w) @ y.T / len(d) - np.eye(p)).max() < 1e-10
    assert 0.0 < np.mean(d > cut) < 1.0


def test_huber_estimates_the_covariance_of_normal_data():
    x = np.random.default_rng(0).standard_normal((1000, 2)) * [1.0, 5.0]
    assert affine_distance(np.diag([1.0, 25.0]), symm_huber(x).scatter) < 0.15


def test_worked_by_hand():
    # Differences of a rectangle's corners: two along each side, two diagonals; whitened, a
    # square's.
    x = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
    np.testing.assert_allclose(duembgen(x).scatter, np.diag([2.0, 0.5]), atol=1e-11)
    # Inside the cut all weights are 1/s^2: the mean square of the differences, (2 + 2) 16/6 by
    # column 0.
    cut = 2 * chi2.ppf(0.9, 2)
    scale = 2 * chi2.cdf(cut / 2, 4) + cut / 2 * 0.1
    expected = np.diag([4 * 16 / 6, 4 * 4 / 6]) / scale
    np.testing.assert_allclose(symm_huber(x).scatter, expected, atol=1e-10)


@pytest.mark.parametrize("n", [2, 5, 6])
@pytest.mark.parametrize(("top", "floor"), [(2.0, 0.0), (3.0, 1.5)])
def test_kernel_against_slow_twin(n, top, floor):
    y = np.random.default_rng(n).standard_normal((2, n))
    y[:, 1] = y[:, 0]  # a tied pair
    count = n * (n - 1) // 2
    filled = np.empty((2, count))
    twice = np.concatenate([y, y], axis=1)
    half = count // 2
    used = _weighted_differences(twice, 0, top, floor, filled[:, :half])
    used += _weighted_differences(twice, half, top, floor, filled[:, half:])

    squares, expected_used = np.zeros((2, 2)), 0
    for i, j in combinations(range(n), 2):
        difference = y[:, j] - y[:, i]
        d = difference @ difference
        if d > 0.0 or floor > 0.0:
            expected_used += 1
            squares += top / max(floor, d) * np.outer(difference, difference)
    assert used == expected_used
    np.testing.assert_allclose(filled @ filled.T, squares, rtol=1e-12, atol=1e-14)


@BOTH
def test_blocks_do_not_matter(scatter, monkeypatch):
    x, _ = load_reference("stackloss")
    whole = scatter(x).scatter
    monkeypatch.setattr(pairs, "_BLOCK", 13)
    assert affine_distance(whole, scatter(x).scatter) < 1e-10


@BOTH
def test_incomplete_pairs_are_close_to_all(scatter):
    x = np.random.default_rng(2).standard_t(4, (600, 3)) @ np.diag([1.0, 1e4, 1e-4])
    everything = scatter(x).scatter
    some = scatter(x, pairs_per_row=30).scatter
    few = scatter(x, pairs_per_row=2).scatter
    assert 1e-6 < affine_distance(everything, some) < 0.05
    assert affine_distance(everything, some) < affine_distance(everything, few)
    enough = scatter(x, pairs_per_row=300).scatter
    assert affine_distance(everything, enough) < 1e-10


def test_many_rows_use_an_incomplete_set(monkeypatch):
    x = np.random.default_rng(3).standard_normal((300, 2))
    given_number = duembgen(x, pairs_per_row=pairs._PAIRS_PER_ROW).scatter
    monkeypatch.setattr(pairs, "_ALL_PAIRS_ROWS", 299)
    assert (duembgen(x).scatter == given_number).all()


@BOTH
def test_incomplete_pairs_do_not_depend_on_order_or_units(scatter):
    x = np.random.default_rng(4).standard_normal((200, 3))
    a = np.array([[1e6, 0.0, 0.0], [3.0, 2.0, 0.0], [0.0, 1e-6, 1e-6]])

    def incomplete(table):
        return scatter(table, pairs_per_row=5)

    assert_order_free(incomplete, x)
    assert_equivariant(incomplete, (x, a, np.ones(3)), shape=scatter is duembgen)


@BOTH
@given(drawn=tables_and_maps())
def test_affine_equivariance(scatter, drawn):
    assert_equivariant(scatter, drawn, shape=scatter is duembgen)


@BOTH
def test_row_order_does_not_matter(scatter):
    assert_order_free(scatter, load_reference("iris")[0])


def test_tied_rows_are_dropped_at_any_scale():
    """Equal rows must stay equal after whitening: their differences have no direction."""
    x = np.random.default_rng(5).standard_normal((37, 5)) * 10.0 ** np.arange(-4, 6, 2)
    tied = np.vstack([x, x[:11]])
    slow = tyler(all_differences(tied), location=np.zeros(5))
    assert affine_distance(slow.scatter, duembgen(tied).scatter) < 1e-10


def test_too_many_rows_on_a_plane():
    x = np.random.default_rng(6).standard_normal((40, 2))
    x[:34, 1] = 1.0
    with pytest.raises(
        ExactFitError, match=r"duembgen is singular: column '1' .* 34 of 40 rows, .* most 28"
    ):
        duembgen(x)


@BOTH
def test_degenerate_tables_and_options(scatter):
    x = np.random.default_rng(7).standard_normal((9, 3))
    name = scatter.__name__
    with pytest.raises(InputError, match=f"{name} needs more rows than columns: got 3 rows"):
        scatter(x[:3])
    with pytest.raises(InputError, match=rf"{name} .* column 0 is constant"):
        scatter(x * [0.0, 1.0, 1.0])
    with pytest.raises(InputError, match=f"{name} needs at least one pair per row: got 0"):
        scatter(x, pairs_per_row=0)
    with pytest.raises(ConvergenceError, match=f"{name} did not converge"):
        scatter(load_reference("wood")[0], max_iterations=2)


@pytest.mark.parametrize("quantile", [0.0, 1.0, np.nan])
def test_quantile(quantile):
    with pytest.raises(InputError, match="quantile between 0 and 1"):
        symm_huber(np.eye(5)[:, :2], quantile=quantile)
