"""Copies in other units: shifted, rescaled, on another scale, rounded; and fresh people who are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from icsa.comparison.features import as_features
from icsa.matrices import Matrix
from icsa.privacy import assess_privacy
from icsa.privacy.common_units import in_common_units
from icsa.privacy.reasons import Verdict

Change = Callable[[Matrix], Matrix]

CHANGES: dict[str, Change] = {
    "shifted": lambda x: x + 0.4 * x.std(axis=0),
    "rescaled": lambda x: 2.54 * x,
    "each its own": lambda x: x * np.linspace(0.6, 1.6, x.shape[1]) - 3.0,
    "logarithms": lambda x: np.log(x - x.min(axis=0) + 0.5),
    "rounded": lambda x: np.round(x / x.std(axis=0)),
}


def people(seed: int, n: int) -> Matrix:
    """Correlated columns, two of them skewed, with two decimals."""
    rng = np.random.default_rng(seed)
    loadings = np.random.default_rng(8).normal(size=(2, 7))
    x = rng.normal(size=(n, 2)) @ loadings + rng.normal(size=(n, 7))
    x[:, :2] = np.exp(0.5 * x[:, :2])
    return np.round(x, 2)


def word(original: Matrix, released: Matrix) -> Verdict:
    return assess_privacy(as_features(original, released)).verdict


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_of_ordinary_people_in_other_units_is_a_copy(change: str) -> None:
    table = people(1, 300)
    out = [person.row for person in assess_privacy(as_features(table, people(2, 300))).people]
    ordinary = np.delete(table, out, axis=0)[::-1]
    found = word(table, CHANGES[change](ordinary))
    assert found.word == "do not release", found
    assert any("read back" in reason.text for reason in found.reasons)


@pytest.mark.parametrize("change", CHANGES)
def test_fresh_people_in_other_units_are_nobody(change: str) -> None:
    about_everybody = {"exact rows", "equal cells", "near cells", "closer", "resemblance"}
    alarms = [
        reason.rule
        for seed in range(4)
        for reason in word(people(10 + seed, 200), CHANGES[change](people(50 + seed, 200))).reasons
        if reason.rule in about_everybody
    ]
    assert len(alarms) <= 1, alarms


def test_the_units_are_those_of_people_who_do_not_stand_out_if_the_release_has_no_others() -> None:
    table = np.random.default_rng(3).lognormal(sigma=1.5, size=(400, 2))
    out = np.flatnonzero(table.max(axis=1) > 3.0)
    kept = np.delete(table, out, axis=0)
    both = in_common_units(as_features(table, 10.0 * kept), out)
    assert both is not None
    np.testing.assert_allclose(both.features.released.numbers.T, kept, rtol=1e-9)
    without = in_common_units(as_features(table, 10.0 * kept))
    assert without is not None
    assert np.abs(without.features.released.numbers.T - kept).max() > 0.1


def test_missing_cells_stay_missing_and_columns_that_agree_stay_as_they_are() -> None:
    table = people(4, 200)
    table[::7, 3] = np.nan
    released = table[::-1].copy()
    released[:, 3] *= 2.0
    both = in_common_units(as_features(table, released))
    assert both is not None
    assert both.names == ("number 3",)
    np.testing.assert_allclose(both.features.released.numbers.T, table[::-1], rtol=1e-9)


def test_a_column_of_one_value_or_of_few_cells_is_left_alone() -> None:
    table = people(5, 60)
    released = table[::-1].copy()
    released[:, 0] = 1.0
    released[8:, 1] = np.nan
    released[:8, 1] += 100.0
    assert in_common_units(as_features(table, released)) is None
