"""The parts of the two-level release: kernels beside slow truths, the model, times, aggregates."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.columns import ColumnSpec, fit_column
from icsa.randomness import as_key
from icsa.release.units.aggregates import Aggregate, find_aggregates
from icsa.release.units.effect_kernels import colour_rows, draw_effects, set_times, whiten_rows
from icsa.release.units.effects import curve_of, fit_effects
from icsa.release.units.end_values import Ends
from icsa.release.units.level_calibration import level_statistics
from icsa.release.units.visit_times import clock_of, pattern_of


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def test_effects_are_drawn_from_their_posterior() -> None:
    # With Z_i = (1, z) the design of a unit's stacked scores, the law given them by dense algebra.
    rng = np.random.default_rng(0)
    starts, q, sloped = _starts([1, 4, 2]), 3, np.array([0, 2])
    m = q + sloped.size
    residuals, times = rng.normal(size=(7, q)), rng.normal(size=7)
    prior = rng.normal(size=(3, m))
    d, s = (a @ a.T + np.eye(len(a)) for a in (rng.normal(size=(m, m)), rng.normal(size=(q, q))))
    normals, found = rng.normal(size=(3, m)), np.empty((3, m))
    between, within = np.linalg.inv(d), np.linalg.inv(s)
    draw_effects(residuals, starts, times, sloped, prior, between, within, normals, found)
    for unit in range(3):
        rows = range(starts[unit], starts[unit + 1])
        design = np.concatenate(
            [np.hstack([np.eye(q), times[row] * np.eye(q)[:, sloped]]) for row in rows]
        )
        noise = np.kron(np.eye(len(rows)), within)
        precision = between + design.T @ noise @ design
        side = between @ prior[unit] + design.T @ noise @ residuals[rows].ravel()
        factor = np.linalg.cholesky(precision)
        wanted = np.linalg.solve(precision, side) + np.linalg.solve(factor.T, normals[unit])
        np.testing.assert_allclose(found[unit], wanted, rtol=1e-9, atol=1e-9)


def test_whitening_is_undone_by_colouring_and_takes_memory_out() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 9, 800)
    starts, memory = _starts(sizes.tolist()), np.array([0.8, 0.0])
    fresh = rng.normal(size=(starts[-1], 2))
    lags = rng.uniform(0.5, 1.5, starts[-1])
    rows = fresh.copy()
    colour_rows(rows, starts, lags, memory)
    again = rows.copy()
    whiten_rows(again, starts, lags, memory)
    np.testing.assert_allclose(again, fresh, atol=1e-10)
    later = np.setdiff1d(np.arange(starts[-1]), starts[:-1])
    lagged = [np.corrcoef(rows[later, j], rows[later - 1, j])[0, 1] for j in range(2)]
    assert 0.72 < lagged[0] < 0.88  # .8 to the power of the gap, on average
    assert abs(lagged[1]) < 0.06
    assert abs(rows.std() - 1.0) < 0.05


@given(st.data())
def test_times_grow_on_their_lattice_and_stay_below_their_end(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    starts, step = _starts(sizes), data.draw(st.sampled_from([0.25, 1.0, 7.0]))
    steps = [data.draw(st.integers(size - 1, 400)) for size in sizes]
    ends = np.array(steps) * step + data.draw(st.floats(0.0, 0.9)) * step
    numbers = st.floats(1e-6, 1e6)
    gaps = np.array([data.draw(numbers) for _ in range(starts[-1])])
    spans = np.array([data.draw(st.floats(0.0, 1.0)) for _ in sizes]) * ends
    times = np.empty(starts[-1])
    set_times(gaps, starts, spans, ends, step, times)
    for unit, end in enumerate(ends):
        own = times[starts[unit] : starts[unit + 1]]
        assert own[0] == 0.0
        assert (np.diff(own) >= step * (1 - 1e-9)).all()
        assert own[-1] <= end + 1e-9 * step
        np.testing.assert_allclose(own / step, np.rint(own / step))


def test_the_model_finds_what_made_the_scores() -> None:
    rng = np.random.default_rng(2)
    n = 400
    starts = _starts(rng.integers(2, 12, n).tolist())
    unit = np.repeat(np.arange(n), np.diff(starts))
    times = np.concatenate([np.arange(size) * 1.0 for size in np.diff(starts)])
    x = rng.normal(size=(n, 2))
    level = 0.6 * x[:, 0] + rng.normal(0, 0.7, n)
    slope = rng.normal(0, 0.1, n)
    e = rng.normal(0, 0.5, (starts[-1], 2))
    scores = (
        np.column_stack([level[unit] + slope[unit] * times + 0.2 * times, 0.5 * level[unit]]) + e
    )
    scores[rng.random(scores.shape) < 0.1] = np.nan
    curve = curve_of(times, starts, None)
    design = curve.design(times, starts, None, x)
    z, lags = curve.slopes(times, times.size), curve.lags(times, starts)
    found = fit_effects(scores, starts, design, z, lags, np.array([0]), x)
    assert abs(np.corrcoef(found.levels[:, 0], x[:, 0])[0, 1] - 0.65) < 0.07
    assert abs(found.levels[:, 0].std() - level.std()) < 0.1
    assert abs(found.slopes[:, 0].std() / curve.scale - 0.1) < 0.03
    np.testing.assert_allclose(found.residuals.std(axis=0), 0.5, atol=0.05)
    assert found.memory.max() < 0.2
    assert not np.isnan(found.residuals).any()


def test_shares_between_units_by_hand() -> None:
    view = np.array([[1.0], [3.0], [5.0], [7.0]])
    found = level_statistics(view, np.ones((4, 1)), _starts([2, 2]), np.zeros((2, 0)), np.zeros(4))
    np.testing.assert_allclose(found.between, 16.0 / 20.0, rtol=1e-5)


def test_first_and_last_values_by_hand() -> None:
    view = np.array([[1.0], [8.0], [2.0], [3.0], [np.nan], [7.0], [9.0]])
    starts = _starts([3, 2, 2])
    ends, nobody = Ends(2.0), np.zeros((3, 0))
    found = ends.on_x(view, starts, nobody, np.ones(3))[:, 0, 0]
    # First 1, 3, 7; last 2, missing, 9; a mean is held by 2%.
    np.testing.assert_allclose(found, [11.0 / 3.06, 11.0 / 2.04])
    heavy = ends.on_x(view, starts, nobody, np.array([1.0, 1.0, 3.0]))[:, 0, 0]
    np.testing.assert_allclose(heavy, [25.0 / 5.1, 29.0 / 4.08])
    near = ends.nearness(np.array([0.0, 2.0, 6.0, 0.0, 4.0, 1.0, 1.5]), starts)
    np.testing.assert_allclose(-2.0 * np.log(near[0]), [0, 2, 6, 0, 4, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(-2.0 * np.log(near[1]), [6, 4, 0, 4, 0, 0.5, 0], atol=1e-12)


def test_first_and_last_values_follow_columns_of_units() -> None:
    rng = np.random.default_rng(8)
    starts, x = _starts([3] * 400), rng.normal(size=(400, 2))
    view = rng.normal(0, 0.1, (1200, 1))
    view[starts[:-1], 0] += 2.0 + x[:, 0]
    view[starts[1:] - 1, 0] -= 0.5 * x[:, 1]
    found = Ends(1.0).on_x(view, starts, x, np.ones(400))[:, :, 0]
    np.testing.assert_allclose(found, [[2.0, 1.0, 0.0], [0.0, 0.0, -0.5]], atol=0.06)


def test_patterns_of_times_and_back() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, 200)
    starts = _starts(sizes.tolist())
    ticks = (
        np.concatenate([np.cumsum([0, *rng.integers(80, 120, size - 1)]) for size in sizes]) * 1.0
    )
    clock = clock_of(ticks, 1.0)
    assert clock.listed is None
    ends = np.maximum.reduceat(ticks, starts[:-1]) + rng.integers(0, 60, 200) + 1.0
    pattern = pattern_of(clock, ticks, starts, ends)
    assert pattern.cap == np.sort(sizes)[-10]
    found = pattern.released(pattern.columns, ends, "redraw", as_key(1))
    assert found.ticks is not None
    released = np.diff(found.starts)
    assert ((released == 1) == (sizes == 1)).all()
    assert released.max() <= pattern.cap
    assert np.corrcoef(released, np.minimum(sizes, pattern.cap))[0, 1] > 0.97
    last = found.ticks[found.starts[1:] - 1]
    assert (last <= ends).all()
    gaps = np.diff(found.ticks)
    assert (gaps[np.setdiff1d(np.arange(gaps.size), found.starts[1:-1] - 1)] > 0).all()


@pytest.mark.parametrize(
    ("function", "values"),
    [
        ("mean", [2.0, 4.0, 9.0]),
        ("sum", [6.0, 8.0, 9.0]),
        ("first", [1.0, 3.0, 9.0]),
        ("last", [3.0, 5.0, 9.0]),
        ("largest", [3.0, 5.0, 9.0]),
        ("smallest", [1.0, 3.0, 9.0]),
        ("count", [3.0, 2.0, 1.0]),
    ],
)
def test_aggregates_by_hand(function: str, values: list[float]) -> None:
    rows = {"y": np.array([1.0, 2.0, 3.0, 3.0, 5.0, 9.0])}
    found = Aggregate("t", function, "y").compute(rows, _starts([3, 2, 1]))
    np.testing.assert_allclose(found, values)


def test_aggregates_are_found_and_near_ones_are_not() -> None:
    rng = np.random.default_rng(4)
    starts = _starts(rng.integers(2, 6, 60).tolist())
    y = rng.normal(50, 10, starts[-1]).round(1)
    mean = Aggregate("", "mean", "y").compute({"y": y}, starts)
    units = {"rounded": mean.round(1), "near": mean + rng.normal(0, 1, 60), "shifted": mean + 3.0}
    columns = {
        name: fit_column(pl.Series(name, numbers), ColumnSpec(name=name, kind="continuous"))
        for name, numbers in {**units, "y": y}.items()
    }
    found = find_aggregates(columns, units, {"y": y}, starts)
    assert [(one.target, one.function) for one in found] == [
        ("rounded", "mean"),
        ("shifted", "mean"),
    ]
    assert found[1].shift == pytest.approx(3.0)
