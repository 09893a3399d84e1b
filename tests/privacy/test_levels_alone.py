"""Tables of few levels: who is alone there may come out again by chance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.comparison.features import FeatureTable
from icsa.privacy.people import _equal_by_chance


def test_the_chance_of_an_equal_row_by_hand() -> None:
    # A tenth has the second level of one column, a fifth that of the other: of 100 shuffled rows
    # two have both. Numbers count, too; a cell that nobody else has counts as if two had it.
    codes = np.zeros((2, 100), dtype=np.int32)
    codes[0, :10], codes[1, 5:25] = 1, 1
    none = np.empty((0, 100))
    assert _equal_by_chance(FeatureTable(none, codes), np.array([5]), 10) == pytest.approx(0.2)
    assert _equal_by_chance(FeatureTable(none, codes), np.array([5]), 100) == 1.0
    numbers = np.arange(100.0)[None]
    found = _equal_by_chance(FeatureTable(numbers, codes), np.array([5]), 10)
    assert found == pytest.approx(0.2 * 0.02)


def passengers(rng: np.random.Generator, rows: int, spoiled: bool = False) -> pl.DataFrame:
    cabin = rng.choice(3, rows, p=[0.25, 0.2, 0.55])
    child = (rng.random(rows) < 0.1) & (cabin > 0)
    if spoiled:
        cabin[0], child[0] = 0, True  # the only child of the first class
    names = np.array(["first", "second", "third"])
    return pl.DataFrame({"cabin": names[cabin], "child": child, "man": rng.random(rows) < 0.64})


@pytest.mark.parametrize("seed", range(3))
def test_somebody_alone_by_levels_may_come_out_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, fresh = passengers(rng, 400, spoiled=True), passengers(rng, 400, spoiled=True)
    fresh[0, "man"] = original[0, "man"]
    found = icsa.assess(original, fresh, unit=False)
    assert not {"person", "near cells"} & {reason.rule for reason in found.reasons}
