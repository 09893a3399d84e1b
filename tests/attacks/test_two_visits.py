"""Two known visits: found in a copy, no more than others in fresh rows."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.attacks.two_visits import two_visits
from icsa.comparison.features import FeatureTable
from icsa.comparison.trajectories import Visits


def people(seed: int, n: int = 80, *, timed: bool = True) -> Visits:
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 8, n))])
    size = int(starts[-1])
    numbers = rng.normal(size=(4, size))
    numbers[0, rng.random(size) < 0.1] = np.nan
    codes = rng.integers(-1, 3, size=(2, size)).astype(np.int32)
    times = rng.integers(0, 3_000, size).astype(float) if timed else None
    return Visits(FeatureTable(numbers, codes), times, starts)


def test_in_a_copy_everybody_is_found_and_others_are_not() -> None:
    table = people(1)
    found, times = two_visits(table, table, people(2))
    assert found.right.value == pytest.approx(1.0, abs=0.01)
    assert 0.3 < found.control.value < 0.7
    assert times.right.value == 1.0
    assert times.control.value < 0.1
    assert found.control_is == "people who were not in the table"


def test_fresh_rows_tell_no_more_about_people_in_the_table() -> None:
    found, times = two_visits(people(1), people(3), people(2))
    for result in (found, times):
        assert result.difference.low < 0.0 < result.difference.high


def test_without_others_times_are_held_against_the_table_itself() -> None:
    found, times = two_visits(people(1), people(3))
    assert found.control.value is None
    assert times.control_is == "the original without the person"
    assert times.control.value is not None


def test_pupils_have_no_times_and_single_rows_no_pairs() -> None:
    (found,) = two_visits(people(1, timed=False), people(3, timed=False))
    assert found.right.value is not None
    one = people(1)
    single = Visits(one.table, one.times, np.arange(one.table.n_rows + 1))
    assert {result.right.reason for result in two_visits(single, single)} == {
        "fewer than 10 people have two rows"
    }


def test_the_same_seed_gives_the_same() -> None:
    first, second = (two_visits(people(1), people(3), people(2))[0] for _ in range(2))
    assert first.counts == second.counts
