"""Quantiles that a release keeps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.columns import fit_column
from icsa.columns.quantile_keeping import KeptQuantiles, Tail, _between
from icsa.columns.scale_kernels import moved_between
from icsa.columns.transforms import LinearScale
from icsa.randomness import as_key
from icsa.schema import ColumnSpec

_LINEAR = LinearScale(centre=0.0, spread=1.0)
_NO_BOUNDS = (-np.inf, np.inf)


@given(st.integers(2, 5000))
def test_knots_tell_of_ten_people_or_more(n: int):
    levels = KeptQuantiles.of(np.arange(float(n)), None, _LINEAR, _NO_BOUNDS).levels
    assert (levels.size == 0) == (n < 20)
    people = n * np.diff(np.concatenate([[0.0], levels, [1.0]]))
    assert n < 20 or people.min() > 10.0 - 1e-9
    np.testing.assert_allclose(levels, 1.0 - levels[::-1])


def test_moves_between_knots_and_shifts_beyond():
    generator = np.random.default_rng(0)
    source, target = (np.sort(generator.normal(size=7)) for _ in range(2))
    scores = np.concatenate([source, generator.normal(size=500) * 3.0])
    moved = np.empty(scores.size)
    moved_between(scores, source, target, moved)
    inside = np.clip(scores, source[0], source[-1])
    np.testing.assert_allclose(moved, np.interp(inside, source, target) + scores - inside)


def test_scores_regain_the_quantiles():
    generator = np.random.default_rng(1)
    original = np.sort(generator.exponential(size=2000))
    kept = KeptQuantiles.of(original, None, _LINEAR, _NO_BOUNDS)
    regained = kept.regained(generator.normal(size=2000))
    shares = np.mean(regained[:, None] <= kept.scores, axis=0)
    np.testing.assert_allclose(shares, kept.levels, atol=1.0 / 2000)
    assert not np.isin(regained, original).any()


def test_the_number_of_scores_may_be_another():
    generator = np.random.default_rng(2)
    kept = KeptQuantiles.of(np.sort(generator.exponential(size=400)), None, _LINEAR, _NO_BOUNDS)
    regained = kept.regained(generator.normal(size=200_000))
    np.testing.assert_allclose(np.quantile(regained, kept.levels), kept.scores, atol=0.03)
    assert kept.regained(np.empty(0)).size == 0


@pytest.mark.parametrize("value", [0.0, -3.5])
def test_scores_that_are_all_equal_go_to_one_place(value: float):
    kept = KeptQuantiles.of(np.arange(100.0), None, _LINEAR, _NO_BOUNDS)
    assert np.unique(kept.regained(np.full(50, value))).size == 1


def test_whole_numbers_come_out_about_as_often():
    generator = np.random.default_rng(3)
    cells = pl.Series("visits", generator.poisson(2.0, size=1000))
    column = fit_column(cells, ColumnSpec(name="visits", kind="integer"))
    scores = generator.normal(size=(1000, 1))
    column.regain_quantiles(scores)
    shares = [
        np.bincount(numbers.astype(int), minlength=12)[:12].cumsum() / 1000
        for numbers in (cells.to_numpy(), column.decode(scores))
    ]
    assert np.abs(shares[0] - shares[1]).max() < 0.03


def test_of_a_spike_and_a_part_the_part_regains_them():
    generator = np.random.default_rng(4)
    part = generator.exponential(size=600) + 1.0
    cells = pl.Series("dose", np.concatenate([np.zeros(400), part]))
    column = fit_column(cells, ColumnSpec(name="dose", kind="zero-inflated"))
    scores = generator.normal(size=(1000, 2))
    indicator = scores[:, 0].copy()
    column.regain_quantiles(scores)
    np.testing.assert_array_equal(scores[:, 0], indicator)
    numbers = column.decode(scores)
    assert (numbers == 0.0).sum() == 400
    levels = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(
        np.quantile(numbers[numbers > 0.0], levels), np.quantile(part, levels), rtol=0.03
    )


@pytest.mark.parametrize("law", ["exponential", "normal", "uniform"])
def test_tails_are_as_long_as_the_originals_whatever_the_masked_scores_are(law: str):
    lengths = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        original = np.sort(getattr(generator, law)(size=600))
        kept = KeptQuantiles.of(original, None, _LINEAR, _NO_BOUNDS)
        ranks = generator.permutation(600)
        drawn = np.sort(generator.normal(size=600))[ranks]
        heavy = np.sort(generator.standard_t(1, size=600))[ranks]
        regained = kept.regained(heavy)
        beyond = regained > kept.scores[-1]
        np.testing.assert_allclose(kept.regained(drawn)[beyond], regained[beyond], rtol=1e-9)
        own = original[original > kept.scores[-1]] - kept.scores[-1]
        lengths.append(((regained[beyond] - kept.scores[-1]).mean(), own.mean()))
    ours, theirs = np.mean(lengths, axis=0)
    assert ours == pytest.approx(theirs, rel=0.15)


def test_a_population_that_ends_is_not_left():
    # Uniform people end at 1: another sample of as many would have one beyond each largest.
    over, farthest = [], []
    for seed in range(30):
        original = np.sort(np.random.default_rng(seed).uniform(size=500))
        kept = KeptQuantiles.of(original, None, _LINEAR, _NO_BOUNDS)
        regained = kept.regained(np.random.default_rng(seed + 100).normal(size=500))
        over.append((regained > original[-1]).sum())
        farthest.append(regained.max())
    assert np.mean(over) < 2.0
    assert max(farthest) < 1.05


def test_a_last_value_that_ten_people_share_is_an_end():
    generator = np.random.default_rng(7)
    deciles = np.repeat(np.arange(1, 11), 100)
    column = fit_column(pl.Series("decile", deciles), ColumnSpec(name="decile", kind="integer"))
    for _ in range(5):
        scores = 3.0 * generator.standard_t(2, size=(1000, 1))
        column.regain_quantiles(scores)
        numbers = column.decode(scores)
        assert (numbers.min(), numbers.max()) == (1.0, 10.0)


@pytest.mark.parametrize("scale", ["linear", "power", "quantile"])
def test_how_far_out_two_people_are_has_no_influence(scale: str):
    for seed in range(5):
        generator = np.random.default_rng(seed)
        cells, masked = generator.normal(50.0, 9.0, size=400).round(1), generator.normal(size=400)
        found = []
        for far in (90.0, 1e3, 1e6):
            cells[:2] = far, 2.0 * far
            spec = ColumnSpec(name="kg", kind="continuous")
            column = fit_column(pl.Series("kg", cells), spec, scale=scale)
            scores = masked[:, None].copy()
            column.regain_quantiles(scores)
            found.append(column.decode(scores))
        # A scale's quantiles may lie between the last people.
        np.testing.assert_allclose(found[0], found[1], atol=0.11)
        np.testing.assert_allclose(found[1], found[2], atol=0.11)
        assert found[0].max() < 120.0


@pytest.mark.parametrize("n", [400, 50_000])
def test_what_top_coding_leaves_out_does_not_come_back_with_the_tails(n: int):
    # Of 50,000 people dozens lie beyond the limit, so that quantiles do too.
    for seed in range(3):
        generator = np.random.default_rng(seed)
        cells = pl.Series("crp", generator.lognormal(1.0, 1.3, size=n))
        spec = ColumnSpec(name="crp", kind="continuous")
        column = fit_column(cells, spec, scale="quantile")
        farthest = column.decode(np.array([[5.0]]))[0]
        assert (cells > farthest).sum() > 0
        scores = generator.standard_t(3, size=(n, 1))
        column.regain_quantiles(scores)
        assert cells.quantile(0.98) < column.decode(scores).max() <= farthest * (1 + 1e-12)


@pytest.mark.parametrize("room", [0.3, 1.0, 1.2, 4.0, 100.0])
@pytest.mark.parametrize("shape", [-1.0, -0.2, 0.0])
def test_a_tail_ends_within_its_room_and_keeps_its_mean_if_it_can(room: float, shape: float):
    tail = Tail(np.array([10.0]), np.array([0.0]), mean=1.0, shape=shape, room=room)
    lengths = tail.by_rank(20_000)
    assert 0.0 <= lengths.min() <= lengths.max() <= room
    assert lengths.mean() == pytest.approx(min(1.0, 0.9 * room), rel=0.01)


def test_tails_lie_within_the_room_before_a_bound():
    generator = np.random.default_rng(5)
    original = np.sort(generator.uniform(0.0, 10.0, size=500))
    kept = KeptQuantiles.of(original, None, _LINEAR, (-0.1, 10.1))
    masked = 4.0 * generator.standard_t(2, size=500)
    free = KeptQuantiles.of(original, None, _LINEAR, _NO_BOUNDS).regained(masked)
    regained = kept.regained(masked)
    inside = (free >= kept.scores[0]) & (free <= kept.scores[-1])
    np.testing.assert_array_equal(regained[inside], free[inside])
    np.testing.assert_array_equal(np.argsort(regained), np.argsort(masked))
    assert -0.1 <= regained.min() < regained.max() <= 10.1
    tight = KeptQuantiles.of(original, None, _LINEAR, (original[0], original[-1])).regained(masked)
    assert original[0] <= tight.min() < tight.max() <= original[-1]
    assert free.min() < tight.min()


def test_a_bound_that_many_are_at_stays_one():
    # A third is at 0, which is no spike yet: they come out at 0, none of the others is held there.
    generator = np.random.default_rng(6)
    cells = pl.Series(
        "packs", np.where(generator.random(900) < 1 / 3, 0, generator.poisson(9, 900))
    )
    column = fit_column(cells, ColumnSpec(name="packs", kind="integer"))
    scores = generator.normal(size=(900, 1))
    column.regain_quantiles(scores)
    at_zero = (column.decode(scores) == 0.0).sum()
    assert abs(at_zero - (cells == 0).sum()) < 30


@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([20, 45, 240, 3000]))
def test_drawn_tails_are_near_to_what_they_were(seed: int, n: int) -> None:
    ordered = np.sort(np.random.default_rng(seed).normal(size=n))
    kept = KeptQuantiles.of(ordered, None, _LINEAR, _NO_BOUNDS)
    drawn = kept.with_drawn_tails(as_key(seed).stream("tails"))
    np.testing.assert_array_equal(drawn.levels, kept.levels)
    np.testing.assert_array_equal(drawn.scores[1:-1], kept.scores[1:-1])
    assert np.all(np.diff(drawn.scores) > 0.0)
    for before, after, end in zip(kept.tails, drawn.tails, (0, -1), strict=True):
        shift = abs(drawn.scores[end] - kept.scores[end])
        reach = sum(tail.spacing for tail in kept.tails) if n < 30 else before.spacing
        assert 0.0 < shift <= 1.5 * reach
        assert 0.0 < abs(after.mean / before.mean - 1.0) <= 0.5 / np.sqrt(before.people[0])
        assert abs(after.shape - before.shape) <= 0.1
        assert np.all(np.diff(after.by_rank(50)) <= 0.0)
        assert after.lengths[-1] == 0.0
    again = kept.with_drawn_tails(as_key(seed).stream("tails"))
    assert again.tails[0].mean == drawn.tails[0].mean


def test_drawn_tails_are_on_average_what_they_were_and_bounds_stay_where_they_are() -> None:
    ordered = np.sort(np.random.default_rng(1).exponential(size=600))
    kept = KeptQuantiles.of(ordered, None, _LINEAR, (0.0, 9.0))
    drawn = [kept.with_drawn_tails(as_key(seed).stream("tails")) for seed in range(400)]
    for end in (0, 1):
        means = np.array([each.tails[end].mean for each in drawn])
        assert abs(means.mean() - kept.tails[end].mean) <= 5 * means.std() / 20
        assert means.std() > 0.05 * kept.tails[end].mean
    scores = np.random.default_rng(2).normal(size=600)
    for each in drawn[:50]:
        moved = each.regained(scores)
        assert moved.min() >= 0.0
        assert moved.max() <= 9.0


@pytest.mark.parametrize("n", [2, 3, 997])
def test_between_is_interpolation_to_the_last_digit(n: int):
    draw = np.random.default_rng(n)
    ordered = np.sort(draw.normal(size=n).round(2))
    places = np.concatenate([draw.random(50) * (n + 2) - 1.0, [0.0, 1.0, n - 1.0, n + 0.5, -0.5]])
    assert np.array_equal(_between(ordered, places), np.interp(places, np.arange(n), ordered))
