"""S against R, its defining equations, its laws and its search."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import affine_distance, log_determinant, squared_distances
from icsa.scatters import reweighting, s_search
from icsa.scatters.base import search_generator
from icsa.scatters.s_estimate import s
from icsa.scatters.univariate import bisquare_radii, bisquare_weights
from tests.conftest import load_reference

SETS = (
    *("bushfire", "hbk", "iris", "laseri8", "stackloss", "starsCYG", "swiss"),
    *("synth_200x5", "synth_60x10", "wdbc30", "wdbc_mean10", "wood"),
)


def best_of_r(values):
    """Return crit, location and scatter of the better one of rrcov's two algorithms."""
    det, fast = values["rrcov_CovSest_sdet"], values["rrcov_CovSest_sfast"]
    crit, best = min(
        (det["crit"], det), (min(fast["crit_per_seed"]), fast), key=lambda pair: pair[0]
    )
    return crit, np.array(best["center"]), np.array(best["cov"])


def assert_fixed_point(x, found, tolerance):
    """Check the constraint, the weighted mean, the weighted covariance and the objective."""
    squared = squared_distances(x, found.location, found.scatter)
    share = np.minimum(squared / found.cutoff**2, 1)
    assert np.mean(1 - (1 - share) ** 3) == pytest.approx(found.breakdown, rel=tolerance)
    weights = (1 - share) ** 2
    mean = weights @ x / weights.sum()
    assert np.sqrt(squared_distances(mean[None], found.location, found.scatter))[0] < tolerance
    # Lopuhaä (1989): p sum w (x - t)(x - t)' = sum v C, with v = d² w - rho + b in rho's units.
    y = x - found.location
    rho = found.cutoff**2 / 6 * (1 - (1 - share) ** 3)
    v = squared * weights - rho + found.breakdown * found.cutoff**2 / 6
    scatter = x.shape[1] * (y * weights[:, None]).T @ y / v.sum()
    assert affine_distance(found.scatter, scatter) < tolerance
    root = math.exp(log_determinant(found.scatter) / (2 * x.shape[1]))
    assert found.scale == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize("name", SETS)
def test_best_values_of_r(name):
    x, values = load_reference(name)
    crit, location, scatter = best_of_r(values)
    found = s(x)
    # rrcov stops early: its values are 5e-7 from the fixed point at most.
    assert found.scale == pytest.approx(crit, rel=1e-8)
    assert affine_distance(scatter, found.scatter) < 2e-6
    assert np.sqrt(squared_distances(found.location[None], location, scatter))[0] < 2e-6
    assert_fixed_point(x, found, 1e-8)


@pytest.mark.parametrize("breakdown", [0.1, 0.25])
def test_defining_equations_at_other_breakdown_points(breakdown):
    x = load_reference("bushfire")[0]
    assert_fixed_point(x, s(x, breakdown=breakdown, n_starts=50), 1e-8)


def slow_minimum(x):
    """Return the objective by plain iteration from every set of p + 1 rows of a small table."""
    p = x.shape[1]
    best = np.inf
    for rows in combinations(range(len(x)), p + 1):
        location, scatter = x[list(rows)].mean(axis=0), np.cov(x[list(rows)].T)
        for _ in range(60):
            squared = squared_distances(x, location, scatter)
            weights = bisquare_weights(squared, bisquare_radii(squared[None], 0.5)[0])
            location = weights @ x / weights.sum()
            y = x - location
            scatter = (y * weights[:, None]).T @ y
        scatter /= math.exp(log_determinant(scatter) / p)
        squared = squared_distances(x, location, scatter)
        best = min(best, math.sqrt(bisquare_radii(squared[None], 0.5)[0]))
    return best


def test_search_finds_what_all_subsets_find():
    x = np.random.default_rng(13).standard_t(2, size=(12, 2))
    found = s(x)
    assert found.scale * found.cutoff <= slow_minimum(x) * (1 + 1e-7)


def test_one_column_is_the_m_scale():
    # Symmetric rows: the location is 0. The far ones have rho 1.
    x = np.array([[-100.0], [-1.0], [-1.0], [1.0], [1.0], [100.0]])
    found = s(x)
    share = 1 - 0.75 ** (1 / 3)  # (4 rho + 2)/6 = 1/2 gives rho = 1/4, (1 - u)³ = 3/4
    assert found.location[0] == pytest.approx(0.0, abs=1e-9)
    assert found.scatter[0, 0] == pytest.approx(1 / (share * found.cutoff**2), rel=1e-9)


@given(st.integers(0, 2**32))
def test_affine_maps_and_row_order_go_through(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(5, size=(40, 3))
    a = (10.0 ** rng.uniform(-8, 8, 3))[:, None] * np.linalg.qr(rng.normal(size=(3, 3)))[0]
    order = rng.permutation(40)
    plain = s(x, n_starts=100)
    moved = s((x[order] - 1.0) @ a.T, n_starts=100)
    assert affine_distance(a @ plain.scatter @ a.T, moved.scatter) < 1e-6
    gap = moved.location - a @ (plain.location - 1.0)
    assert np.sqrt(squared_distances(gap[None], np.zeros(3), moved.scatter))[0] < 1e-6


@pytest.mark.parametrize("name", ["wood", "swiss", "synth_60x10"])
def test_order_of_the_rows_does_not_matter(name):
    x = load_reference(name)[0]
    order = np.random.default_rng(0).permutation(len(x))
    assert affine_distance(s(x).scatter, s(x[order]).scatter) < 1e-9


def test_random_state_is_used_and_none_is_fixed():
    x = load_reference("wood")[0]
    assert np.array_equal(s(x, n_starts=20).scatter, s(x, n_starts=20).scatter)
    drawn = [
        list(s_search._random_subsets(x, 3, search_generator(state))) for state in (1, 2, None)
    ]
    assert not np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_deterministic_starts_alone_are_not_enough_on_swiss():
    x, values = load_reference("swiss")
    assert s(x, n_starts=0).scale > s(x).scale * 1.2
    assert s(x).scale == pytest.approx(best_of_r(values)[0], rel=1e-8)


def test_breakdown():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(100, 4))
    x[:40] += 30.0
    found = s(x)
    assert np.all(np.abs(found.location) < 1)
    assert np.linalg.eigvalsh(found.scatter)[-1] < 5


def test_long_tables_are_screened_on_a_sample():
    x = np.random.default_rng(2).normal(size=(3000, 3))
    x[:900] += 10.0
    found = s(x)
    assert np.all(np.abs(found.location) < 0.2)
    assert_fixed_point(x, found, 1e-8)


def test_steps_lower_the_radius_like_a_plain_loop():
    unit = np.random.default_rng(3).standard_t(3, size=(30, 3))
    starts = s_search._from_subsets(s_search._random_subsets(unit, 5, np.random.default_rng(4)), 3)
    stepped = s_search._stepped(unit, starts, 0.5, 4, unit)
    for k in range(stepped.radii.size):
        location, factor = starts.locations[k], starts.factors[k]
        radii = []
        for _ in range(4):
            squared = squared_distances(unit, location, factor @ factor.T)
            radii.append(bisquare_radii(squared[None], 0.5)[0])
            weights = bisquare_weights(squared, radii[-1])
            location = weights @ unit / weights.sum()
            y = unit - location
            scatter = (y * weights[:, None]).T @ y
            factor = np.linalg.cholesky(scatter / np.linalg.det(scatter) ** (1 / 3))
        assert np.all(np.diff(radii) < 1e-12)
        assert stepped.radii[k] == pytest.approx(radii[-1], rel=1e-8)
        np.testing.assert_allclose(stepped.factors[k], factor, rtol=1e-5, atol=1e-6)


def test_singular_subsets_are_left_out():
    rows = np.random.default_rng(5).normal(size=(6, 2))
    flat = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert s_search._from_subsets([rows[:3], flat, rows[3:]], 2).radii.size == 2


def test_one_singular_matrix_does_not_spoil_the_block():
    factors = reweighting.unit_factors(np.array([np.eye(2), np.zeros((2, 2)), 4 * np.eye(2)]))
    np.testing.assert_allclose(factors[[0, 2]], [np.eye(2), np.eye(2)])
    assert np.isnan(factors[1]).all()


def test_half_the_rows_on_a_plane():
    x = np.random.default_rng(6).normal(size=(60, 3)) * [1.0, 1e-6, 1e6]
    x[:35, 2] = 1e6 * x[:35, 0] + 2e12 * x[:35, 1]
    with pytest.raises(ExactFitError, match="satisfy one linear equation in 35 of 60") as caught:
        s(x)
    assert (caught.value.columns, caught.value.allowed) == ((0, 1, 2), 29)


def test_fewer_rows_on_a_plane_are_no_error():
    x = np.random.default_rng(7).normal(size=(60, 3))
    x[:20, 2] = x[:20, 0] + x[:20, 1]
    assert_fixed_point(x, s(x, n_starts=100), 1e-8)


def test_tied_column():
    x = np.random.default_rng(8).normal(size=(40, 2))
    x[:20, 0] = 7.0
    x[20, 0] = 7.0
    with pytest.raises(ExactFitError, match="column '0' has one value in 21 of 40 rows"):
        s(x)


def test_smaller_breakdown_allows_more_ties():
    x = np.random.default_rng(9).normal(size=(60, 2))
    x[:33, 0] = 0.0
    assert_fixed_point(x, s(x, breakdown=0.2, n_starts=100), 1e-8)


def test_dependent_columns():
    x = np.random.default_rng(10).normal(size=(40, 3))
    x[:, 2] = x[:, 0] + x[:, 1]
    with pytest.raises(InputError, match="some columns depend on others exactly"):
        s(x)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"breakdown": 0.6}, r"at most 0\.5: got 0\.6"),
        ({"breakdown": 0.0}, r"above 0 and at most 0\.5: got 0\.0"),
        ({"n_starts": -1}, "0 or more random starts: got n_starts=-1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        s(load_reference("stackloss")[0], **options)


def test_too_few_rows():
    x = np.random.default_rng(11).normal(size=(10, 5))
    with pytest.raises(
        InputError, match=r"more than 10 rows for 5 columns at breakdown=0\.5: got 10"
    ):
        s(x)
    assert s(x, breakdown=0.3).breakdown == 0.3


def test_no_start_of_full_rank(monkeypatch):
    monkeypatch.setattr(s_search, "_random_subsets", lambda *_: iter([]))
    monkeypatch.setattr(s_search, "_central_halves", lambda *_: iter([]))
    with pytest.raises(InputError, match="s found no start of full rank in 7 random ones"):
        s(load_reference("hbk")[0], n_starts=7)


def test_too_few_steps():
    with pytest.raises(ConvergenceError, match="s: location and shape still change by more than"):
        s(load_reference("synth_60x10")[0], max_iterations=2)


def test_vanishing_weights():
    x = np.random.default_rng(12).normal(size=(20, 2))
    with pytest.raises(ConvergenceError, match="in step 1 the rows that have weight lie on"):
        reweighting.reweighted_fixed_point(
            x, np.zeros(2), np.eye(2), lambda d: np.zeros_like(d), "mm", 1e-9, 5
        )
