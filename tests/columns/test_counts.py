"""Counts are kept exactly, and nearly nothing is lost by it; or they are moved by a few people."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from icsa.columns import assignment
from icsa.columns.assignment import assigned_levels, balancing_offsets
from icsa.columns.counts import (
    counts_among,
    level_tree,
    most_moved,
    moved_counts,
    positions_by_rank,
)
from icsa.columns.dummies import DummiesInMemory, LevelScores
from icsa.randomness import as_key

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


class Given(LevelScores):
    """Scores of all levels, as a matrix has them."""

    def __init__(self, scores: np.ndarray) -> None:
        super().__init__(DummiesInMemory(scores.T), base=0)

    def _of_levels(self, n_rows: int, dummy: Callable[[int], np.ndarray]) -> np.ndarray:
        width = self.dummies.width
        return np.array([dummy(j) for j in range(width)]).reshape(width, n_rows)


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
    levels = assigned_levels(Given(scores), counts)
    np.testing.assert_array_equal(np.bincount(levels.astype(int)), counts)
    assert total(scores, levels) >= largest_total(scores, counts) - 0.002 * counts.sum()


@given(n_levels=st.integers(2, 6), extra=st.integers(0, 60), seed=SEEDS)
def test_tied_scores_keep_the_counts_too(n_levels: int, extra: int, seed: int) -> None:
    scores, counts = counted_scores(n_levels + extra, n_levels, seed, noise=1.0)
    for tied in (np.rint(scores), np.zeros_like(scores)):
        levels = assigned_levels(Given(tied), counts)
        np.testing.assert_array_equal(np.bincount(levels.astype(int)), counts)
        np.testing.assert_array_equal(assigned_levels(Given(tied), counts), levels)


def test_four_rows_worked_by_hand() -> None:
    # All rows like level 0 best; it may have two. Rows 1 and 3 lose least by going elsewhere.
    scores = np.array([[0.9, 0.6, 0.9, 0.6], [0.1, 0.5, 0.0, 0.1], [0.0, 0.1, 0.1, 0.5]])
    np.testing.assert_array_equal(assigned_levels(Given(scores), np.array([2, 1, 1])), [0, 1, 0, 2])


@pytest.mark.parametrize("n_levels", [2, 3, 8])
def test_long_tables_start_from_a_sample(n_levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, counts = counted_scores(5000, n_levels, seed=7, noise=0.7)
    at_once = assigned_levels(Given(scores), counts)
    monkeypatch.setattr(assignment, "_SAMPLE", 500)
    from_sample = assigned_levels(Given(scores), counts)
    np.testing.assert_array_equal(np.bincount(from_sample.astype(int)), counts)
    assert total(scores, from_sample) == pytest.approx(total(scores, at_once), rel=1e-5)


@pytest.mark.parametrize("noise", [0.7, 0.0])
def test_rows_may_be_looked_at_in_any_blocks(noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignment, "_SAMPLE", 500)
    monkeypatch.setattr(assignment, "_TOLERATED_SHARE", 0.02)  # so that many rows are to be moved
    scores, counts = counted_scores(30_000, 6, seed=7, noise=noise)
    at_once = assigned_levels(Given(scores), counts)
    for at_a_time in (6 * 1024, 6 * 7001):
        monkeypatch.setattr(assignment, "_AT_A_TIME", at_a_time)
        np.testing.assert_array_equal(assigned_levels(Given(scores), counts), at_once)


def test_rare_levels_in_long_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assignment, "_SAMPLE", 200)
    generator = np.random.default_rng(3)
    scores = generator.normal(size=(5, 3000))
    counts = np.array([2000, 989, 9, 1, 1])
    for same in (scores, np.zeros_like(scores), np.rint(scores)):
        levels = assigned_levels(Given(same), counts)
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
    for levels in (positions_by_rank(scores[0], scaled), assigned_levels(Given(scores), scaled)):
        np.testing.assert_array_equal(
            np.bincount(levels.astype(int), minlength=scaled.size), scaled
        )


@given(
    counts=st.lists(st.integers(0, 3000), min_size=1, max_size=40).filter(any),
    seed=SEEDS,
    fewest=st.integers(1, 2),
)
def test_moved_counts_add_up_and_nobody_gets_a_level_that_nobody_had(
    counts: list[int], seed: int, fewest: int
) -> None:
    before = np.array(counts)
    after = moved_counts(before, as_key(seed).stream("counts"), fewest)
    assert after.sum() == before.sum()
    assert after.min() >= 0
    assert not after[before == 0].any()
    # A draw of its own, and those of four levels that are less common.
    most = np.maximum(fewest, np.rint(0.3 * np.sqrt(before)))
    assert np.all(np.abs(after - before) <= 5 * most)
    np.testing.assert_array_equal(before, counts)
    np.testing.assert_array_equal(
        moved_counts(before, as_key(seed).stream("counts"), fewest), after
    )


@pytest.mark.parametrize(
    ("counts", "most"), [([500, 400], 6), ([500, 30], 2), ([9, 1], 1), ([2, 2], 2), ([500, 0], 0)]
)
def test_people_who_move_between_two_levels_are_uniform(counts: list[int], most: int) -> None:
    moves = [
        int(moved_counts(np.array(counts), as_key(seed).stream("x"))[1]) - counts[1]
        for seed in range(2000)
    ]
    values, times = np.unique(moves, return_counts=True)
    np.testing.assert_array_equal(values, np.arange(-most, most + 1))
    expected = 2000 / (2 * most + 1)
    # A chi-square of 2 a degrees of freedom: beyond mean + 6 standard deviations only by a defect.
    assert np.sum((times - expected) ** 2 / expected) <= 2 * most + 6 * np.sqrt(4 * most)


def test_every_count_is_on_average_what_it_was() -> None:
    counts = np.array([3, 700, 40, 1, 90, 0, 2, 260, 11, 5])
    moved = np.array(
        [moved_counts(counts, as_key(seed).stream("x")) for seed in range(4000)], dtype=float
    )
    errors = moved.std(axis=0) / np.sqrt(4000)
    assert np.all(np.abs(moved.mean(axis=0) - counts) <= 5 * errors)
    assert moved[:, 5].max() == 0
    assert np.all(moved.std(axis=0)[counts > 0] > 0.5)


def test_levels_stand_in_a_tree_by_their_size() -> None:
    counts = np.array([5, 90, 80, 0, 70, 60, 50, 40])
    assert level_tree(counts) == [(2, 1), (4, 1), (5, 1), (6, 1), (7, 2), (0, 2)]
    assert most_moved(counts, counts, 2, 1, fewest=2) == 3
    assert most_moved(counts, np.array([1, *counts[1:]]), 0, 2, fewest=2) == 1


def test_moves_of_other_levels_say_nothing_about_a_count() -> None:
    # Between neighbours in a row, sums of moves up to a level would stay small: within +-2.
    counts = np.full(20, 12)
    moved = [moved_counts(counts, as_key(seed).stream("x"), fewest=1) for seed in range(800)]
    changes = np.array(moved) - counts
    leaves = [level for level, _ in level_tree(counts)[4:]]
    correlation = np.corrcoef(changes[:, leaves].T)
    assert np.abs(correlation - np.eye(len(leaves))).max() < 0.2
    assert np.cumsum(changes, axis=1)[:, 9].std() > 1.5
