"""Extremes released as they are: judged against what far values of the same column give."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.comparison.features import as_features
from icsa.privacy.everybody_rules import of_extremes
from icsa.privacy.extremes import Extremes, verbatim_ends
from icsa.privacy.people_findings import nearest_release_group
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Reason
from icsa.privacy.verdict import _of_small_table


def reasons(found: Extremes) -> list[Reason]:
    return of_extremes(Policy().values(), found)


def test_ends_of_a_synthesis_that_repeats_values_are_seen() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 200, 5))
    assert reasons(verbatim_ends(as_features(x, y))) == []
    for j in range(5):
        y[np.argmax(y[:, j]), j] = x[:, j].max()
    found = verbatim_ends(as_features(x, y))
    (reason,) = reasons(found)
    assert (reason.word, reason.rule) == ("look again", "extremes")
    assert set(reason.rows) == set(np.argmax(x, axis=0).tolist())
    assert (found.ends, found.released_ends) == (10, 5)


def test_whole_numbers_have_the_same_ends_by_chance() -> None:
    rng = np.random.default_rng(2)
    alarms, shown = 0, 0
    for _ in range(200):
        x, y = rng.poisson(6.0, size=(2, 150, 8)).astype(float)
        found = verbatim_ends(as_features(x, y))
        shown += found.released.size
        alarms += bool(reasons(found))
    assert shown > 100  # there was something to be wrong about
    assert alarms <= 3


def test_columns_that_follow_from_one_another_count_once() -> None:
    x = np.arange(40.0) ** 2
    y = np.full(40, 7.5)
    y[0] = x[39]
    found = verbatim_ends(as_features(np.c_[x, 2 * x, 3 * x], np.c_[y, 2 * y, 3 * y]))
    assert (found.people, found.released.tolist(), found.released_ends) == (2, [39], 3)
    assert reasons(found) == []


def test_the_sum_of_events_by_hand() -> None:
    found = Extremes(3, 2, 3, np.array([0, 1]), np.array([0.5, 0.1, 0.2]))
    both = 0.5 * 0.1 * 0.8 + 0.5 * 0.9 * 0.2 + 0.5 * 0.1 * 0.2 + 0.5 * 0.1 * 0.2
    assert found.chance == pytest.approx(both)
    assert found.expected == pytest.approx(0.8)
    assert Extremes(0, 0, 0, np.empty(0, dtype=np.int64), np.empty(0)).chance == 1.0


def test_too_few_people_who_are_all_near_make_one_look_again() -> None:
    limits = Policy().values()
    near = np.array([0.1, 0.3, 0.44, 0.6, 0.8])
    (reason,) = _of_small_table(limits, nearest_release_group(near, 69, 69))
    assert (reason.word, reason.rule) == ("look again", "small")
    for other in (near + 0.3, near[:4], np.append(near, 1.2), np.repeat(near, 2)):
        assert _of_small_table(limits, nearest_release_group(other, 69, 69)) == []
