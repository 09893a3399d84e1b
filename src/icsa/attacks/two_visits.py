"""Two visits of somebody are known, with their times and three columns: who of the release is it.

The attacker looks for the released person who comes nearest to both visits. Whoever is in the table
should not be nearer to somebody of the release than people are who were not in it. Differences of
numbers count as shares of the people between them, so that neither units nor far values matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from icsa.attacks.protocol import AttackResult, ControlIs, Tally
from icsa.attacks.tallies import (
    NO_OUTSIDERS,
    constant,
    not_applicable,
    outcome,
    tally_of_people,
    tally_of_trials,
)
from icsa.attacks.whom import drawn
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.comparison.trajectories import Visits
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable

__all__ = ["NAME", "TIMES_KNOWN", "WHO_IT_IS", "two_visits"]

NAME = "two visits"
# By chance one guess in two is right: somebody of the release is the nearer or of the table.
WHO_IT_IS = "who of the release that is"
TIMES_KNOWN = "when two rows of somebody were"
# Columns that are known besides the times; more say more, but few know them of two visits.
_KNOWN = 3
# Choices of columns and visits: one alone would say more about itself than about the release.
_ROUNDS = 3
_FEWEST = 10
# Cells that are compared: some seconds.
_WORK = 1_000_000_000
_FOUND: dict[str, Any] = {
    "knows": "two rows of somebody: when they were, and three columns",
    "guesses": WHO_IT_IS,
}
_TIMES: dict[str, Any] = {
    "knows": TIMES_KNOWN,
    "guesses": "that both are one released person",
}


def two_visits(
    members: Visits,
    released: Visits,
    outsiders: Visits | None = None,
    *,
    people: int = 1_000,
    seed: int = 0,
) -> tuple[AttackResult, ...]:
    """Return how often two known rows lead to the release rather than to others.

    Parameters
    ----------
    members, released, outsiders : Visits
        Of the table, of the release, and of people who were not in the table: the control.
    people : int
        How many are tried at most, of either kind.
    seed : int

    Returns
    -------
    tuple of AttackResult
        Whether somebody of the release is nearer to both rows than anybody else of the table; and,
        where there are times, whether one released person has both to the day.

    Examples
    --------
    The release is the table itself:

    >>> rng = np.random.default_rng(1)
    >>> rows = FeatureTable(rng.normal(size=(4, 120)), np.empty((0, 120), dtype=np.int32))
    >>> table = Visits(rows, rng.permutation(999)[:120].astype(float), np.arange(0, 121, 4))
    >>> [result.right.value for result in two_visits(table, table)]
    [1.0, 1.0]
    """
    rng = np.random.default_rng([seed, 20_016])
    targets = [_targets(visits, people, members, released, rng) for visits in (members, outsiders)]
    first, second = targets
    about = [_FOUND, *([_TIMES] if members.times is not None else [])]
    if first is None or first.unit.size < _FEWEST:
        why = f"fewer than {_FEWEST} people have two rows"
        return tuple(not_applicable(NAME, reason=why, **words) for words in about)
    scaled = _Scaled(members, released)
    of_members = _nearer(scaled, first, first.unit)
    of_others = None if second is None else _nearer(scaled, second, None)
    naive = constant(released.n_units / max(1, released.n_units + members.n_units - 1))
    found = [
        _outcome(_FOUND, tally_of_people(of_members), of_others, naive),
    ]
    if members.times is not None:
        found.append(_both_times(members, released, first, second))
    return tuple(found)


class _Targets(NamedTuple):
    """People of whom two rows are known, and which: rows of their table, shape (rounds, m)."""

    visits: Visits
    unit: RowNumbers
    early: RowNumbers
    late: RowNumbers


def _targets(
    visits: Visits | None,
    people: int,
    members: Visits,
    released: Visits,
    rng: np.random.Generator,
) -> _Targets | None:
    if visits is None:
        return None
    sizes = np.diff(visits.starts)
    several = np.flatnonzero(sizes > 1)
    cells = 2 * (_KNOWN + 1) * _ROUNDS * (members.table.n_rows + released.table.n_rows)
    most = max(_FEWEST, min(people, _WORK // max(1, cells)))
    unit = several[drawn(several.size, most, rng)]
    draws = rng.random((2, _ROUNDS, unit.size))
    one = (draws[0] * sizes[unit]).astype(np.int64)
    other = (draws[1] * (sizes[unit] - 1)).astype(np.int64)
    other += other >= one
    start = visits.starts[unit]
    return _Targets(visits, unit, start + np.minimum(one, other), start + np.maximum(one, other))


class _Scaled:
    """Both tables with numbers as places in the order of the members' numbers, from 0 to 1."""

    def __init__(self, members: Visits, released: Visits) -> None:
        self.orders = [_known_sorted(column) for column in _numbers(members)]
        self.n_numbers = members.table.numbers.shape[0]
        self.timed = members.times is not None
        self.members, self.released = members, released
        self.of_members, self.of_released = self.places(members), self.places(released)

    def places(self, visits: Visits) -> Matrix:
        """Return the numbers of rows, and their times last, as places."""
        columns = _numbers(visits)
        found = np.empty((len(columns), visits.table.n_rows))
        for row, column, order in zip(found, columns, self.orders, strict=True):
            low, high = (np.searchsorted(order, column, side) for side in ("left", "right"))
            row[:] = np.where(np.isnan(column), np.nan, 0.5 * (low + high) / max(1, order.size))
        return found


def _numbers(visits: Visits) -> list[Vector]:
    return [*visits.table.numbers, *([] if visits.times is None else [visits.times])]


def _known_sorted(column: Vector) -> Vector:
    return np.sort(column[~np.isnan(column)])


def _nearer(scaled: _Scaled, targets: _Targets, own: RowNumbers | None) -> Vector:
    """Return in which share of the rounds each is nearer to the release than to other members."""
    places = scaled.places(targets.visits)
    p = scaled.n_numbers
    n_columns = p + targets.visits.table.codes.shape[0]
    shares = np.zeros(targets.unit.size)
    for number in range(_ROUNDS):
        # The same columns for everybody, whoever is attacked.
        rng = np.random.default_rng([20_017, number])
        chosen = rng.permutation(n_columns)[:_KNOWN]
        numeric = [*chosen[chosen < p].tolist(), *([p] if scaled.timed else [])]
        known = (np.array(numeric, dtype=int), chosen[chosen >= p] - p)
        for k in range(targets.unit.size):
            rows = targets.early[number, k], targets.late[number, k]
            gaps = [
                sum(_gap(places, targets.visits.table, row, table, part, known) for row in rows)
                for table, part in (
                    (scaled.of_released, scaled.released),
                    (scaled.of_members, scaled.members),
                )
            ]
            if own is not None:
                gaps[1][own[k]] = np.inf
            nearest, other = (float(np.min(gap)) for gap in gaps)
            shares[k] += 0.5 if nearest == other else nearest < other
    return shares / _ROUNDS


def _gap(
    places: Matrix,
    rows: FeatureTable,
    row: int,
    table: Matrix,
    visits: Visits,
    known: tuple[np.ndarray, np.ndarray],
) -> Any:
    """Return how far a known row is from the nearest row of every unit."""
    numeric, codes = known
    gaps = np.zeros(visits.table.n_rows)
    for column in numeric:
        value = places[column, row]
        if np.isnan(value):
            continue  # what is missing is not known
        gaps += np.nan_to_num(np.abs(table[column] - value), nan=1.0)
    for column in codes:
        code = rows.codes[column, row]
        if code >= 0:
            gaps += visits.table.codes[column] != code
    return np.minimum.reduceat(gaps, visits.starts[:-1])


def _both_times(
    members: Visits, released: Visits, first: _Targets, second: _Targets | None
) -> AttackResult:
    """Return how often one released person has both times to the day."""
    there = _by_time(released)
    right = tally_of_trials(_have_both(first, there, None))
    if second is not None:
        control: Tally | NotEstimable = tally_of_trials(_have_both(second, there, None))
        who: ControlIs = "people who were not in the table"
    else:
        control = tally_of_trials(_have_both(first, _by_time(members), first.unit))
        who = "the original without the person"
    return outcome(
        NAME, right=right, control=control, naive=constant(0.0), control_is=who, **_TIMES
    )


def _by_time(visits: Visits) -> dict[float, set[int]]:
    assert visits.times is not None
    found: dict[float, set[int]] = {}
    for time, unit in zip(visits.times.tolist(), visits.unit.tolist(), strict=True):
        found.setdefault(time, set()).add(unit)
    return found


def _have_both(
    targets: _Targets, there: dict[float, set[int]], own: RowNumbers | None
) -> np.ndarray:
    times = targets.visits.times
    assert times is not None
    found = np.zeros(targets.unit.size, dtype=bool)
    for k in range(targets.unit.size):
        one, other = (there.get(float(times[at[0, k]]), set()) for at in targets[2:])
        both = one & other
        found[k] = bool(both - {int(own[k])} if own is not None else both)
    return found


def _outcome(
    words: dict[str, Any], right: Tally | NotEstimable, others: Vector | None, naive: Tally
) -> AttackResult:
    control = NO_OUTSIDERS if others is None else tally_of_people(others)
    who: ControlIs = "nobody" if others is None else "people who were not in the table"
    return outcome(NAME, right=right, control=control, naive=naive, control_is=who, **words)
