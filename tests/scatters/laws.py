"""Slow truths and laws that the tests of several scatters share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from icsa.linalg import affine_distance, cholesky_factor, squared_distances
from icsa.scatters.base import LocationScatter
from tests.conftest import load_reference

SETS = (
    "bushfire",
    "hbk",
    "iris",
    "laseri8",
    "stackloss",
    "starsCYG",
    "swiss",
    "synth_200x5",
    "synth_60x10",
    "wdbc30",
    "wdbc_mean10",
    "wood",
)
# R has no symmetrised scatters for the two large tables.
SMALL_SETS = tuple(name for name in SETS if not name.startswith("wdbc"))


def tight(name: str, key: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return a table, R's scatter and its location, if it has one, at machine convergence."""
    x, values = load_reference(name)
    value = values[key]["tight"] if isinstance(values[key], dict) else values[key]
    if not isinstance(value, dict):
        return x, np.array(value), None
    return x, np.array(value["scatter"]), np.array(value.get("center", value.get("location")))


def allowed(name: str, tolerance: float) -> float:
    """Return the tolerance of the reference's README: ten times as much on wdbc."""
    return 10 * tolerance if name.startswith("wdbc") else tolerance


def location_error(result: LocationScatter, location: np.ndarray, scatter: np.ndarray) -> float:
    return float(np.sqrt(squared_distances(result.location[None], location, scatter))[0])


def whiten(x: np.ndarray, result: LocationScatter) -> np.ndarray:
    """Return the rows V^(-1/2) (x - m), up to a rotation."""
    return np.linalg.solve(cholesky_factor(result.scatter), (x - result.location).T).T


def directions(x: np.ndarray, result: LocationScatter) -> np.ndarray:
    y = whiten(x, result)
    return y / np.linalg.norm(y, axis=1, keepdims=True)


@st.composite
def tables_and_maps(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a table, some with heavy tails or an outlier, and an affine map (a, b) of any scale."""
    p = draw(st.integers(2, 5))
    n = draw(st.integers(5 * p, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = rng.standard_normal((n, p))
    kind = draw(st.sampled_from(["normal", "heavy", "outlier"]))
    if kind == "heavy":
        x /= np.sqrt(rng.chisquare(3, (n, 1)))
    if kind == "outlier":
        x[0] *= 1e3
    rotation = np.linalg.qr(rng.standard_normal((p, p)))[0]
    inner = 10.0 ** rng.uniform(0, draw(st.floats(0, 2)), p)
    scales = 10.0 ** rng.uniform(-8, 8, p)
    a = scales[:, None] * (rotation * inner)
    return x, a, scales * rng.standard_normal(p)


def assert_equivariant(
    scatter: Callable[[Any], LocationScatter],
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray],
    *,
    shape: bool = False,
) -> None:
    """Assert S(x a' + b) = a S(x) a', up to a factor for a shape, and the same for the location."""
    x, a, b = drawn
    before, after = scatter(x), scatter(x @ a.T + b)
    expected = a @ before.scatter @ a.T
    if shape:
        expected *= np.exp(-2.0 / a.shape[0] * np.linalg.slogdet(a)[1])
    condition = (
        np.linalg.cond(before.scatter) * np.linalg.cond(a / np.abs(a).max(axis=1)[:, None]) ** 2
    )
    bound = 1e-10 + 1e-13 * condition
    assert affine_distance(expected, after.scatter) < bound
    moved = a @ before.location + b
    metric = a @ np.cov(x.T) @ a.T
    assert np.sqrt(squared_distances(after.location[None], moved, metric))[0] < bound


def assert_order_free(scatter: Callable[[Any], LocationScatter], x: np.ndarray) -> None:
    """Assert that shuffling the rows changes nothing."""
    shuffled = x[np.random.default_rng(5).permutation(x.shape[0])]
    first, second = scatter(x), scatter(shuffled)
    assert affine_distance(first.scatter, second.scatter) < 1e-10
    np.testing.assert_allclose(second.location, first.location, rtol=1e-9, atol=1e-10)
