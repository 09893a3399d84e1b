"""The one-step rank shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chi2, rankdata

from icsa.errors import ConvergenceError, InputError
from icsa.linalg import affine_distance
from icsa.scatters.hettmansperger_randles import hr
from icsa.scatters.rank_shape import average_ranks, hp1
from tests.conftest import load_reference
from tests.scatters.laws import (
    SMALL_SETS,
    assert_equivariant,
    assert_order_free,
    tables_and_maps,
    tight,
)


@pytest.mark.parametrize("name", SMALL_SETS)
def test_as_in_r(name):
    x, reference, _ = tight(name, "HP1_shape")
    result = hp1(x)
    # R's own value carries the error of its loosely converged HR.
    assert affine_distance(reference, result.scatter) < 5e-5
    np.testing.assert_array_equal(result.location, hr(x).location)


@pytest.mark.parametrize("name", ["swiss", "wood", "synth_60x10"])
def test_defining_equation(name):
    x, _ = load_reference(name)
    n, p = x.shape
    first = hr(x)
    values, vectors = np.linalg.eigh(first.scatter)
    root = (vectors * np.sqrt(values)) @ vectors.T
    y = np.linalg.solve(root, (x - first.location).T).T
    r = np.linalg.norm(y, axis=1)
    scores = chi2.ppf(rankdata(r) / (n + 1), p)
    u = y / r[:, None]
    shape = root @ (u.T * scores) @ u @ root
    shape /= np.linalg.det(shape) ** (1 / p)
    assert affine_distance(shape, hp1(x).scatter) < 1e-8


def test_worked_by_hand():
    # Corners of a hexagon, the two on the first axis pushed out: HR is (0, I). Of six ranks the
    # outer rows have 5.5, the others 2.5; the outer products of the others add up to diag(1, 3).
    angles = np.arange(6) * np.pi / 3
    x = np.column_stack([np.cos(angles), np.sin(angles)])
    x[[0, 3]] *= 9.0
    high, low = chi2.ppf([5.5 / 7, 2.5 / 7], 2)
    expected = np.diag([2 * high + low, 3 * low])
    expected /= np.sqrt(np.linalg.det(expected))
    np.testing.assert_allclose(hp1(x).scatter, expected, atol=1e-9)


def test_average_ranks():
    values = np.array([3.0, 1.0, 2.0, 3.0 * (1.0 + 1e-12), 0.0, 2.0, 2.0])
    np.testing.assert_array_equal(average_ranks(values), [6.5, 2.0, 4.0, 6.5, 1.0, 4.0, 4.0])
    distinct = np.random.default_rng(0).random(100)
    np.testing.assert_array_equal(average_ranks(distinct), rankdata(distinct))


@given(drawn=tables_and_maps())
def test_affine_equivariance(drawn):
    assert_equivariant(hp1, drawn, shape=True)


def test_row_order_does_not_matter():
    assert_order_free(hp1, load_reference("iris")[0])


def test_errors():
    x, _ = load_reference("wood")
    with pytest.raises(InputError, match="hp1 needs more rows than columns: got 5 rows"):
        hp1(x[:5])
    with pytest.raises(ConvergenceError, match="did not converge"):
        hp1(x, max_iterations=2)
