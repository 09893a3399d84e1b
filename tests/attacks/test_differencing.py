"""Who knows all rows but one computes the last where means are kept, and learns sizes elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.attacks import last_row_from_means, learn_last_score
from icsa.errors import InputError
from icsa.masks import MASKS, redraw

from .tables import people, released


@pytest.mark.parametrize("decorrelate", [False, True])
def test_the_last_row_is_a_difference_of_sums(decorrelate: bool) -> None:
    for seed in range(4):
        x = people(120, 4, seed)
        table, _ = released(x, "permute", seed, decorrelate=decorrelate)
        np.testing.assert_allclose(last_row_from_means(table, x[:-1]), x[-1], atol=1e-9)


@pytest.mark.parametrize("mask", ["flip", "rotate", "redraw"])
def test_it_is_none_where_means_are_drawn_anew(mask: str) -> None:
    found = []
    for seed in range(10):
        x = people(120, 4, seed)
        table, _ = released(x, mask, seed, decorrelate=mask == "redraw")
        found.append((last_row_from_means(table, x[:-1]) - x[-1]) / x.std(axis=0))
    # Farther off than whoever takes the mean, at 1.
    assert np.sqrt(np.mean(np.square(found))) > 1.0


def learnt(mask: str, n: int = 120) -> np.ndarray:
    """Return score and size learnt of several coordinates."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        known, last = rng.normal(size=n - 1), rng.normal(size=150)
        result = learn_last_score(known, last, MASKS[mask], key=seed, simulations=500)
        found.append((result.score, result.size))
    return np.array(found)


def test_what_is_learnt_of_permuted_scores_is_all() -> None:
    assert learnt("permute").max() < 0.1


@pytest.mark.parametrize("mask", ["flip", "rotate"])
def test_signs_are_hidden_and_sizes_are_not(mask: str) -> None:
    found = learnt(mask)
    assert found[:, 0].min() > 0.9
    assert found[:, 1].max() < 0.1


def test_redrawn_scores_tell_little() -> None:
    found = learnt("redraw")
    # Of 24 other coordinates the mean was .96, the least .90.
    assert found.min() > 0.75
    assert found.mean() > 0.85


def test_a_mask_that_adds_enough_noise_teaches_nothing() -> None:
    def noisy(z, *, key, out=None, threads=1):
        return z * 0.0 + np.random.default_rng(5).normal(size=z.shape)

    rng = np.random.default_rng(1)
    found = learn_last_score(rng.normal(size=60), rng.normal(size=200), noisy, key=1)
    assert found.score > 0.97
    assert found.size > 0.95


def test_units_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    known, last = rng.normal(size=60), rng.normal(size=100)
    plain, other = (
        learn_last_score(1e3 * known * s + 7 * s, 1e3 * last * s + 7 * s, redraw, key=3)
        for s in (1.0, 1e-5)
    )
    assert plain.score == pytest.approx(other.score, rel=0.05)


def test_what_cannot_be_learnt_from_is_said() -> None:
    with pytest.raises(InputError, match="All rows but one are needed, 2 of 2"):
        last_row_from_means(np.zeros((3, 2)), np.zeros((3, 2)))
    with pytest.raises(InputError, match="all equal"):
        learn_last_score(np.ones(9), np.ones(9), redraw, key=1)
    with pytest.raises(InputError, match="Two known"):
        learn_last_score([1.0], [1.0, 2.0], redraw, key=1)


def test_more_releases_tell_more() -> None:
    errors = {1: [], 20: []}
    for seed in range(4):
        scores = np.random.default_rng(seed).normal(size=159)
        for releases, found in errors.items():
            learnt = learn_last_score(
                scores[:59], scores[59:], redraw, key=seed, simulations=300, releases=releases
            )
            found.append(learnt.score)
    assert np.mean(errors[20]) < np.mean(errors[1]) - 0.05
