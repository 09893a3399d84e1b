"""Curves are seen where they are, and not where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.forests.beyond_lines import STRONG, curved_shares, rows_to_look_at


def shares_of(x: np.ndarray) -> list[float]:
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    blocks = [range(j, j + 1) for j in range(x.shape[1])]
    return curved_shares(standard, np.zeros(x.shape, dtype=bool), blocks)


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_table_has_no_curves(seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(600, 8)) @ generator.normal(size=(8, 8))
    assert max(shares_of(x)) < STRONG


@pytest.mark.parametrize(
    "curve",
    [
        lambda x: x[:, 0] ** 2,
        lambda x: x[:, 0] * x[:, 1],
        lambda x: np.sin(2.0 * x[:, 0]),
        lambda x: (np.abs(x[:, 0]) < 0.5).astype(float),
    ],
    ids=["square", "product", "wave", "band"],
)
def test_curves_are_seen_in_the_column_that_has_them(curve) -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=(1000, 5))
    y = curve(x)
    x[:, 4] = y / y.std() + 0.7 * generator.normal(size=1000)
    shares = shares_of(x)
    assert int(np.argmax(shares)) == 4
    assert shares[4] > 2 * STRONG


def test_people_far_out_make_no_curve() -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=(500, 4))
    x[:4] = 60.0 * generator.normal(size=(4, 4))
    assert max(shares_of(x)) < STRONG


def test_scores_that_stand_for_nothing_are_not_explained() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(400, 2))
    x[:, 1] = x[:, 0] ** 2
    undefined = np.zeros(x.shape, dtype=bool)
    undefined[50:, 1] = True  # 50 are left: too few to tell
    assert curved_shares(x, undefined, [range(1), range(1, 2)])[1] == 0.0


def test_the_same_rows_are_looked_at_each_time() -> None:
    rows = rows_to_look_at(10_000, 1500)
    assert np.unique(rows).size == 1500
    assert np.array_equal(rows, rows_to_look_at(10_000, 1500))
    assert np.array_equal(np.sort(rows_to_look_at(100, 1500)), np.arange(100))


@pytest.mark.parametrize("have_it", [0, 1])
def test_a_level_that_nobody_or_one_person_has_is_no_error(have_it: int) -> None:
    x = np.random.default_rng(4).normal(size=(300, 4))
    x[:, 3] = 0.0
    x[:have_it, 3] = 1.0
    x[:, 2] = x[:, 3] + x[:, 1]
    blocks = [range(j, j + 1) for j in range(4)]
    shares = curved_shares(x, np.zeros(x.shape, dtype=bool), blocks)
    assert all(0.0 <= share <= 1.0 for share in shares)
