"""Parts of trajectories: rows of people in the release, and how often chance alarms."""

from __future__ import annotations

import numpy as np

from icsa.comparison.features import as_features
from icsa.privacy import Policy
from icsa.privacy.copied_visits import copied_visits, of_copied_visits

LIMITS = Policy().values()
UNIT = np.repeat(np.arange(60), 5)


def rows_of_people(seed: int) -> np.ndarray:
    """Return rows that are alike within people, on a lattice."""
    rng = np.random.default_rng(seed)
    level = np.repeat(rng.normal(size=(60, 5)), 5, axis=0)
    return np.round(level + rng.normal(size=(300, 5)), 2)


def test_two_copied_rows_are_told_with_their_person() -> None:
    x, released = rows_of_people(1), rows_of_people(2)
    released[100], released[103] = x[41], x[43]
    (reason,) = of_copied_visits(LIMITS, copied_visits(as_features(x, released), UNIT, UNIT))
    assert reason.word == "do not release"
    assert reason.rule == "parts of trajectories"
    assert reason.rows == (8,)
    assert "Rows of 1 people" in reason.text


def test_fresh_people_do_not_alarm() -> None:
    alarms = 0
    for seed in range(20):
        features = as_features(rows_of_people(100 + seed), rows_of_people(200 + seed))
        alarms += len(of_copied_visits(LIMITS, copied_visits(features, UNIT, UNIT)))
    assert alarms <= 1


def test_a_persons_own_rows_are_no_yardstick() -> None:
    x, released = rows_of_people(1), rows_of_people(2)
    x[1:5] = x[0]  # the first person's rows are all the same
    released[7] = x[0]
    found = copied_visits(as_features(x, released), UNIT, UNIT)
    assert found.measure.value < 0.005
    assert found.found(0.005).tolist() == [0]


def test_two_visits_together_tell_what_one_does_not() -> None:
    x, released = (np.round(rows_of_people(seed)[:, :4], 1) for seed in (1, 2))
    released[100:102] = x[41:43]
    found = copied_visits(as_features(x, released), UNIT, UNIT)
    single, pairs = (each.found.chance for each in found.looked)
    assert pairs < single / 10
    assert found.found(0.005).tolist() == [8]


def test_people_with_one_row_have_no_pairs() -> None:
    x = rows_of_people(1)
    found = copied_visits(as_features(x, x), np.arange(300), np.arange(300))
    assert len(found.looked) == 1
    assert found.chance < 0.001
