"""Counts are kept exactly, and nearly nothing is lost by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from icsa.columns import assignment
from icsa.columns.assignment import assigned_levels, balancing_offsets
from icsa.columns.counts import counts_among, positions_by_rank

SEEDS = st.integers(0, 2**32 - 1)


@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=6), seed=SEEDS, tied=st.booleans())
def test_ranks_follow_a_stable_sort(counts: list[int], seed: int, tied: bool) -> None:
    scores = np.random.default_rng(seed).normal(size=sum(counts))
    if tied:
        scores = np.rint(scores)
    expected = np.empty(sum(counts))
    expected[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    np.testing.assert_array_equal(positions_by_rank(scores, np.array(counts)), expected)


def counted_scores(
    n_rows: int, n_levels: int, seed: int, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy dummies and the counts of the levels, none of them zero."""
    generator = np.random.default_rng(seed)
    levels = generator.integers(0, n_levels, size=n_rows)
    levels[:n_levels] = np.arange(n_levels)
    scores = noise * generator.normal(size=(n_levels, n_rows))
    scores[levels, np.arange(n_rows)] += 1.0
    return scores, np.bincount(levels)


def total(scores: np.ndarray, levels: np.ndarray) -> float:
    return float(scores[levels.astype(int), np.arange(levels.size)].sum())


def largest_total(scores: np.ndarray, counts: np.ndarray) -> float:
    """Return the best total there is: every level repeated as often as it is wanted."""
    repeated = np.repeat(scores, counts, axis=0)
    rows, columns = linear_sum_assignment(repeated, maximize=True)
    return float(repeated[rows, columns].sum())


@given(n_levels=st.integers(2, 6), extra=st.integers(0, 60), seed=SEEDS)
def test_the_assignment_is_nearly_the_best(n_levels: int, extra: int, seed: int) -> None:
    scores, counts = counted_scores(n_levels + extra, n_levels, seed, noise=0.7)
    levels = assigned_levels(scores, counts)
    np.testing.assert_array_equal(np.bincount(levels.astype(int)), counts)
    assert total(scores, levels) >= largest_total(scores, counts) - 0.002 * counts.sum()


@given(n_levels=st.integers(2, 6), extra=st.integers(0, 60), seed=SEEDS)
def test_tied_scores_keep_the_counts_too(n_levels: int, extra: int, seed: int) -> None:
    scores, counts = counted_scores(n_levels + extra, n_levels, seed, noise=1.0)
    for tied in (np.rint(scores), np.zeros_like(scores)):
        levels = assigned_levels(tied, counts)
        np.testing.assert_array_equal(np.bincount(levels.astype(int)), counts)
        np.testing.assert_array_equal(assigned_levels(tied, counts), levels)


def test_four_rows_worked_by_hand() -> None:
    # All rows like level 0 best; it may have two. Rows 1 and 3 lose least by going elsewhere.
    scores = np.array([[0.9, 0.6, 0.9, 0.6], [0.1, 0.5, 0.0, 0.1], [0.0, 0.1, 0.1, 0.5]])
    np.testing.assert_array_equal(assigned_levels(scores, np.array([2, 1, 1])), [0, 1, 0, 2])


@pytest.mark.parametrize("n_levels", [2, 3, 8])
def test_long_tables_start_from_a_sample(n_levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, counts = counted_scores(5000, n_levels, seed=7, noise=0.7)
    at_once = assigned_levels(scores, counts)
    monkeypatch.setattr(assignment, "_SAMPLE", 500)
    from_sample = assigned_levels(scores, counts)
    np.testing.assert_array_equal(np.bincount(from_sample.astype(int)), counts)
    assert total(scores, from_sample) == pytest.approx(total(scores, at_once), rel=1e-5)


def test_rare_levels_in_long_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignment, "_SAMPLE", 200)
    generator = np.random.default_rng(3)
    scores = generator.normal(size=(5, 3000))
    counts = np.array([2000, 989, 9, 1, 1])
    for same in (scores, np.zeros_like(scores), np.rint(scores)):
        levels = assigned_levels(same, counts)
        np.testing.assert_array_equal(np.bincount(levels.astype(int)), counts)


@given(n_levels=st.integers(2, 6), seed=SEEDS)
def test_kernels_do_what_numpy_does(n_levels: int, seed: int) -> None:
    scores, counts = counted_scores(50, n_levels, seed, noise=1.0)
    offsets, levels = balancing_offsets(scores, counts, np.zeros(n_levels))
    shifted = scores + offsets[:, None]
    np.testing.assert_allclose(shifted[levels, np.arange(50)], shifted.max(axis=0))


@given(n_levels=st.integers(2, 5), seed=SEEDS)
def test_updated_rankings_are_those_from_scratch(n_levels: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(n_levels, 30))
    offsets = np.zeros(n_levels)
    ranking = assignment._ranked(scores, offsets)
    for level in generator.integers(0, n_levels, size=12):
        offsets[level] += generator.normal()
        assignment._update(scores, offsets, level, *ranking)
        for updated, fresh in zip(ranking, assignment._ranked(scores, offsets), strict=True):
            np.testing.assert_array_equal(updated, fresh)


@given(
    counts=st.lists(st.integers(0, 99), min_size=1, max_size=6).filter(any),
    n_rows=st.integers(0, 200),
    seed=SEEDS,
)
def test_another_number_of_rows_has_the_same_shares(
    counts: list[int], n_rows: int, seed: int
) -> None:
    scaled = counts_among(np.array(counts), n_rows)
    assert scaled.sum() == n_rows
    assert np.all(np.abs(scaled - np.array(counts) * n_rows / sum(counts)) < 1)
    scores = np.random.default_rng(seed).normal(size=(len(counts), n_rows))
    for levels in (positions_by_rank(scores[0], scaled), assigned_levels(scores, scaled)):
        np.testing.assert_array_equal(
            np.bincount(levels.astype(int), minlength=scaled.size), scaled
        )
