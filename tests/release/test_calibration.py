"""Calibration: the least move to a wanted correlation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from scipy.stats import ks_2samp

from icsa import anonymize
from icsa.inspection import guess_schema
from icsa.release.calibration import (
    Move,
    calibrating_move,
    score_correlation,
    view_correlation,
)
from icsa.tables import from_frame


def _scores(n: int = 400, p: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p)) @ np.array(
        [[1.0, 0.3, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 1.0]]
    )


def test_reaches_the_wanted_correlation_of_what_is_decoded():
    scores = _scores()
    wanted = np.array([[1.0, -0.4, 0.2], [-0.4, 1.0, 0.5], [0.2, 0.5, 1.0]])

    def decoded(moved: np.ndarray) -> np.ndarray:
        halves = np.column_stack([moved[:, 0] > 0, moved[:, 1], np.round(moved[:, 2])])
        return view_correlation(halves.astype(float))

    before = np.abs(decoded(scores) - wanted).max()
    after = np.abs(decoded(calibrating_move(scores, wanted, decoded, 6).apply(scores)) - wanted)
    assert after.max() < 0.02 < before


def test_does_not_move_what_is_right_already():
    scores = np.clip(_scores(), -2.0, 2.0)
    wanted = np.corrcoef(scores.T)
    move = calibrating_move(scores, wanted, lambda s: np.corrcoef(s.T), 1)
    np.testing.assert_allclose(move.apply(scores), scores, atol=1e-10)


def test_the_move_is_symmetric_so_the_smallest_of_those_that_reach_it():
    # Of all M with M'CM = T the one with least E|uM - u|^2 is symmetric and positive definite.
    wanted = np.array([[1.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 1.0]])
    matrix = calibrating_move(_scores(), wanted, lambda s: np.corrcoef(s.T), 1).matrix
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0


def test_one_far_row_does_not_decide():
    scores = _scores()
    wanted = np.eye(3)
    with_outlier = scores.copy()
    with_outlier[0] = [60.0, 60.0, 60.0]
    moves = [
        calibrating_move(s, wanted, lambda moved: view_correlation(np.clip(moved, -2, 2)), 6)
        for s in (scores, with_outlier)
    ]
    assert np.abs(moves[0].matrix - moves[1].matrix).max() < 0.4


def test_in_place_and_copy_agree():
    move = Move(np.ones(3), np.full(3, 2.0), np.random.default_rng(1).normal(size=(3, 3)))
    scores = np.asfortranarray(_scores())
    moved = move.apply(scores)
    move.apply_in_place(scores)
    np.testing.assert_array_equal(moved, scores)
    np.testing.assert_allclose(move.apply(np.ones((1, 3))), np.ones((1, 3)))


def test_correlations_are_of_pairs_that_are_both_there():
    generator = np.random.default_rng(2)
    view = generator.normal(size=(50, 3))
    view[:20, 0] = np.nan
    view[40:, 1] = np.nan
    found = view_correlation(view)
    np.testing.assert_allclose(found[0, 1], np.corrcoef(view[20:40, 0], view[20:40, 1])[0, 1])
    np.testing.assert_allclose(found[0, 2], np.corrcoef(view[20:, 0], view[20:, 2])[0, 1])
    np.testing.assert_allclose(np.diagonal(found), 1.0)


def test_a_column_that_does_not_vary_has_no_correlation():
    view = np.column_stack([np.ones(10), np.arange(10.0), np.full(10, np.nan)])
    np.testing.assert_array_equal(view_correlation(view), np.where(np.eye(3), 1.0, np.nan))
    np.testing.assert_array_equal(score_correlation(view[:, :2]), np.eye(2))


def test_what_is_never_seen_is_left_with_the_wanted_correlation():
    wanted = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    unseen = np.where(np.eye(3), 1.0, np.nan)
    scores = np.clip(_scores(), -2.0, 2.0)
    moved = calibrating_move(scores, wanted, lambda _: unseen, 3).apply(scores)
    np.testing.assert_allclose(np.corrcoef(moved.T), wanted, atol=0.01)


def _released(frame: pl.DataFrame, *, keep_quantiles: bool) -> pl.DataFrame:
    schema = replace(guess_schema(from_frame(frame)), recipe={"keep_quantiles": keep_quantiles})
    return anonymize(frame, schema=schema, random_state=1).table


def test_cells_that_are_there_do_not_come_out_like_those_that_are_not():
    # Income is missing mostly among the old, whose incomes (drawn for them) are higher.
    generator = np.random.default_rng(5)
    age = generator.normal(50.0, 10.0, size=2000)
    income = 10.0 * age + 60.0 * generator.normal(size=2000)
    there = generator.random(2000) > 1.0 / (1.0 + np.exp(-(age - 52.0) / 4.0))
    frame = pl.DataFrame(
        {
            "age": age,
            "income": np.where(there, income, np.nan),
            "weight": generator.normal(70.0, 9.0, size=2000),
            "height": generator.normal(1.7, 0.1, size=2000),
        },
        nan_to_null=True,
    )
    released = _released(frame, keep_quantiles=False)
    difference = released["income"].mean() - frame["income"].mean()
    assert abs(difference) < 0.1 * frame["income"].std()


def test_kept_quantiles_are_those_of_the_original():
    generator = np.random.default_rng(6)
    frame = pl.DataFrame(generator.exponential(size=(600, 5)).round(4), schema=list("abcde"))
    distances = {}
    for keep in (True, False):
        released = _released(frame, keep_quantiles=keep)
        distances[keep] = np.mean([ks_2samp(frame[c], released[c]).statistic for c in "abcde"])
    assert distances[True] < 0.03 < distances[False]


def test_no_move_where_none_is_better():
    scores = _scores()
    wanted = np.eye(3)

    def decoded(moved: np.ndarray) -> np.ndarray:
        return wanted if np.array_equal(moved, scores) else np.full((3, 3), 0.5)

    move = calibrating_move(scores, wanted, decoded, 3)
    np.testing.assert_array_equal(move.apply(scores), scores)


def test_far_scores_do_not_keep_the_others_from_the_wanted_correlation():
    scores = _scores()
    scores[:12] += np.random.default_rng(2).choice([-80.0, 0.0, 80.0], size=(12, 3))
    wanted = np.array([[1.0, -0.4, 0.2], [-0.4, 1.0, 0.5], [0.2, 0.5, 1.0]])

    def decoded(moved: np.ndarray) -> np.ndarray:
        return np.corrcoef(np.clip(moved, -2.5, 2.5).T)

    found = decoded(calibrating_move(scores, wanted, decoded, 6).apply(scores))
    assert np.abs(found - wanted).max() < 0.05


def test_one_wild_cell_does_not_reach_the_other_columns():
    generator = np.random.default_rng(3)
    height = generator.normal(169, 9, 200).round()
    weight = (generator.normal(75, 12, 200) + 0.5 * (height - 169)).round(1)
    pressure = (generator.normal(120, 12, 200) + 0.2 * (weight - 75)).round()
    weight[7] *= 1000  # grams
    table = pl.DataFrame({"height": height, "weight": weight, "pressure": pressure})
    for key in range(3):
        release = anonymize(table, random_state=key).table
        for name in ("height", "pressure"):
            assert abs(release[name].mean() - table[name].mean()) < 0.3 * table[name].std()
            assert release[name].max() < 2 * table[name].max()
