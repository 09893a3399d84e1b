"""Anderson mixing."""

from __future__ import annotations

import numpy as np

from icsa.scatters.mixing import Mixer, _advance, _remember, _shares, _solve_in_place


def test_linear_problem_is_solved_in_as_many_steps_as_it_has_rates():
    """On a linear map with two different rates, two changes tell everything."""
    target = np.array([1.0, -2.0])
    rates = np.array([0.9, 0.5])
    mixer = Mixer(np.zeros(2), np.eye(2))
    location = np.zeros(2)
    for _ in range(4):
        step = (rates - 1.0) * (location - target)
        location, scatter = mixer.next(np.eye(2), step, np.zeros((2, 2)))
        location = location.copy()
    np.testing.assert_allclose(location, target, atol=1e-10)
    np.testing.assert_array_equal(scatter, np.eye(2))


def test_mixing_kernels_against_numpy():
    rng = np.random.default_rng(4)
    size, depth, slot = 12, 8, 3
    steps = np.zeros((size, depth))
    steps[:, :3] = rng.standard_normal((size, 3))
    steps[:, :3] /= np.linalg.norm(steps[:, :3], axis=0)
    sums, previous = rng.standard_normal((size, depth)), rng.standard_normal((2, size))
    gram = np.eye(depth)
    gram[:3, :3] = steps[:, :3].T @ steps[:, :3]
    estimate, step = rng.standard_normal(size), rng.standard_normal(size)

    _remember(estimate, step, previous, steps, sums, slot)
    length = np.linalg.norm(step - previous[1])
    np.testing.assert_allclose(steps[:, slot], (step - previous[1]) / length)
    np.testing.assert_allclose(sums[:, slot] - steps[:, slot], (estimate - previous[0]) / length)

    share = _shares(step, steps, gram, slot)
    expected = np.linalg.lstsq(steps[:, :4], step, rcond=None)[0]
    np.testing.assert_allclose(share[:4], expected, rtol=1e-9)
    assert np.abs(share[4:]).max() == 0.0
    np.testing.assert_allclose(gram[:4, :4], steps[:, :4].T @ steps[:, :4], atol=1e-14)

    mixed = estimate + step - sums @ share
    kept = estimate.copy(), step.copy()
    _advance(estimate, step, previous, sums, share)
    np.testing.assert_allclose(estimate, mixed, rtol=1e-12)
    np.testing.assert_array_equal(previous, kept)


def test_small_solve():
    rng = np.random.default_rng(5)
    a = np.corrcoef(rng.standard_normal((5, 40)))
    b = rng.standard_normal(5)
    solution = b.copy()
    _solve_in_place(a.copy(), solution)
    np.testing.assert_allclose(a @ solution, b, atol=1e-11)
