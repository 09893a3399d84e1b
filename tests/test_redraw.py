"""The mask `redraw`: its kernels against a slow readable truth, its laws, and its edges."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from icsa.masks import permute, redraw
from icsa.masks import redrawing as module
from icsa.randomness import Stream, as_key
from icsa.shuffling import shuffle

seeds = st.integers(0, 10**6)
KINDS = ("normal", "lognormal", "t3", "uniform", "two clusters", "rounded", "half zeros")


def sample(kind: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, n])
    x = rng.normal(size=n)
    return {
        "normal": x,
        "lognormal": np.exp(x),
        "t3": rng.standard_t(3, size=n),
        "uniform": rng.uniform(size=n),
        "two clusters": x + 40.0 * (rng.uniform(size=n) < 0.4),
        "rounded": x.round(1),
        "half zeros": np.where(rng.uniform(size=n) < 0.55, 0.0, np.exp(x)),
    }[kind]


# --- the slow truth ------------------------------------------------------------------------------


def unit(word: int) -> float:
    return (int(word) >> 11) / 2**53


def slow_scale(y: list[float], trimmed: int) -> float:
    inner = sorted(y)[trimmed : len(y) - trimmed]
    middle = statistics.median(inner)
    deviations = [abs(v - middle) for v in inner]
    if statistics.median(deviations) > 0:
        return statistics.median(deviations) / statistics.NormalDist().inv_cdf(0.75)
    return math.sqrt(math.pi / 2) * statistics.fmean(deviations)


def slow_tail(y: list[float], k: int, q: int, scale: float) -> tuple[float, float, float]:
    """y[0] is the outermost score."""
    last = max(min(5 * k, len(y) // 4), k + 1)
    spacing = {j: j * (y[j - 1] - y[j]) for j in range(q + 1, last + 1)}
    usual = statistics.median([spacing[j] for j in range(k + 1, last + 1)])
    expected = max(usual / math.log(2), 0.35 * scale)
    spacing = {j: min(s, 5 * expected) for j, s in spacing.items()}
    slope = statistics.fmean(spacing[j] for j in range(q + 1, k + 1))
    inner = statistics.fmean(spacing[j] for j in range(k + 1, last + 1))
    shape = 0.0
    if last >= 3 * k and inner > 0 and slope > 0:
        shape = math.log(slope / inner) / math.log(math.sqrt(last / (q + 1)))
        shape = min(max(shape, 0.0), 0.3)
    for j in range(1, q + 1):
        spacing[j] = slope * (j / math.sqrt((q + 1) * k)) ** -shape
    rebuilt = {k + 1: y[k]}
    for j in range(k, 0, -1):
        rebuilt[j] = rebuilt[j + 1] + spacing[j] / j
    return statistics.fmean(rebuilt[j] for j in range(1, k + 1)), slope, shape


def slow_groups(inner: list[float], k: int, largest: int, words: np.ndarray) -> list[list[float]]:
    count, draws = len(inner), iter(words)
    cuts, since = [], 0
    for i in range(1, count):  # between inner[i - 1] and inner[i]
        low, high = max(i - 1 - 2 * k, 0), min(i + 2 * k, count - 1)
        mean_gap = (inner[high] - inner[low]) / (high - low)
        if inner[i] - inner[i - 1] > (6 + 1e-9) * mean_gap and i - since >= k and count - i >= k:
            cuts.append(i)
            since = i
    groups = []
    for start, end in zip([0, *cuts], [*cuts, count], strict=True):
        t = start
        while t < end:
            size = min(max(min((t + k) // 2, (count - t + k) // 3), k), largest)
            size += int(unit(next(draws)) * size)
            if end - t - size < k:
                size = end - t
            groups.append(inner[t : t + size])
            t += size
    return groups


def slow_redraw(z: np.ndarray, stream: Stream) -> np.ndarray:
    """One column of 24 scores or more that has more than ten values."""
    n = z.size
    k = min(8, n // 8)
    q = min(2, k - 2)
    y = sorted(z.tolist())
    middle = statistics.median(y)
    sign = 1.0
    for i in range(k, n // 2):
        below, above = middle - y[i], y[n - 1 - i] - middle
        if abs(above - below) > 1e-10 * (above + below):
            sign = 1.0 if above > below else -1.0
            break
    y = sorted(sign * v for v in y)
    groups = slow_groups(y[k : n - k], k, max(8, round(2 * math.sqrt(n))), stream.words(n // k))
    low_centre, low_slope, low_shape = slow_tail([-v for v in y], k, q, slow_scale(y, k))
    centre, slope, shape = slow_tail(y[::-1], k, q, slow_scale(y, k))
    counts = [k, *map(len, groups), k]
    moved = list(counts)
    for i, word in enumerate(stream.words(len(counts))[:-1]):
        most = min(round(0.2 * math.sqrt(n)), min(counts[i], counts[i + 1]) // 3)
        step = int(unit(word) * (2 * most + 1)) - most
        moved[i] -= step
        moved[i + 1] += step
    words = iter(stream.words(n).tolist())

    def beyond(word: int, slope: float, shape: float) -> float:
        e = -math.log(((word >> 32) + 0.5) / 2**32)
        e = min(e, math.log(5 * k) - 0.5 * ((word % 2**32) + 0.5) / 2**32)
        h = e if shape == 0 else (math.exp(shape * e) - 1) / shape
        return slope * (h - 1 / (1 - shape))

    drawn = [-low_centre - beyond(next(words), low_slope, low_shape) for _ in range(moved[0])]
    for group, count in zip(groups, moved[1:-1], strict=True):
        half = math.sqrt(3) * statistics.pstdev(group)
        for _ in range(count):
            drawn.append(statistics.fmean(group) + half * (2 * unit(next(words)) - 1))
    drawn += [centre + beyond(next(words), slope, shape) for _ in range(moved[-1])]
    return sign * shuffle(np.array(drawn), stream)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [24, 25, 31, 64, 100, 241, 1000])
def test_the_kernels_draw_what_the_slow_truth_draws(kind: str, n: int) -> None:
    z = np.column_stack([sample(kind, n, seed) for seed in range(3)])
    assert min(np.unique(column).size for column in z.T) > min(10, n // 8)
    masked = redraw(z, key=5)
    for j in range(3):
        slow = slow_redraw(z[:, j], as_key(5).stream("redraw", j))
        np.testing.assert_allclose(masked[:, j], slow, rtol=0, atol=1e-9 * np.ptp(z[:, j]))


@pytest.mark.parametrize("n", [2, 5, 23])
def test_few_scores_are_normal_around_a_held_mean(n: int) -> None:
    z = sample("t3", n, 1)
    middle = statistics.median(z.tolist())
    reach = 3 * slow_scale(z.tolist(), min(1, n // 4))
    held = np.clip(z, middle - reach, middle + reach)
    sign = module.orientation(np.sort(z), max(n // 8, 1))
    drawn = sign * as_key(5).stream("redraw", 0).normals(n)
    expected = held.mean() + held.std() * drawn
    np.testing.assert_allclose(redraw(z[:, None], key=5)[:, 0], expected, rtol=1e-10)


def test_a_tail_worked_by_hand() -> None:
    # Spacings of 1/j below y_1 = 100: S_j = 1 throughout, so slope 1, shape 0; y_1 is not seen.
    k, q = 3, 1
    y = [100.0]
    for j in range(2, 8):
        y.append(10.0 if j == 2 else y[-1] - 1.0 / (j - 1))
    centre, slope, shape = module.tail_law(np.array(y), k, q, 0.0, 0.0, 0.3)
    # From y_4: y_3 = y_4 + 1/3, y_2 = y_3 + 1/2, y_1 = y_2 + 1.
    expected = y[3] + (1 / 3 + (1 / 3 + 1 / 2) + (1 / 3 + 1 / 2 + 1)) / 3
    assert (centre, slope, shape) == (pytest.approx(expected), pytest.approx(1.0), 0.0)


# --- laws ----------------------------------------------------------------------------------------


@given(
    seed=seeds,
    n=st.sampled_from([24, 30, 47, 64, 240, 1000]),
    kind=st.sampled_from(KINDS),
    far=st.sampled_from([15.0, 1e3, 1e6]),
)
def test_where_the_outermost_scores_lie_has_no_influence(
    seed: int, n: int, kind: str, far: float
) -> None:
    z = sample(kind, n, seed)
    q = min(2, min(8, n // 8) - 2)
    order = np.argsort(z, kind="stable")
    moved = z.copy()
    reach = np.ptp(z)
    moved[order[n - q :]] = z.max() + far * reach * np.arange(1, q + 1)
    moved[order[:q]] = z.min() - far * reach * np.arange(q, 0, -1)
    assert np.array_equal(redraw(moved[:, None], key=seed), redraw(z[:, None], key=seed))


@pytest.mark.parametrize("kind", ["normal", "lognormal", "t3"])
@pytest.mark.parametrize("people", [1, 3, 8])
def test_lone_people_reach_no_farther_than_the_bound(people: int, kind: str) -> None:
    # Shape at most .3, E at most ln 40, the two unseen spacings at most (sqrt 24)^.3 times the
    # slope, the slope at most five times what is expected from those of j = 9, ..., 40.
    rebuilt = math.sqrt(24) ** 0.3
    drawn = (math.exp(0.3 * math.log(40)) - 1) / 0.3 - 1 / 0.7
    for seed in range(10):
        z = sample(kind, 240, seed)
        for far in (1e2, 1e4, 1e8):
            lone = z.copy()
            lone[:people] = far * np.arange(1, people + 1)
            y = sorted(lone.tolist(), reverse=True)
            usual = statistics.median([j * (y[j - 1] - y[j]) for j in range(9, 41)])
            expected = max(usual / math.log(2), 0.35 * slow_scale(y, 8))
            bound = y[8] + (rebuilt + drawn) * 5 * expected
            assert redraw(lone[:, None], key=seed).max() <= bound


@given(seed=seeds, n=st.sampled_from([24, 47, 64, 240, 1000]), kind=st.sampled_from(KINDS[:5]))
def test_the_outermost_people_have_no_influence_on_those_in_the_middle(
    seed: int, n: int, kind: str
) -> None:
    z = sample(kind, n, seed)
    k = min(8, n // 8)
    order = np.argsort(z, kind="stable")
    moved = z.copy()
    moved[order[n - k :]] = z.max() + np.ptp(z) * 10.0 ** np.arange(1, k + 1)
    moved[order[:k]] = z.min() - np.ptp(z) * 10.0 ** np.arange(k, 0, -1)
    same = redraw(moved[:, None], key=seed) == redraw(z[:, None], key=seed)
    # A tail of k people may get a third more.
    assert (~same).sum() <= 2 * (k + k // 3)


@given(seed=seeds, n=st.sampled_from([10, 23, 24, 100, 500]), kind=st.sampled_from(KINDS[:5]))
def test_no_score_is_kept(seed: int, n: int, kind: str) -> None:
    z = sample(kind, n, seed)[:, None]
    assert not np.isin(redraw(z, key=seed), z).any()


@given(
    seed=seeds,
    n=st.sampled_from([10, 24, 100, 500]),
    kind=st.sampled_from(KINDS[:5]),
    scale=st.sampled_from([1e-6, 0.3, 7.0, 1e9]),
    shift=st.floats(-100.0, 100.0),
    sign=st.sampled_from([-1.0, 1.0]),
)
def test_shift_scale_and_sign_go_through(
    seed: int, n: int, kind: str, scale: float, shift: float, sign: float
) -> None:
    z = sample(kind, n, seed)[:, None]
    expected = sign * scale * redraw(z, key=seed) + shift * scale
    moved = redraw(sign * scale * z + shift * scale, key=seed)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-9 * scale * (100 + np.ptp(z)))


@given(seed=seeds, n=st.sampled_from([24, 100, 500]))
def test_the_order_of_rows_does_not_matter(seed: int, n: int) -> None:
    z = sample("normal", n, seed)[:, None]
    assert np.array_equal(redraw(z, key=seed), redraw(permute(z, key=1), key=seed))


@pytest.mark.parametrize("kind", ["normal", "uniform", "t3", "lognormal"])
@pytest.mark.parametrize("n", [100, 1000])
def test_means_and_deviations_stay_within_a_part_of_their_standard_errors(
    kind: str, n: int
) -> None:
    z = np.column_stack([sample(kind, n, seed) for seed in range(300)])
    masked = redraw(z, key=9)
    in_errors = (masked.mean(axis=0) - z.mean(axis=0)) / z.std(axis=0) * math.sqrt(n)
    light = kind in ("normal", "uniform")  # a heavy tail is the few people who are not looked at
    assert np.sqrt(np.mean(in_errors**2)) < (0.5 if light else 0.8)
    assert abs(in_errors.mean()) < (0.1 if light else 0.3)
    if light:
        ratios = np.log(masked.std(axis=0) / z.std(axis=0))
        assert abs(ratios.mean()) < 0.005 + 2.0 / n


# --- edges ---------------------------------------------------------------------------------------


@given(
    z=hnp.arrays(
        float,
        st.tuples(st.integers(1, 60), st.integers(1, 3)),
        elements=st.one_of(st.sampled_from([0.0, 1.0, 99.0]), st.floats(-1e6, 1e6)),
    ),
    seed=seeds,
)
def test_any_column_gives_finite_scores_within_reach(z: np.ndarray, seed: int) -> None:
    masked = redraw(z, key=seed)
    assert np.isfinite(masked).all()
    reach = np.ptp(z, axis=0)
    assert (np.abs(masked - np.median(z, axis=0)) <= 9.0 * reach + 1e-9).all()


@pytest.mark.parametrize("n", [1, 2, 7, 23, 24, 100, 70_000])
def test_a_constant_stays(n: int) -> None:
    z = np.full((n, 1), 0.1)
    assert (redraw(z, key=3) == 0.1).all()


def test_few_values_keep_their_values_and_nearly_their_counts() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        z = rng.choice([0.0, 1.0, 5.0], p=[0.5, 0.3, 0.2], size=(300, 1))
        masked = redraw(z, key=seed)
        assert set(np.unique(masked)) == {0.0, 1.0, 5.0}
        for value in (0.0, 1.0, 5.0):
            # round(.2 sqrt 300) = 3 at each border
            assert abs(int((masked == value).sum()) - int((z == value).sum())) <= 6


def test_a_lone_extreme_level_is_gone() -> None:
    z = np.repeat([0.0, 1.0, 99.0], [150, 89, 1])[:, None]
    for seed in range(20):
        assert set(np.unique(redraw(z, key=seed))) == {0.0, 1.0}


def test_rounding_makes_no_new_level() -> None:
    z = np.repeat([0.0, 1.0], 60)[:, None] + 1e-15 * np.random.default_rng(0).normal(size=(120, 1))
    assert np.unique(redraw(z, key=1).round(9)).size == 2


def test_nearly_everybody_at_one_value_hides_who_is_not() -> None:
    z = np.zeros((200, 1))
    z[:20, 0] = np.arange(1.0, 21.0)
    lone = z.copy()
    lone[19] = 1e9
    assert np.array_equal(redraw(z, key=4), redraw(lone, key=4))


# --- long columns --------------------------------------------------------------------------------


def long_sample(kind: str, seed: int = 0) -> np.ndarray:
    return sample(kind, 150_000, seed)[:, None]


@pytest.mark.parametrize("kind", KINDS)
def test_long_columns_in_bins_are_as_good_as_sorted_ones(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    z = long_sample(kind)
    binned = redraw(z, key=1)
    monkeypatch.setattr(module, "_LONG", 10**9)
    by_sorting = redraw(z, key=1)
    error = z.std() / math.sqrt(z.size)
    for masked in (binned, by_sorting):
        assert abs(masked.mean() - z.mean()) < error
        assert masked.std() == pytest.approx(z.std(), rel=0.01 if kind != "lognormal" else 0.05)
        levels = np.arange(1, 100) / 100
        off = np.interp(np.quantile(z, levels), np.sort(masked[:, 0]), np.linspace(0, 1, z.size))
        if kind in KINDS[:5]:
            assert np.abs(off - levels).max() < 0.004


@pytest.mark.parametrize("kind", KINDS)
def test_the_laws_hold_for_long_columns(kind: str) -> None:
    z = long_sample(kind)
    order = np.argsort(z[:, 0], kind="stable")
    far = z.copy()
    far[order[-2:], 0] = [1e9, 2e9]
    far[order[:2], 0] = [-2e9, -1e9]
    masked = redraw(z, key=1)
    assert np.array_equal(redraw(far, key=1), masked)
    mirrored = redraw(-3.0 * z + 5.0, key=1)
    np.testing.assert_allclose(mirrored, -3.0 * masked + 5.0, rtol=0, atol=1e-8 * np.ptp(z))
    if kind in KINDS[:5]:
        assert not np.isin(masked, z).any()


def test_a_long_column_that_bins_cannot_hold_is_sorted() -> None:
    # Nearly all people in one bin: sums of squares there would blur the body.
    z = np.exp(6.0 * np.random.default_rng(0).normal(size=(80_000, 1)))
    assert module._binned(z[:, 0], 8) is None
    masked = redraw(z, key=1)
    assert np.median(masked) == pytest.approx(np.median(z), rel=0.05)


def test_ties_in_a_long_column_stay_exact() -> None:
    z = long_sample("half zeros")
    masked = redraw(z, key=1)
    share = float((z == 0.0).mean())
    assert float((masked == 0.0).mean()) == pytest.approx(share, abs=0.02)
