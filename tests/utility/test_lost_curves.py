"""Lost curves are listed, and a fresh sample of the same people has lost none."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.comparison.column_pairs import ColumnPair, category_column, numeric_column
from icsa.utility.lost_curves import lost_curves


def people(seed: int, n: int = 800, curve: float = 1.0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 4))
    x[:, 3] += curve * (x[:, 0] ** 2 - 1.0) + curve * x[:, 1] * x[:, 2]
    return x


def pairs(original: np.ndarray, released: np.ndarray) -> list[ColumnPair]:
    return [
        numeric_column(f"c{j}", a, b)
        for j, (a, b) in enumerate(zip(original.T, released.T, strict=True))
    ]


def test_lost_squares_and_products_are_listed() -> None:
    found = lost_curves(pairs(people(0), people(1, curve=0.0)))
    assert {(c.column, c.first, c.second) for c in found.lost} >= {
        ("c3", "c0", "c0"),
        ("c3", "c1", "c2"),
    }
    assert all(abs(curve.released) < abs(curve.original) for curve in found.lost)
    assert all(curve.chance < 0.05 for curve in found.lost)
    assert found.n_terms == 4 * 10 - 4 * 1 - 6 * 2  # ten terms, not on their own factors


def test_curves_that_became_weaker_are_listed_too() -> None:
    found = lost_curves(pairs(people(0, 3000), people(1, 3000, curve=0.3)))
    assert ("c3", "c0", "c0") in {(c.column, c.first, c.second) for c in found.lost}


def test_other_people_of_the_same_kind_lose_nothing() -> None:
    def wide(seed: int) -> np.ndarray:
        return np.hstack([people(seed, 300), people(seed + 500, 300)])

    listed = sum(bool(lost_curves(pairs(wide(s), wide(100 + s))).lost) for s in range(15))
    assert listed <= 3  # one in twenty by chance; without a thought of many terms nearly all


def test_curves_of_the_original_are_counted() -> None:
    assert lost_curves(pairs(people(0), people(1))).n_curves >= 2
    straight = people(0, curve=0.0)
    assert lost_curves(pairs(straight, straight)).n_curves <= 1


def test_who_stands_out_makes_no_curve() -> None:
    original = people(0, curve=0.0)
    original[:3] = 1e4
    assert lost_curves(pairs(original, people(1, curve=0.0))).lost == ()


def test_columns_of_two_levels_count_and_others_do_not() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=1000)
    flag = np.where(np.abs(x) < 0.7, "yes", "no")
    columns = [
        numeric_column("x", x, x),
        category_column("flag", flag, flag[::-1]),
        category_column("site", generator.choice(["a", "b", "c"], 1000), flag),
    ]
    found = lost_curves(columns)
    assert [(c.column, c.first, c.second) for c in found.lost] == [("flag", "x", "x")]


def test_missing_cells_are_left_out() -> None:
    original, released = people(0), people(1, curve=0.0)
    original[::3, 3], released[::2, 0] = np.nan, np.nan
    found = lost_curves(pairs(original, released))
    assert ("c3", "c0", "c0") in {(c.column, c.first, c.second) for c in found.lost}


@pytest.mark.parametrize("n", [0, 150])
def test_too_few_rows_give_nothing(n: int) -> None:
    found = lost_curves(pairs(people(0, n), people(1, n)))
    assert (found.lost, found.n_terms, found.n_curves) == ((), 0, 0)
