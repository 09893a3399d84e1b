"""The solver of M-estimates."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.errors import ConvergenceError
from icsa.scatters.fixed_point import Move, UnsolvedError, solve
from icsa.scatters.weighting import substitution
from icsa.scatters.whitening import centred, factor_of


def table(seed=0, n=60, p=4):
    x = np.random.default_rng(seed).standard_t(2, (n, p))
    return centred(x)[1]


def hr_step(p):
    return substitution(float(p), 0.0, location_power=0.5, average=False)


def test_accelerated_and_plain_steps_end_at_the_same_place():
    rows = table()
    p = rows.shape[0]
    start = factor_of(rows, np.zeros(len(rows)), "test")
    step = hr_step(p)
    gains = (p / (p - 1), (p + 2) / p)
    fast = solve(rows, step, np.zeros(p), start, gains=gains)
    location, factor, plain = np.zeros(p), start, 0
    while True:  # the plain substitution, written out
        inverse = np.linalg.inv(factor)
        move = step(rows, inverse, inverse @ location)
        plain += 1
        if move.residual < 1e-12:
            break
        location = location + factor @ move.shift
        factor = factor @ np.linalg.cholesky(np.eye(p) + move.change)
    np.testing.assert_allclose(fast.location, location, atol=1e-10)
    shape = fast.factor @ fast.factor.T
    plain_shape = factor @ factor.T
    np.testing.assert_allclose(shape / shape[0, 0], plain_shape / plain_shape[0, 0], atol=1e-10)
    assert fast.iterations < plain / 2


@pytest.mark.parametrize("far", [1e2, 1e4, 1e6])
def test_the_start_does_not_matter(far):
    rows = table(1)
    p = rows.shape[0]
    good = solve(rows, hr_step(p), np.zeros(p), factor_of(rows, np.zeros(len(rows)), "test"))
    skewed = np.diag([far, 1.0, 1.0, 1.0 / far])
    bad = solve(rows, hr_step(p), np.full(p, 0.3), skewed)
    np.testing.assert_allclose(bad.location, good.location, atol=1e-9)


def test_limit_is_an_error_that_carries_the_last_estimate():
    rows = table(2)
    p = rows.shape[0]
    with pytest.raises(ConvergenceError, match="No solution after 3 iterations") as caught:
        solve(
            rows,
            hr_step(p),
            np.zeros(p),
            factor_of(rows, np.zeros(len(rows)), "test"),
            max_iterations=3,
        )
    assert isinstance(caught.value, UnsolvedError)
    assert caught.value.iterations == 3
    assert caught.value.factor.shape == (p, p)


def test_collapse_ends_before_the_limit():
    def shrink(base, a, b):
        return Move(np.zeros(2), np.diag([0.0, -0.9]), 1.0)

    with pytest.raises(UnsolvedError) as caught:
        solve(np.ones((2, 5)), shrink, np.zeros(2), np.eye(2), max_iterations=1000)
    assert caught.value.iterations < 50


def test_stalled_acceleration_falls_back_to_plain_steps():
    """Stretched far too much, steps overshoot; plain ones still arrive."""
    rows = table(3)
    p = rows.shape[0]
    start = factor_of(rows, np.zeros(len(rows)), "test")
    good = solve(rows, hr_step(p), np.zeros(p), start)
    wild = solve(rows, hr_step(p), np.zeros(p), start, gains=(40.0, 40.0))
    np.testing.assert_allclose(wild.location, good.location, atol=1e-10)
