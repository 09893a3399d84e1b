"""Attribute inference: some columns of a person are known, another one is guessed.

The guess is the cell of the released row that is nearest in the known columns. It is right when the
level is the same, or when the number differs by at most a tenth of a robust standard deviation or
of the way from the median.

References
----------
Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023), A unified framework for quantifying
privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from icsa.attacks.gower import nearest_in_columns, nearest_without_each, ranges_of
from icsa.attacks.protocol import AttackResult, Targets
from icsa.attacks.tallies import not_applicable, outcome, tally_of_people
from icsa.attacks.whom import Whom, places_of, whom
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import FeatureTable
from icsa.matrices import Vector
from icsa.privacy.lenses import robust_units

__all__ = ["Tolerances", "infer", "mean_of_defined"]

_TOLERANCE = 0.1
# The columns are dealt into so many groups; who knows one of them guesses all others.
_GROUPS = 3
_Places = npt.NDArray[np.intp]


class Tolerances:
    """By how much a guess may be off: a tenth of a column's scale, or of the way from its median.

    Examples
    --------
    >>> people = FeatureTable(np.array([[0.0, 1.0, 2.0, 30.0]]), np.empty((0, 4), dtype=np.int32))
    >>> Tolerances(people).right(people, people.rows(np.array([1, 1, 2, 2])), 0)
    array([0., 1., 1., 0.])
    """

    def __init__(self, original: FeatureTable) -> None:
        self.centres, self.scales = robust_units(original.numbers)

    def right(self, people: FeatureTable, guesses: FeatureTable, column: int) -> Vector:
        """Return for each person whether the guess of a column is right; NaN where it is missing.

        Parameters
        ----------
        people, guesses : FeatureTable
            The truth, and as many rows that are guessed.
        column : int
            Its place, numeric ones first.
        """
        p = people.numbers.shape[0]
        if column >= p:
            truth = people.codes[column - p]
            return np.where(truth >= 0, truth == guesses.codes[column - p], np.nan)
        number = people.numbers[column]
        away = np.abs(number - self.centres[column])
        scale = self.scales[column] if np.isfinite(self.scales[column]) else 0.0
        allowed = _TOLERANCE * np.maximum(away, scale)
        hit = np.abs(guesses.numbers[column] - number) <= allowed
        return np.where(np.isnan(number), np.nan, hit)


def infer(targets: Targets, *, people: int, rng: np.random.Generator) -> tuple[AttackResult, ...]:
    """Return how often columns are guessed from others.

    Parameters
    ----------
    targets : Targets
        With `secret` and `knows`: one record a secret column. Without: columns that are drawn at
        random are known and all others guessed; and everything is known but one cell.
    people : int
        How many are tried at most, of either kind.
    rng : numpy Generator

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(50, 3))
    >>> targets = Targets(features=as_features(x, x[::-1], names=["a", "b", "c"]), secret=("b",))
    >>> found, = infer(targets, people=50, rng=np.random.default_rng(2))
    >>> found.knows, found.guesses, found.right.value
    ('a, c', 'b', 1.0)
    """
    features = targets.features
    if features.n_columns < 2:
        about: dict[str, Any] = {"knows": "some columns", "guesses": "another one"}
        return (not_applicable("inference", reason="two columns or more are needed", **about),)
    seen = whom(targets, people, rng)
    random_rows = rng.integers(features.released.n_rows, size=seen.rows.size)
    naive = seen.released.rows(random_rows)
    limits = Tolerances(features.original)
    records = []
    for knows, guesses, plan in _plans(targets, rng):
        control = (
            _shares(seen.members, seen.original, plan, limits, seen.rows)
            if seen.outsiders is None
            else _shares(seen.outsiders, seen.released, plan, limits, None)
        )
        records.append(
            outcome(
                "inference",
                knows=knows,
                guesses=guesses,
                right=tally_of_people(_shares(seen.members, seen.released, plan, limits, None)),
                control=tally_of_people(control),
                naive=tally_of_people(_naive(seen, naive, plan, limits)),
                control_is=seen.control_is,
            )
        )
    return tuple(records)


class _Plan:
    """Which columns are guessed from which: pairs of known ones and secrets; None: all others."""

    def __init__(self, pairs: list[tuple[_Places | None, _Places]]) -> None:
        self.pairs = pairs

    def guesses(
        self, people: FeatureTable, table: FeatureTable, own: RowNumbers | None
    ) -> Iterator[tuple[int, RowNumbers]]:
        """Yield each secret column with the rows of the table that are guessed for it."""
        ranges = ranges_of(table)
        for known, secrets in self.pairs:
            if known is None:
                rows = nearest_without_each(people, table, ranges=ranges, own=own)
                yield from ((int(column), rows[:, column]) for column in secrets)
            else:
                found = nearest_in_columns(people, table, known, ranges=ranges, own=own)
                yield from ((int(column), found) for column in secrets)


def _plans(targets: Targets, rng: np.random.Generator) -> Iterator[tuple[str, str, _Plan]]:
    """Yield what is known and guessed, in words, and which columns that are."""
    features = targets.features
    every = np.arange(features.n_columns)
    known = places_of(features, targets.knows)
    if targets.knows or targets.secret:
        secrets = places_of(features, targets.secret) if targets.secret else every
        for column in secrets[~np.isin(secrets, known)].tolist():
            used = known if known.size else np.setdiff1d(every, [column])
            knows = ", ".join(features.names[place] for place in used)
            yield knows, features.names[column], _Plan([(used, np.array([column]))])
        return
    groups = min(_GROUPS, every.size)
    dealt = [np.sort(part) for part in np.array_split(rng.permutation(every), groups)]
    if groups > 2:
        plan = _Plan([(part, np.setdiff1d(every, part)) for part in dealt])
        yield "a third of the columns", "each other cell", plan
    yield "everything but one cell", "this cell", _Plan([(None, every)])


def _shares(
    people: FeatureTable,
    table: FeatureTable,
    plan: _Plan,
    limits: Tolerances,
    own: RowNumbers | None,
) -> Vector:
    """Return for each person the share of cells guessed right."""
    right = [
        limits.right(people, table.rows(rows), column)
        for column, rows in plan.guesses(people, table, own)
    ]
    return mean_of_defined(np.array(right))


def _naive(seen: Whom, guesses: FeatureTable, plan: _Plan, limits: Tolerances) -> Vector:
    """Return the share of cells that a released row drawn at random gives right."""
    columns = [int(column) for _, secrets in plan.pairs for column in secrets]
    right = [limits.right(seen.members, guesses, column) for column in columns]
    return mean_of_defined(np.array(right))


def mean_of_defined(right: np.ndarray) -> Vector:
    """Return the mean of each column, NaN left out; NaN where nothing is defined.

    Examples
    --------
    >>> mean_of_defined(np.array([[1.0, np.nan], [0.0, np.nan]]))
    array([0.5, nan])
    """
    counts = np.sum(~np.isnan(right), axis=0)
    return np.where(counts > 0, np.nansum(right, axis=0) / np.maximum(counts, 1), np.nan)
