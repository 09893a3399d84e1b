"""Released numbers beyond the original's range are counted beside what chance gives."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.comparison.column_pairs import category_column, numeric_column
from icsa.utility.beyond_range import lengths_beyond, values_beyond_range


def test_counted_by_hand() -> None:
    columns = [
        numeric_column("age", [20.0, 30.0, 40.0, np.nan], [10.0, 25.0, 50.0, 60.0]),
        numeric_column("size", [1.0, 2.0, 3.0, 4.0], [1.5, 2.5, np.nan, np.nan]),
        category_column("ward", ["a", "b", "a", "b"], ["a", "b", "c", "a"]),
    ]
    found = values_beyond_range(columns)
    assert set(found.reaches) == {"age", "size"}
    assert (found.reaches["age"].below, found.reaches["age"].above) == (1, 2)
    assert found.reaches["age"].share == 1.0  # 20 beyond 40, of 20
    assert found.share == 3 / 6
    assert found.expected == (2 * 4 / 4 + 2 * 2 / 5) / 6


def test_another_sample_is_within_chance_and_a_wider_one_is_told() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 300, 40))
    columns = [numeric_column(f"c{j}", x[:, j], y[:, j]) for j in range(40)]
    found = values_beyond_range(columns)
    assert found.told == ()
    assert abs(found.share - found.expected) < found.expected
    wide = values_beyond_range([numeric_column("c", x[:, 0], 3.0 * y[:, 0])])
    assert wide.told == ("c",)
    assert wide.share - wide.expected > 0.1


def test_edges_that_many_have_are_not_exceeded_by_chance() -> None:
    scores = np.clip(np.random.default_rng(0).normal(60, 40, 300), 0, 100)
    assert values_beyond_range([numeric_column("score", scores, scores)]).expected == 0.0


def test_nothing_gives_nothing() -> None:
    found = values_beyond_range([numeric_column("x", [np.nan], [1.0])])
    assert (found.share, found.expected, found.told) == (0.0, 0.0, ())


def test_lengths_beyond_by_hand() -> None:
    # Largest first 9, 5, 4, ...: with halves, the sum over j of 2^-j sum over i < j of x_i - x_j.
    x = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 9.0])
    above = [0.0, 4.0, 6.0, 18.0, 18.0, 18.0, 18.0, 18.0]
    usual = sum(value * 0.5 ** (j + 1) for j, value in enumerate(above))
    # Below, all halves have the same smallest number but with chance 2^-5 and less.
    low = [0.0, 0.0, 0.0, 0.0, 0.0, 20.0, 26.0, 54.0]
    usual += sum(value * 0.5 ** (j + 1) for j, value in enumerate(low))
    assert lengths_beyond(x, np.array([12.0, 3.0, -1.0, np.nan])) == pytest.approx(4.0 / usual)
