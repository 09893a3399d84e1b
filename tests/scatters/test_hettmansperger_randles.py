"""The Hettmansperger-Randles location and shape."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.linalg import affine_distance
from icsa.scatters.hettmansperger_randles import hr
from tests.conftest import load_reference
from tests.scatters.laws import (
    SETS,
    allowed,
    assert_equivariant,
    assert_order_free,
    directions,
    location_error,
    tables_and_maps,
    tight,
)


@pytest.mark.parametrize("name", SETS)
def test_as_in_r(name):
    x, reference, location = tight(name, "HR")
    result = hr(x)
    assert affine_distance(reference, result.scatter) < allowed(name, 1e-8)
    assert location_error(result, location, reference) < allowed(name, 1e-8)


def assert_equations(x, result, bound=1e-10):
    p = x.shape[1]
    u = directions(x, result)
    assert np.abs(u.mean(axis=0)).max() < bound
    assert np.abs(p * u.T @ u / len(u) - np.eye(p)).max() < bound


@pytest.mark.parametrize("name", SETS)
def test_defining_equations(name):
    x, _ = load_reference(name)
    result = hr(x)
    assert result.converged
    assert_equations(x, result)
    assert np.linalg.slogdet(result.scatter)[1] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("outlier", [1e2, 1e4, 1e6])
def test_equations_with_an_outlier_and_any_units(seed, outlier):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((80, 5)) + 3.0
    x[seed] *= outlier
    x *= 10.0 ** rng.uniform(-8, 8, 5)
    assert_equations(x, hr(x))


def test_worked_by_hand():
    # Centred at (1, 0) and whitened by diag(2, 1/2), the rows point to the eight corners of an
    # octagon.
    corners = np.array([[2, 1], [2, -1], [-2, 1], [-2, -1], [2, 0], [-2, 0], [0, 1], [0, -1]])
    x = corners * [[3.0], [5.0], [7.0], [9.0], [1.0], [40.0], [2.0], [8.0]] + [1.0, 0.0]
    result = hr(x)
    np.testing.assert_allclose(result.location, [1.0, 0.0], atol=1e-10)
    np.testing.assert_allclose(result.scatter, np.diag([2.0, 0.5]), atol=1e-10)


def test_one_column_is_the_median():
    result = hr([[1.0], [2.0], [9.0], [4.0], [3.0]])
    assert result.location == pytest.approx(3.0)
    assert (result.scatter == 1.0).all()


def ring_around_a_row(tied):
    angles = np.linspace(0.0, 2.0 * np.pi, 9)[:8]
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) * np.linspace(1.0, 3.0, 8)[:, None]
    ring[0] += [0.0, 0.2]
    return ring, np.vstack([ring, np.zeros((tied, 2))])


@pytest.mark.parametrize("tied", [1, 4])
def test_location_at_a_row(tied):
    ring, x = ring_around_a_row(tied)
    result = hr(x + 5.0)
    np.testing.assert_allclose(result.location, [5.0, 5.0], atol=1e-12)
    u = directions(ring + 5.0, result)
    v = -u.sum(axis=0) / tied
    assert 0.01 < np.linalg.norm(v) < 1.0
    own = np.outer(v, v) + (1.0 - v @ v) / 2 * np.eye(2)
    np.testing.assert_allclose((u.T @ u + tied * own) * 2 / len(x), np.eye(2), atol=1e-10)


def test_estimate_moves_continuously_off_a_row():
    """Turn one of the other rows to the opposite side: the centre can no longer balance them."""
    _, x = ring_around_a_row(1)
    path = []
    for angle in np.linspace(0.0, np.pi, 120):
        turned = x.copy()
        c, s = np.cos(angle), np.sin(angle)
        turned[6] = np.array([[c, -s], [s, c]]) @ x[6]
        path.append(hr(turned))
        if np.abs(path[-1].location).max() > 1e-12:
            assert_equations(turned, path[-1])
    at_row = [np.abs(result.location).max() < 1e-12 for result in path]
    assert at_row[0]
    assert not at_row[-1]
    jumps = [affine_distance(a.scatter, b.scatter) for a, b in pairwise(path)]
    assert max(jumps) < 0.05
    # Where it has just left the row, only Newton steps for the location get anywhere.
    near = [np.abs(result.location).max() for result in path]
    assert min(distance for distance in near if distance > 1e-12) < 0.02
    assert max(affine_distance(path[0].scatter, other.scatter) for other in path) > 0.4


@pytest.mark.parametrize("seed", range(40))
def test_small_samples_have_an_estimate(seed):
    x = np.random.default_rng(seed).standard_normal((10, 2))
    result = hr(x)
    nearest = np.abs(x - result.location).max(axis=1).min()
    if nearest > 1e-12:
        assert_equations(x, result)


@given(drawn=tables_and_maps())
def test_affine_equivariance(drawn):
    assert_equivariant(hr, drawn, shape=True)


@pytest.mark.parametrize("name", ["iris", "stackloss"])
def test_row_order_does_not_matter(name):
    assert_order_free(hr, load_reference(name)[0])


def test_duplicated_table_has_the_same_estimate():
    x, _ = load_reference("swiss")
    once, twice = hr(x), hr(np.vstack([x, x]))
    assert affine_distance(once.scatter, twice.scatter) < 1e-10
    assert location_error(twice, once.location, once.scatter) < 1e-10


def test_too_many_rows_on_a_plane():
    x = np.random.default_rng(1).standard_normal((30, 3))
    x[:24, 0] = x[:24, 1] + x[:24, 2] + 3.0
    with pytest.raises(
        ExactFitError, match=r"hr is singular: columns '0', '1', '2' .* 24 of 30 rows, .* 19"
    ):
        hr(x)


def test_degenerate_tables():
    x = np.random.default_rng(3).standard_normal((9, 3))
    with pytest.raises(InputError, match="hr needs more rows than columns: got 3 rows"):
        hr(x[:3])
    with pytest.raises(InputError, match="column 2 is constant"):
        hr(x * [1.0, 1.0, 0.0])
    dependent = x.copy()
    dependent[:, 1] = 3.0 * dependent[:, 0]
    with pytest.raises(InputError, match=r"hr .* column 1 is a linear combination"):
        hr(dependent)
    with pytest.raises(ConvergenceError, match=r"hr did not converge: .* after 2 iterations"):
        hr(load_reference("wood")[0], max_iterations=2)
