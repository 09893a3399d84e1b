"""Laws of a column given others: what is drawn is right, and nobody far out counts."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.forests.growing import binned, cut_points
from icsa.forests.laws import LevelLaw, MeasuredLaw
from icsa.forests.limits import LIMITS
from icsa.randomness import as_key

NO_FEATURES = np.zeros((1000, 1), dtype=np.uint8)


def codes_of(x: np.ndarray) -> np.ndarray:
    return binned(x, cut_points(x))[:, None]


def drawn_from(law: MeasuredLaw, codes: np.ndarray, seed: int = 1, threads: int = 1) -> np.ndarray:
    key = as_key(seed)
    return law.draw(codes, law.shares(codes.shape[0], key), key, threads=threads)


def test_without_features_the_margin_comes_back() -> None:
    numbers = np.random.default_rng(0).gamma(3.0, size=1000)
    drawn = drawn_from(MeasuredLaw.fit(NO_FEATURES, 0, numbers, as_key(0)), NO_FEATURES)
    levels = [0.1, 0.25, 0.5, 0.75, 0.9]
    assert np.abs(np.quantile(drawn, levels) - np.quantile(numbers, levels)).max() < 0.15


def test_a_law_with_two_tops_keeps_both() -> None:
    generator = np.random.default_rng(0)
    angle = generator.uniform(0.0, 2.0 * np.pi, 1000)
    x, y = np.cos(angle), np.sin(angle)
    codes = codes_of(x)
    drawn = drawn_from(MeasuredLaw.fit(codes, 1, y, as_key(0)), codes)
    assert np.std(np.hypot(x, drawn)) < 0.12  # on the circle: 0; a straight law gives .29


def test_people_far_out_are_drawn_at_the_reach_and_steer_nothing() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=1000)
    clean = np.sin(2.0 * x) + 0.3 * generator.normal(size=1000)
    planted = clean.copy()
    planted[:10] = 1e6
    codes = codes_of(x)
    law = MeasuredLaw.fit(codes, 1, planted, as_key(0))
    drawn = drawn_from(law, codes)
    assert drawn.max() < law.middle + 2.0 * LIMITS.reach * law.unit
    wave = np.sin(2.0 * x)
    assert abs(np.corrcoef(drawn, wave)[0, 1] - np.corrcoef(clean, wave)[0, 1]) < 0.15
    planted[:10] = 1e9  # how far does not matter at all
    again = drawn_from(MeasuredLaw.fit(codes, 1, planted, as_key(0)), codes)
    assert np.array_equal(drawn, again)


def test_levels_are_as_likely_as_they_are() -> None:
    generator = np.random.default_rng(0)
    x = generator.uniform(size=3000)
    places = (generator.random(3000) < np.where(np.abs(x - 0.5) < 0.25, 0.8, 0.1)).astype(np.int64)
    codes = codes_of(x)
    drawn = LevelLaw.fit(codes, 1, places, 2, as_key(0)).draw(codes, as_key(1)).argmax(axis=1)
    inside = np.abs(x - 0.5) < 0.25
    assert abs(drawn[inside].mean() - 0.8) < 0.06
    assert abs(drawn[~inside].mean() - 0.1) < 0.06


def test_three_levels_without_features_come_out_in_their_shares() -> None:
    places = np.repeat([0, 1, 2], [600, 300, 100])
    law = LevelLaw.fit(NO_FEATURES, 0, places, 3, as_key(0))
    drawn = law.draw(NO_FEATURES, as_key(1)).argmax(axis=1)
    assert np.abs(np.bincount(drawn, minlength=3) / 1000 - [0.6, 0.3, 0.1]).max() < 0.08


def test_draws_hang_on_the_key_and_on_nothing_else() -> None:
    x = np.random.default_rng(0).normal(size=500)
    law = MeasuredLaw.fit(codes_of(x), 1, np.sin(x), as_key(0))
    first, second, other = (drawn_from(law, codes_of(x), seed) for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.isin(first, other).any()
    assert np.array_equal(first, drawn_from(law, codes_of(x), threads=3))


@pytest.mark.parametrize("cut", [0, 1, 250, 499])
def test_rows_are_drawn_by_themselves_once_their_shares_are(cut: int) -> None:
    x = np.random.default_rng(0).normal(size=500)
    codes, key = codes_of(x), as_key(1)
    law = MeasuredLaw.fit(codes, 1, np.where(np.abs(x) > 2.0, 40.0, x**2), as_key(0))
    shares = law.shares(500, key)
    parts = [
        law.draw(codes[some], shares[some], key, first_row=some.start)
        for some in (slice(0, cut), slice(cut, 500))
    ]
    assert np.isinf(shares).any()
    assert np.array_equal(np.concatenate(parts), law.draw(codes, shares, key))
    levels = LevelLaw.fit(codes, 1, (x > 0.0) + (x > 1.0).astype(np.int64), 3, as_key(0))
    parts = [
        levels.draw(codes[some], key, first_row=some.start)
        for some in (slice(0, cut), slice(cut, 500))
    ]
    assert np.array_equal(np.concatenate(parts), levels.draw(codes, key))
